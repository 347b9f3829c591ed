"""Events in turns of one event loop: ordered as they were, unless a call lasts beyond its turn."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.occurrences import occurrences
from possibly.detection.paths.turns import with_turns
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.source import Source
from possibly.logic.specification import Specification, property_from_text
from possibly.order.computation import Computation
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.turns import Turns
from possibly.verdict.model import Truth
from tests.detection.paths.test_online import Followed, named
from tests.sampling import sampled

EXPRESSIONS = (
    "f & g",
    "f; g",
    "f + g; f",
    "f.enter & g",
    "f.enter; g; f.exit",
    "partial(f, g)",
    "f & g & f^",
)


def run_of(turns: list[tuple[str, str, str]]) -> Trace:
    """Turns as (task, loop, what it does): `f` enters f, `F` leaves it; a task without a loop is a thread."""
    builder = TraceBuilder()
    builder.header(processes=[(name, {}) for name in sorted({name for name, _, _ in turns})])
    for name, loop, acts in turns:
        if loop:
            builder.add_fields({"p": name, "kind": "turn", "tag": loop})
        for act in acts:
            kind = "enter" if act.islower() else "exit"
            builder.add_fields({"p": name, "kind": kind, "fn": act.lower()})
    return builder.finish()


def random_run(random: Random) -> Trace:
    loops = {"A": "L", "B": "L", "C": random.choice("LM"), "T": ""}
    inside = dict.fromkeys(loops, "")
    turns = []
    for _ in range(random.randint(3, 8)):
        name, acts = random.choice(sorted(loops)), ""
        for _ in range(random.randint(1, 3)):
            leaves = bool(inside[name]) and random.random() < 0.7
            act = inside[name].upper() if leaves else "" if inside[name] else random.choice("fg")
            inside[name] = "" if leaves else act or inside[name]
            acts += act
        turns.append((name, loops[name], acts))
    return run_of(turns)


def pairs_by_definition(run: Trace, calls: set[str]) -> list[tuple[int, int]]:
    """Every turn that is over, with every later turn of the loop."""
    known = Turns(run)
    turns = list({id(turn): turn for e in range(len(run)) if (turn := known.of(e)) is not None}.values())
    pairs = []
    for turn in turns:
        events = run.events_of[turn.process][: turn.last]
        named_kinds = [(run.strings[run.kind[e]], run.text(run.function, e)) for e in events]
        lasting = sum((kind == "enter") - (kind == "exit") for kind, name in named_kinds if name in calls)
        for later in turns if not lasting else ():
            begin = run.events_of[later.process][later.first - 1]
            if later.loop == turn.loop and later.process != turn.process and begin > events[-1]:
                pairs.append((events[-1], begin))
    return pairs


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("seed", range(sampled(40)))
def test_turns_order_what_is_over_and_nothing_else(seed: int, text: str) -> None:
    run = random_run(Random(f"turns {seed}"))
    found = parse_path(Source(text))
    tree = compiled(found)
    moments = {"f"} if "." in text else set()
    defined = Computation(run, "causal", pairs_by_definition(run, {"f", "g"} - moments))
    expected = named(run, list(occurrences(Meaning(tree, defined), Machine(tree))))
    ordered = with_turns(Computation(run), tree)
    assert named(run, list(occurrences(Meaning(tree, ordered), Machine(tree)))) == expected
    assert Followed(run, "never", found).occurrences == expected


def truth(run: Trace, text: str) -> Truth:
    specification = Specification(properties=(property_from_text("never", text, "it"),))
    return check_trace(run, specification, Options()).verdicts[0].truth


def test_calls_within_their_turns_are_never_beside_each_other() -> None:
    run = run_of([("A", "L", "fF"), ("B", "L", "gG")])
    assert truth(run, "f & g") is Truth.HOLDS
    assert truth(run, "f; g") is Truth.VIOLATED


def test_a_call_that_waits_is_beside_what_comes_meanwhile() -> None:
    run = run_of([("A", "L", "f"), ("B", "L", "gG"), ("A", "L", "F"), ("B", "L", "gG")])
    assert truth(run, "f & g") is Truth.VIOLATED
    assert truth(run, "f.enter; g.enter; f.exit") is Truth.VIOLATED


def test_tasks_of_two_loops_and_threads_are_beside_each_other() -> None:
    assert truth(run_of([("A", "L", "fF"), ("B", "M", "gG")]), "f & g") is Truth.VIOLATED
    assert truth(run_of([("A", "L", "fF"), ("T", "", "gG")]), "f & g") is Truth.VIOLATED
