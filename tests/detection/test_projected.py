"""The projection law against the definition, and every engine that is asked about the projection."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from possibly.detection.branching import decide
from possibly.detection.choose import ENGINES, Asked, Question, answer, few_cuts
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.explicit.linear import Linear
from possibly.detection.finding import Finding
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.projected import lifted, projection_for, told
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.specification import read_specification
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.projection import Projection, may_be_projected
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.detection.test_definition import Case, _check_witness
from tests.generate import Formula, random_formula
from tests.sampling import sampled

WITHOUT_NEXT = ["EF", "AF", "EG", "AG", "EU", "AU"]
LINEAR_WITHOUT_NEXT = ["F", "G", "O", "H", "U", "R", "W", "S"]


def projected(case: Case) -> Projection:
    return Projection(case.predicates, case.node)


@pytest.mark.parametrize("batch", range(4))
def test_a_formula_without_next_has_the_same_answer_on_the_projection(batch: int) -> None:
    smaller = 0
    for seed in range(batch * 1_000_000, batch * 1_000_000 + sampled(60)):
        case = Case(seed, WITHOUT_NEXT, "ctl", depth=3, events=8)
        projection = projected(case)
        engine = Exhaustive(projection.lattice, projection.predicates, Budget())
        expected = case.reference.satisfies(frozenset(), case.formula)
        assert engine.at(case.node, projection.lattice.initial) == expected, case.describe()
        smaller += projection.events < len(case.trace)
    assert smaller


@pytest.mark.parametrize("batch", range(4))
def test_the_same_in_linear_time(batch: int) -> None:
    broken = 0
    for seed in range(batch * 1_000_000, batch * 1_000_000 + sampled(40)):
        case = Case(seed, LINEAR_WITHOUT_NEXT, "ltl", depth=3, events=7)
        paths = list(case.reference.paths(frozenset()))
        if len(paths) > 200:
            continue
        projection = projected(case)
        question = Question(case.node, Slicing(projection.lattice, projection.predicates), Budget())
        found = next(row for row in ENGINES if row.name == "linear").run(question)
        expected = all(case.reference.on_path(path, case.formula) for path in paths)
        assert found is not None and found.value == expected, case.describe()
        if found.path is not None:
            whole = lifted(projection, found)
            assert whole.path is not None
            observation = tuple(case.cuts(whole.path))
            assert observation[-1] == frozenset(range(len(case.trace)))
            assert not case.reference.on_path(observation, case.formula), case.describe()
            _check_moment(case, whole)
            broken += 1
    assert broken


def _check_moment(case: Case, found: Finding) -> None:
    """After that many steps of the whole path nothing can save the formula."""
    assert found.path is not None
    if found.moment is not None:
        exact = Linear(case.lattice, case.predicates, case.node, Budget()).moment(found.path)
        assert exact is not None and exact <= found.moment, case.describe()


@pytest.mark.parametrize("operator", WITHOUT_NEXT)
def test_a_path_of_the_projection_shows_the_same_in_the_run(operator: str) -> None:
    shown = 0
    for seed in range(sampled(160)):
        random = Random(f"{operator} {seed}")
        case = Case(random.randrange(10**9), WITHOUT_NEXT, "ctl", depth=1, events=8)
        count = 2 if operator in ("EU", "AU") else 1
        inner = [random_formula(random, case.trace, WITHOUT_NEXT, random.randint(0, 1)) for _ in range(count)]
        case.formula = Formula(operator, tuple(inner))
        case.node = bind(parse(case.formula.text, "ctl"), vocabulary(case.trace)).formula
        projection = projected(case)
        engine = Exhaustive(projection.lattice, projection.predicates, Budget())
        found = lifted(projection, decide(engine, case.node))
        assert (found.path is not None) == (found.value == (operator[0] == "E")), case.describe()
        if found.path is not None:
            _check(case, found)
            shown += 1
    assert shown > 20


def _check(case: Case, found: Finding) -> None:
    """As the contract has it; the path need not be a shortest one."""
    assert found.path is not None
    cuts = case.cuts(found.path)
    truths = [case.reference.satisfies(cut, case.formula.operands[0]) for cut in cuts]
    if case.formula.operator in ("EF", "AG"):
        assert truths[-1] == found.value, case.describe()
    else:
        _check_witness(case, cuts, case.formula, found.value)


ROWS = [row for row in ENGINES if row.on_projection]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.language}-{row.name}")
def test_engines_answer_on_the_projection_as_the_plain_one_does_on_the_run(row) -> None:  # type: ignore[no-untyped-def]
    operators = ["EF", "AG", "AF", "EG", *WITHOUT_NEXT] if row.language == "ctl" else LINEAR_WITHOUT_NEXT
    answered = 0
    for seed in range(sampled(140)):
        case = Case(seed, operators, row.language, depth=1 + seed % 2, events=8)
        projection = projected(case)
        if not projection.processes:
            continue
        question = Question(case.node, Slicing(projection.lattice, projection.predicates), Budget())
        found = row.run(question)
        if found is None:
            continue
        budget = Budget()
        plain = answer(row.language, case.node, case.lattice, case.predicates, budget, _PLAIN[row.language])
        assert plain.finding is not None
        assert found.value == plain.finding.value, case.describe()
        found = lifted(projection, found)
        if found.path is not None:
            case.cuts(found.path)
        answered += 1
    assert answered > 5


_PLAIN = {"ctl": "exhaustive", "ltl": "linear"}


def test_next_counts_steps_and_is_not_projected() -> None:
    run = trace("P(x=0): a b{x=1} | Q: c")
    lattice = Lattice(Computation(run))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    node = bind(parse("EX(P.x == 1)", "ctl"), vocabulary(run)).formula
    assert not may_be_projected(node)
    assert projection_for(predicates, node, lambda: None) is None
    # With it the law would be wrong: on the projection the next step is the one that sets x.
    projection = Projection(predicates, node)
    assert Exhaustive(projection.lattice, projection.predicates, Budget()).at(node, 0)
    assert not Exhaustive(lattice, predicates, Budget()).at(node, 0)


def test_a_part_on_one_process_is_evaluated_where_it_turns() -> None:
    """y was set by an event that turned nothing, and is read at the one that does."""
    run = trace("P(x=0, y=0): a{y=2} b{x=1} c{y=3} d{x=0} | Q(z=0): e{z=1}")
    lattice = Lattice(Computation(run))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    node = bind(parse("EF(P.x + P.y >= 3 & Q.z == 1)", "ctl"), vocabulary(run)).formula
    projection = Projection(predicates, node)
    assert [list(positions) for positions in projection.positions] == [[2], [1]]
    assert decide(Exhaustive(projection.lattice, projection.predicates, Budget()), node).value


def test_faults_are_told_of_the_run() -> None:
    run = trace("P(x=0): a{x=1} | Q(y=0): b{y=2}")
    lattice = Lattice(Computation(run))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    node = bind(parse("EF(P.x / Q.y > 0)", "ctl"), vocabulary(run)).formula
    projection = Projection(predicates, node)
    assert decide(Exhaustive(projection.lattice, projection.predicates, Budget()), node).value
    assert predicates.faults == ("P.x / Q.y > 0: division by zero",)


@cache
def client_server(rounds: int, clients: int = 3) -> Trace:
    """Each client asks in turn, and keeps its place until it gives it back; nobody waits for its turn."""
    builder = TraceBuilder()
    inits = [(f"C{i}", {"try": False, "cs": False}) for i in range(clients)]
    builder.header(processes=[("S", {"free": True}), *inits], shared={})
    for number in range(rounds * clients):
        client = f"C{number % clients}"
        builder.add(client, kind="send", msg=f"a{number}", to="S", set={"try": True})
        builder.add("S", kind="receive", msg=f"a{number}")
        builder.add("S", kind="send", msg=f"g{number}", to=client, set={"free": False})
        builder.add(client, kind="receive", msg=f"g{number}", set={"cs": True, "try": False})
        builder.add(client, kind="send", msg=f"r{number}", to="S", set={"cs": False})
        builder.add("S", kind="receive", msg=f"r{number}", set={"free": True})
    return builder.finish()


@pytest.mark.parametrize(
    ("language", "formula", "holds"),
    [
        ("ctl", "AG(C1.try -> A[C1.try U C1.cs])", True),
        ("ctl", "AG(C1.cs -> AF(C1.try))", False),
        ("ctl", "A[!C1.cs U C2.try & C1.try]", False),
        ("ctl", "E[!C1.cs | C2.try U C2.cs & S.free]", False),
        ("ltl", "G(C1.try -> (C1.try U C1.cs))", True),
        ("ltl", "G(C1.try -> (!C1.cs S C1.cs))", False),
        ("ltl", "G(C1.cs -> O C1.try)", True),
    ],
)
def test_until_on_a_long_run(language: str, formula: str, holds: bool) -> None:
    run = client_server(350)
    report = check_trace(run, read_specification(f"{language} it = {formula}"), Options(max_cuts=200_000))
    verdict = report.verdicts[0]
    assert verdict.holds is holds, verdict.reason
    if verdict.witness is not None:
        names = verdict.witness.path
        assert len(set(names)) == len(names)


def test_the_notes_count_cuts_before_and_after() -> None:
    report = check_trace(
        client_server(350), read_specification("ctl it = AG(C1.try -> A[C1.try U C1.cs])"), Options()
    )
    expected = (
        "projection: 1,050 of 6,300 events, on 1 of 4 processes, change what the formula reads; "
        "at most 1,051 cuts instead of 10^12"
    )
    assert expected in report.verdicts[0].notes


def test_an_engine_by_name_is_asked_about_the_whole_run() -> None:
    run = client_server(350)
    report = check_trace(
        run,
        read_specification("ctl it = AG(C1.cs -> AF(C1.try))"),
        Options(engine="exhaustive", max_cuts=100),
    )
    assert report.verdicts[0].holds is None


def test_few_cuts_are_visited_as_they_are() -> None:
    case = Case(5, WITHOUT_NEXT, "ctl", depth=2)
    assert few_cuts(case.lattice)
    question = Question(case.node, Slicing(case.lattice, case.predicates), Budget())
    asked = Asked(question, may_project=True)
    assert asked.to(True, Budget()).lattice is case.lattice and asked.told(True) == ()


def test_making_a_projection_keeps_the_limits() -> None:
    run = client_server(350)
    lattice = Lattice(Computation(run))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    node = bind(parse("AF(C1.try & C2.try)", "ctl"), vocabulary(run)).formula

    def stop() -> None:
        raise LimitReachedError("enough")

    with pytest.raises(LimitReachedError):
        projection_for(predicates, node, stop)


def test_numbers_of_cuts_are_told_in_words() -> None:
    case = Case(3, WITHOUT_NEXT, "ctl", depth=1, events=8)
    assert told(projected(case)).startswith("projection: ")


def lists_run(random: Random) -> Trace:
    """Processes with lists of which entries change one at a time, now and then too short a list."""
    builder = TraceBuilder()
    names = ["P", "Q", "R"]
    entries = {name: [0, 0, 0] for name in names}
    builder.header([(name, {"d": [0, 0, 0], "n": 0}) for name in names])
    for number in range(9):
        name = random.choice(names)
        entries[name] = list(entries[name])
        entries[name][random.randrange(3)] += 1
        value = entries[name] if random.random() < 0.9 else [1]
        after = [f"e{random.randrange(number)}"] if number and random.random() < 0.3 else []
        builder.add(name, id=f"e{number}", set={"d": value, "n": random.randint(0, 2)}, after=after)
    return builder.finish()


@pytest.mark.parametrize("formula", [
    "AG(P.d[1] + Q.d[1] <= R.n)", "EF(P.d[2] == Q.d[0] & R.n > 0)", "EG(len(P.d) >= Q.d[2])",
    "A[P.d[0] <= Q.n + 1 U R.d[1] > P.n]", "AF(max(P.d) - Q.d[1] % 2 > R.n)",
])  # fmt: skip
def test_an_entry_matters_where_it_changes(formula: str) -> None:
    contracted = 0
    for seed in range(sampled(25)):
        run = lists_run(Random(f"{formula} {seed}"))
        lattice = Lattice(Computation(run))
        predicates = CutPredicates(lattice, Readings(lattice.computation), {})
        node = bind(parse(formula, "ctl"), vocabulary(run)).formula
        projection = Projection(predicates, node)
        found = Exhaustive(projection.lattice, projection.predicates, Budget()).at(node, 0)
        assert found == Exhaustive(lattice, predicates, Budget()).at(node, 0), seed
        contracted += projection.events < len(run) - 2
    assert contracted


def test_many_parts_are_asked_each_by_itself() -> None:
    builder = TraceBuilder()
    names = [f"U{number}" for number in range(20)]
    builder.header([("S", {"done": [0] * 20}), *((name, {"n": 0, "ok": False}) for name in names)])
    done = [0] * 20
    for number, name in enumerate(names):
        builder.add(name, kind="send", msg=name, to="S", set={"n": 1})
        done = [*done[:number], 1, *done[number + 1 :]]
        builder.add("S", kind="receive", msg=name)
        builder.add("S", kind="send", msg=f"{name} back", to=name, set={"done": done})
        builder.add(name, kind="receive", msg=f"{name} back", set={"ok": True})
    run = builder.finish()
    right = 'ctl it = forall i in "U*": AG(i.ok -> S.done[index(i)] * 3 == i.n * 3)'
    wrong = right.replace("== i.n", "== (index(i) - 19) * i.n")
    found = check_trace(run, read_specification(right), Options()).verdicts[0]
    assert found.holds and any("each of 20 parts was asked by itself" in note for note in found.notes)
    found = check_trace(run, read_specification(wrong), Options()).verdicts[0]
    assert found.holds is False and found.witness is not None
