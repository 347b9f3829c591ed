"""Laws of the task logic over generated nets, in the paper's letters.

The equivalences of section 5.2 are laws of the definition; that the engines obey the definition is tested
elsewhere. The compositional property of section 4 is a law of the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from possibly.detection.limits import Budget
from possibly.detection.tasks.check import check_tasks
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.formulas import task_text
from possibly.logic.tasks.parser import parse_tasks
from possibly.logic.tasks.tree import formula_tree, negated
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.detection.tasks.reference import F, Tasks, known_names, random_lsl, random_net, random_tl
from tests.sampling import sampled


def n(p: F) -> F:
    return F("not", (p,))


EQUIVALENCES: dict[str, Callable[[F, F], tuple[F, F]]] = {
    "not (p and q) = not p or not q": lambda p, q: (n(F("and", (p, q))), F("or", (n(p), n(q)))),
    "not (p or q) = not p and not q": lambda p, q: (n(F("or", (p, q))), F("and", (n(p), n(q)))),
    "p implies q = not p or q": lambda p, q: (F("implies", (p, q)), F("or", (n(p), q))),
    "not next p = all_next not p": lambda p, q: (n(F("next", (p,))), F("all_next", (n(p),))),
    "not sometime p = always not p": lambda p, q: (n(F("sometime", (p,))), F("always", (n(p),))),
    "not always p = sometime not p": lambda p, q: (n(F("always", (p,))), F("sometime", (n(p),))),
    "not (p until q) = not p before q": lambda p, q: (n(F("until", (p, q))), F("before", (n(p), q))),
    "not (p before q) = not p until q": lambda p, q: (n(F("before", (p, q))), F("until", (n(p), q))),
    "not not p = p": lambda p, q: (n(n(p)), p),
    "not forall t p = exists t not p": lambda p, q: (
        n(F("forall", (p,), ("t1",))),
        F("exists", (n(p),), ("t1",)),
    ),
    "not (p if c) = (not p) if c": lambda p, q: (
        n(F("if", (p,), ("t1", "!=", "t2"))),
        F("if", (n(p),), ("t1", "!=", "t2")),
    ),
}


@pytest.mark.parametrize("law", EQUIVALENCES)
def test_equivalences_of_section_5_2(law: str) -> None:
    for seed in range(sampled(25)):
        random = Random(seed)
        run = random_net(random, 6)
        tasks = Tasks(run)
        p, q = (random_tl(random, known_names(run), 2) for _ in range(2))
        left, right = EQUIVALENCES[law](p, q)
        for t1, t2 in product(tasks.names, repeat=2):
            T = {"t1": t1, "t2": t2}
            assert [tasks.value(cut, T, left) for cut in tasks.cuts] == [
                tasks.value(cut, T, right) for cut in tasks.cuts
            ], (law, left.text)


def test_a_local_negation_goes_inside() -> None:
    for seed in range(sampled(100)):
        random = Random(seed)
        run = random_net(random, 6)
        tasks = Tasks(run)
        lsf = random_lsl(random, known_names(run), 2)
        left, right = n(F("says", (lsf,), ("t",))), F("says", (n(lsf),), ("t",))
        for name, cut in product(tasks.names, tasks.cuts):
            assert tasks.value(cut, {"t": name}, left) == tasks.value(cut, {"t": name}, right)


def test_the_tree_of_figure_8() -> None:
    formula = parse_tasks("t1:(term.append) implies ( t2:(b.data[1]==21) until t3:(start.remove) )")
    root = negated(formula)
    assert task_text(root) == "t1:(term.append) and t2:(not (b.data[1] == 21)) before t3:(start.remove)"
    tree = formula_tree(root)
    assert [node.text for node in tree.successors] == [
        "s-node(t1:(term.append))",
        "s-node(t2:(not (b.data[1] == 21)) before t3:(start.remove))",
    ]
    assert [node.text for node in tree.successors[1].successors] == [
        "s-node(t2:(not (b.data[1] == 21)))",
        "s-node(t3:(start.remove))",
    ]


def test_undefined_nodes_serve_all_next_alone() -> None:
    tree = formula_tree(negated(parse_tasks("next (t1:(x) and t2:(y))")))
    assert [node.text for node in tree.successors] == [
        "s-node(t1:(not (x)) or t2:(not (y)))",
        "u-node(t1:(not (x)) or t2:(not (y)))",
    ]
    below = [node.text for node in tree.successors[1].successors]
    assert below == ["u-node(t1:(not (x)))", "u-node(t2:(not (y)))", "s-node(t1:(x))"]


# ---- the compositional property -------------------------------------------------------------------


def holds(run: Trace, text: str) -> bool | None:
    net = Net(run)
    formula = bind_tasks(parse_tasks(text), vocabulary(run)).formula
    return check_tasks(net, Lattice(net.computation), formula, Budget()).value


def composed(one: Trace, two: Trace, random: Random) -> Trace:
    """Both runs at once, with disjoint tasks, functions and variables."""
    builder = TraceBuilder()
    parts = ((one, ""), (two, "z"))
    processes = [(mark + p.name, {mark + k: v for k, v in p.init.items()}, p.declared) for run, mark in parts
                 for p in run.processes]  # fmt: skip
    shared = {mark + name: value for run, mark in parts for name, value in run.shared.items()}
    builder.header([(name, init) for name, init, declared in processes if declared], shared)
    waiting = [(run, mark, list(range(len(run)))) for run, mark in parts]
    while any(events for _, _, events in waiting):
        run, mark, events = random.choice([part for part in waiting if part[2]])
        _copy(builder, run, mark, events.pop(0))
    return builder.finish()


def _copy(builder: TraceBuilder, run: Trace, mark: str, number: int) -> None:
    event = run.event(number)

    def named(word: str | None) -> str | None:
        return None if word is None else mark + word

    process = run.processes[run.process[number]]
    builder.add(
        mark + event.process,
        id=mark + event.name,
        kind=event.kind,
        set={mark + name: value for name, value in event.set.items()} or None,
        write={mark + name: value for name, value in event.write.items()} or None,
        msg=named(event.msg),
        after=[mark + name for name in event.after],
        meet=named(event.meet),
        fn=named(event.fn),
        parent=named(process.parent) if event.position == 1 else None,
    )


def test_what_a_module_satisfies_it_satisfies_in_a_larger_net() -> None:
    """No temporal operators, own locals alone, `if` with == only, no `exists` below anything universal."""
    satisfied = violated = 0
    wrapped = 0
    for seed in range(sampled(600)):
        random = Random(seed)
        one, two = random_net(random, random.randint(1, 6)), random_net(random, random.randint(1, 5))
        own = [name for name in known_names(one) if name in ("x", "f.x")]
        if not own:
            continue
        formula = random_tl(random, own, 2, ("not", "and", "or", "implies"))
        if "in." in formula.text or "start." in formula.text or "term." in formula.text:
            continue
        text, has_exists = in_the_fragment(random, formula.text)
        small, large = holds(one, text), holds(composed(one, two, random), text)
        assert large or not small, text
        assert has_exists or large == small, "nor does a larger net repair what is violated"
        satisfied, violated = satisfied + bool(small), violated + (not small)
        wrapped += text != formula.text
    assert satisfied > 10 and violated > 10 and wrapped > 20


def in_the_fragment(random: Random, text: str) -> tuple[str, bool]:
    """The formula with `if` and quantifiers around it that the compositional property allows."""
    variables = sorted({word for word in ("t1", "t2", "t3") if f"{word}:" in text})
    if len(variables) > 1 and random.random() < 0.4:
        text = f"({text}) if {variables[0]} == {variables[1]}"
    if random.random() < 0.4:
        return text, False
    # From the inside: some variables universally, then all others existentially, so that none is left free.
    random.shuffle(variables)
    universal = random.randint(0, len(variables))
    for word in variables[:universal]:
        text = f"forall {word} ({text})"
    if random.random() < 0.5:
        return text, False
    for word in variables[universal:]:
        text = f"exists {word} ({text})"
    return text, universal < len(variables)


@pytest.mark.parametrize(
    ("text", "small", "large"),
    [
        ("t:(x == 5) if t != w", "P(x=0): a", "P(x=0): a | Q: b"),
        ("forall t (exists w (t:(x == 0) and w:(x == 0)))", "P(x=0): a", "P(x=0): a | Q: b"),
        ("exists w (t:(x == 0) and w:(x == 0))", "P(x=0): a", "P(x=0): a | Q: b"),
    ],
)
def test_the_compositional_property_ends_with_other_tasks(text: str, small: str, large: str) -> None:
    """Two different tasks come only with the larger net, and there an `exists` may have nobody to show."""
    assert holds(trace(small), text) is True
    assert holds(trace(large), text) is False


def test_the_compositional_property_ends_where_callers_are_asked_for() -> None:
    text = "w:(x == 5) if t == caller(u)"
    builder = TraceBuilder()
    builder.header([("P", {"x": 0}), ("Q", {})])
    builder.add("Q", id="q", kind="spawn")
    builder.add("R", kind="start", after=["q"])
    assert holds(trace("P(x=0): a"), text) is True
    assert holds(builder.finish(), text) is False


def test_the_compositional_property_ends_where_time_begins() -> None:
    """A step of another module makes a strictly later slice in which nothing of this one has changed."""
    formula = "t:(x == 1) implies not sometime t:(x == 1)"
    assert holds(trace("P(x=0): a{x=1}"), formula) is True
    assert holds(trace("P(x=0): a{x=1} | Q: b"), formula) is False


def test_the_compositional_property_ends_where_functions_are_asked_for() -> None:
    """A task of another module is in no function of this one: unsatisfied, not undefined."""
    builder = TraceBuilder()
    builder.add("P", kind="enter", fn="f")
    assert holds(builder.finish(), "t:(in.f)") is True
    assert holds(trace("P: enter(f) | Q: b"), "t:(in.f)") is False
