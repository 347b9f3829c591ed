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


def observations(trace: Trace) -> list[list[tuple[int, ...]]]:
    """Every order in which no turn is interrupted, as the values of x on its way."""
    turns, size = Turns(trace), range(len(trace.processes))

    def from_here(cut: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
        state = tuple(_x(trace, process, cut[process]) for process in size)
        following = list(_following(trace, turns, cut))
        for after in following:
            for rest in from_here(after):
                yield [state, *rest]
        if not following:
            yield [state]

    return list(from_here((0,) * len(trace.processes)))


def test_formulas_about_whole_observations() -> None:
    random, kinds = Random("turns observations"), set()
    for _ in range(CASES // 4):
        trace = random_tasks(random)
        one, other = sorted({process.name for process in trace.processes})[:2]
        numbers = {process.name: number for number, process in enumerate(trace.processes)}
        first, second = numbers[one], numbers[other]
        p, q = f"{one}.x == {random.randint(0, 2)}", f"{other}.x == {random.randint(0, 2)}"
        low, high = int(p[-1]), int(q[-1])

        def both(
            state: tuple[int, ...], i: int = first, j: int = second, a: int = low, b: int = high
        ) -> bool:
            return state[i] == a and state[j] == b

        ways = observations(trace)
        avoid = [way for way in ways if not any(map(both, way))]
        truths = {
            f"AF({p} & {q})": not avoid,
            f"EG(!({p} & {q}))": bool(avoid),
            f"EF({p} & {q}) & EG(!({p} & {q}))": bool(avoid) and len(avoid) < len(ways),
            f"A[!({p}) U {q}]": all(_until(way, first, low, second, high) for way in ways),
            f"EF(({p}) & EF(!({p}) & {q}))": any(_then(way, first, low, second, high) for way in ways),
        }
        for formula, truth in truths.items():
            assert checked(trace, formula).holds is truth, (formula, ways)
            kinds.add((formula[:3], truth))
        linear = checked(trace, f"F({p} & {q})", "ltl")
        assert linear.holds is not bool(avoid)
        if linear.holds is False:
            assert linear.witness is not None
            _follows(trace, linear.witness.path)
    assert len(kinds) > 7


def _until(way: list[tuple[int, ...]], first: int, low: int, second: int, high: int) -> bool:
    for state in way:
        if state[second] == high:
            return True
        if state[first] == low:
            return False
    return False


def _then(way: list[tuple[int, ...]], first: int, low: int, second: int, high: int) -> bool:
    begin = next((at for at, state in enumerate(way) if state[first] == low), None)
    return begin is not None and any(state[first] != low and state[second] == high for state in way[begin:])


def test_what_only_an_interrupted_turn_breaks_holds() -> None:
    assert checked(two_tasks(), "F(A.x == 1 & B.x == 1) -> F(A.x == 2)", "ltl").holds
    assert checked(two_tasks(), "G(!(A.x == 1 & B.x == 1))", "ltl").holds
    assert checked(two_tasks(), "F(A.x == 1)", "ltl").holds
    assert checked(two_tasks(), "G(A.x == 0)", "ltl").holds is False
    assert checked(two_tasks(), "AG(A.x == 1 -> AF(B.x == 1 | A.x == 0))").holds
    assert checked(two_tasks(), "EF(A.x == 1 & EF(A.x == 1 & B.x == 1))").holds is False
    assert checked(two_tasks(), "AG(EF(A.x == 1 & B.x == 1) -> A.x == 2)").holds


def test_task_formulas_fail_exactly_where_whole_turns_lead() -> None:
    random, kinds = Random("turns tl"), set()
    for _ in range(CASES):
        trace = random_tasks(random)
        one, other = random.randint(0, 2), random.randint(1, 2)
        found = checked(trace, f"not (t1:(x == {one}) and t2:(x == {other})) if t1 != t2", "tl")
        size = range(len(trace.processes))
        is_there = any(
            state[i] == one and state[j] == other
            for state in states(trace)
            for i in size
            for j in size
            if i != j
        )
        assert found.holds is not is_there
        kinds.add(is_there)
        if is_there:
            assert found.witness is not None and found.witness.tasks
            _follows(trace, found.witness.path)
    assert kinds == {True, False}


def test_task_formulas_about_later_slices_hold_where_only_an_interrupted_turn_breaks_them() -> None:
    found = checked(two_tasks(), "not sometime (t1:(x == 1) and t2:(x == 1)) if t1 != t2", "tl")
    assert found.truth is Truth.HOLDS
