"""States that whole turns of tasks lead to, against every order in which no turn is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.turns import Turns
from possibly.verdict.model import Truth, Verdict
from tests.sampling import sampled

CASES = sampled(250)


def checked(trace: Trace, formula: str, language: str = "ctl") -> Verdict:
    specification = Specification(properties=(property_from_text(language, formula, "it"),))
    return check_trace(trace, specification, Options()).verdicts[0]


def random_tasks(random: Random) -> Trace:
    """Two tasks of one loop and perhaps one of another, and a thread; each counts in turns of its own."""
    builder = TraceBuilder()
    loops = {"A": "L", "B": "L", "C": random.choice("LM"), "T": ""}
    names = random.sample(sorted(loops), random.randint(2, 4))
    builder.header(processes=[(name, {"x": 0}) for name in names])
    done: list[str] = []
    counts = dict.fromkeys(names, 0)
    for _ in range(random.randint(2, 4)):
        name = random.choice(names)
        lines: list[dict[str, object]] = [{"kind": "turn", "tag": loops[name]}] if loops[name] else []
        lines += [{"set": {"x": value + 1}} for value in range(random.randint(1, 2))]
        for number, line in enumerate(lines):
            after = [random.choice(done)] if done and not number and random.random() < 0.3 else []
            after = [each for each in after if not each.startswith(name)]
            builder.add_fields({"p": name, **line, **({"after": after} if after else {})})
            counts[name] += 1
        done.append(f"{name}:{counts[name]}")
    return builder.finish()


def states(trace: Trace) -> set[tuple[int, ...]]:
    """The values of x, by definition: an order is made event by event and interrupts no turn."""
    turns = Turns(trace)
    found: set[tuple[int, ...]] = set()
    stack, known = [(0,) * len(trace.processes)], {(0,) * len(trace.processes)}
    while stack:
        cut = stack.pop()
        found.add(tuple(_x(trace, process, count) for process, count in enumerate(cut)))
        for after in _following(trace, turns, cut):
            if after not in known:
                known.add(after)
                stack.append(after)
    return found


def _x(trace: Trace, process: int, count: int) -> int:
    values = [trace.event(event).set.get("x") for event in trace.events_of[process][:count]]
    return next((value for value in reversed(values) if value is not None), 0)


def _following(trace: Trace, turns: Turns, cut: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    inside = [trace.events_of[process][count - 1] for process, count in enumerate(cut) if count]
    open_turns = [t for e in inside if (t := turns.of(e)) and trace.position[e] < t.last]
    for process, count in enumerate(cut):
        if count == len(trace.events_of[process]):
            continue
        event = trace.events_of[process][count]
        turn = turns.of(event)
        is_apart = turn is None or all(t.loop != turn.loop or t.process == process for t in open_turns)
        if is_apart and all(trace.position[e] <= cut[trace.process[e]] for e in trace.after(event)):
            yield (*cut[:process], count + 1, *cut[process + 1 :])


@pytest.mark.parametrize("operator", ["EF", "AG"])
def test_exactly_the_states_that_whole_turns_lead_to(operator: str) -> None:
    random, kinds = Random(f"turns {operator}"), set()
    for _ in range(CASES):
        trace = random_tasks(random)
        reached = states(trace)
        wanted = tuple(random.randint(0, 2) for _ in trace.processes)
        state = " & ".join(
            f"{process.name}.x == {value}" for process, value in zip(trace.processes, wanted, strict=True)
        )
        is_there = wanted in reached
        found = checked(trace, f"EF({state})" if operator == "EF" else f"AG(!({state}))")
        assert found.holds is (is_there is (operator == "EF"))
        kinds.add(is_there)
        if is_there:
            assert found.witness is not None
            _follows(trace, found.witness.path)
    assert kinds == {True, False}


def _follows(trace: Trace, path: tuple[str, ...]) -> None:
    cut, turns = (0,) * len(trace.processes), Turns(trace)
    for name in path:
        event = trace.find(name)
        assert event is not None
        process = trace.process[event]
        cut = (*cut[:process], cut[process] + 1, *cut[process + 1 :])
        before = (*cut[:process], cut[process] - 1, *cut[process + 1 :])
        assert cut in set(_following(trace, turns, before))


def two_tasks() -> Trace:
    builder = TraceBuilder()
    builder.header(processes=[("A", {"x": 0}), ("B", {"x": 0})])
    for name in "AB":
        builder.add(name, kind="turn", tag="L")
        builder.add_fields({"p": name, "set": {"x": 1}})
        builder.add_fields({"p": name, "set": {"x": 0}})
    return builder.finish()


def test_other_formulas_are_left_open_where_only_an_interrupted_turn_breaks_them() -> None:
    found = checked(two_tasks(), "F(A.x == 1 & B.x == 1) -> F(A.x == 2)", "ltl")
    assert found.truth is Truth.UNKNOWN and "an event loop does not do" in (found.reason or "")
    assert checked(two_tasks(), "G(!(A.x == 1 & B.x == 1))", "ltl").holds
    assert checked(two_tasks(), "F(A.x == 1)", "ltl").holds
    assert checked(two_tasks(), "G(A.x == 0)", "ltl").holds is False
