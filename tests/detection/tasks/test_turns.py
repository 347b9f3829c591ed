"""Task formulas on runs of event loops, against the definition: slices that whole turns lead to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile
from random import Random
from typing import Any

import pytest

from possibly.detection.explicit.whole import INTERRUPTED
from possibly.detection.limits import Budget
from possibly.detection.tasks.check import LATER, TaskAnswer, check_tasks
from possibly.logic.specification import Specification, property_from_text
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.parser import parse_tasks
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.order.vocabulary import vocabulary
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Event, Trace
from possibly.verdict.model import Truth
from tests.detection.tasks.reference import F, Tasks, U, random_task_formula
from tests.reference import Cut
from tests.sampling import sampled

NEVER_ENDS = "in some order a turn of an event loop never ends"
LOOPS = {"A": "L", "B": "L", "C": "M", "T": ""}


class TasksInTurns(Tasks):
    """The slices that are reached without interrupting a turn; later is what such steps lead to."""

    @cached_property
    def cuts(self) -> list[Cut]:
        found, todo = {frozenset[int]()}, [frozenset[int]()]
        while todo:
            new = self.next(todo.pop()) - found
            found |= new
            todo.extend(new)
        return sorted(found, key=lambda cut: (len(cut), sorted(cut)))

    @property
    def is_stuck(self) -> bool:
        return any(len(cut) < len(self.trace) and not self.next(cut) for cut in self.cuts)

    def next(self, cut: Cut) -> set[Cut]:
        return {after for after in self.reference.successors(cut) if self._is_whole(cut, after - cut)}

    def _is_whole(self, cut: Cut, step: Cut) -> bool:
        (event,) = step
        own = self.turn[event]
        return own is None or (
            self._is_woken(event, cut)
            and not any(
                turn is not None and turn != own and turn[0] == own[0] and 0 < len(events & cut) < len(events)
                for turn, events in self.turns.items()
            )
        )

    def _is_woken(self, event: int, cut: Cut) -> bool:
        """A turn begins when what its task waited for has come."""
        begin = self.reference.events[event]
        if begin.kind != "turn":
            return True
        following = self.of[begin.process][begin.position :]
        learnt = list(takewhile(lambda each: each.kind == "result", following))
        return all(self.reference.before[each.number] <= {*cut, event, *_numbers(learnt)} for each in learnt)

    @cached_property
    def turn(self) -> dict[int, tuple[str, str, int] | None]:
        """For each event its loop, task and the number of its turn."""
        found: dict[int, tuple[str, str, int] | None] = {}
        for task, events in self.of.items():
            number, loop = 0, ""
            for event in events:
                if event.kind == "turn":
                    number, loop = number + 1, str(event.tag)
                found[event.number] = (loop, task, number) if number else None
        return found

    @cached_property
    def turns(self) -> dict[tuple[str, str, int], frozenset[int]]:
        keys = {turn for turn in self.turn.values() if turn is not None}
        return {key: frozenset(event for event, turn in self.turn.items() if turn == key) for key in keys}

    @cached_property
    def _reached(self) -> dict[Cut, set[Cut]]:
        found: dict[Cut, set[Cut]] = {}
        for cut in reversed(self.cuts):
            found[cut] = set(self.next(cut)).union(*(found[after] for after in self.next(cut)))
        return found

    def later(self, cut: Cut) -> Iterator[Cut]:
        return (other for other in self.cuts if other in self._reached[cut])

    def between(self, cut: Cut, other: Cut) -> Iterator[Cut]:
        return (middle for middle in self.later(cut) if other in self._reached[middle])

    def possible(self, cut: Cut, name: str) -> list[Any]:
        key = cut, name
        if key not in self._possible:
            found: list[Any] = [] if cut else [self.trace.shared[name]]
            for before in self.cuts:
                if len(before) + 1 == len(cut) and cut in self.next(before):
                    (event,) = cut - before
                    written = self.reference.events[event].write
                    values = [written[name]] if name in written else self.possible(before, name)
                    found += [value for value in values if value not in found]
            self._possible[key] = found
        return self._possible[key]


def _numbers(events: list[Event]) -> set[int]:
    return {event.number for event in events}


def random_run(random: Random) -> Trace:
    """Turns in which tasks write, count and call; some events come after those of others."""
    builder = TraceBuilder()
    names = random.sample(sorted(LOOPS), random.randint(2, 3))
    builder.header(processes=[(name, {"x": 0}) for name in names], shared={"s": 0})
    inside = dict.fromkeys(names, False)
    done: list[tuple[str, str]] = []
    for number in range(random.randint(2, 5)):
        name = random.choice(names)
        if LOOPS[name]:
            builder.add(name, kind="turn", tag=LOOPS[name])
            for waker in random.sample(done, min(len(done), random.choice([0, 0, 0, 1, 2]))):
                builder.add(name, kind="result", after=[waker[1]] if waker[0] != name else [])
        for place in range(random.randint(1, 3)):
            others = [each for owner, each in done if owner != name]
            fields: dict[str, Any] = {"id": f"e{number}-{place}"}
            if others and random.random() < 0.2:
                fields["after"] = [random.choice(others)]
            match random.choice(["write", "write", "set", "call"]):
                case "write":
                    fields["write"] = {"s": random.randint(0, 2)}
                case "set":
                    fields["set"] = {"x": random.randint(0, 2)}
                case "call":
                    fields |= {"kind": "exit" if inside[name] else "enter", "fn": "f"}
                    inside[name] = not inside[name]
            builder.add(name, **fields)
            done.append((name, fields["id"]))
    return builder.finish()


def asked(trace: Trace, text: str) -> TaskAnswer:
    net = Net(trace)
    node = bind_tasks(parse_tasks(text), vocabulary(trace)).formula
    return check_tasks(net, Lattice(net.computation), node, Budget())


def judged(seed: int) -> tuple[str, F, TaskAnswer, TasksInTurns]:
    random = Random(f"turns of tasks {seed}")
    trace = random_run(random)
    formula = random_task_formula(random, trace)
    return formula.text, formula, asked(trace, formula.text), TasksInTurns(trace)


@pytest.mark.parametrize("batch", range(sampled(12)))
def test_exactly_what_fails_in_whole_turns(batch: int) -> None:
    kinds = set()
    for seed in range(20 * batch, 20 * batch + 20):
        text, formula, found, tasks = judged(seed)
        if found.value is None:
            assert (
                found.reason in (f"{LATER}: {NEVER_ENDS}; possibly explore tells", INTERRUPTED)
                and tasks.is_stuck
            ), text
            continue
        failing = tasks.failing(formula)
        assert found.value is not bool(failing), text
        kinds.add(found.value)
        if found.value:
            continue
        assert found.failure is not None and found.path is not None
        cut: Cut = frozenset()
        for move in found.path:
            assert cut | {move.step} in tasks.next(cut), text
            cut |= {move.step}
        assert len(cut) == min(len(each) for each, _ in failing), text
        if variables := dict(found.failure.tasks):
            free = {key: task for key, task in variables.items() if key in dict(next(iter(failing))[1])}
            assert tasks.value(cut, free, formula) == U, text
        if found.engine == "turns":
            assert found.failure.slices == len({each for each, _ in failing}), text
    assert kinds == {True, False}


def truth(trace: Trace, text: str) -> Truth:
    specification = Specification(properties=(property_from_text("tl", text, "it"),))
    return check_trace(trace, specification, Options()).verdicts[0].truth


def in_two_turns() -> Trace:
    """A writes 1 and 0 in one turn; B is busy in the middle of its own."""
    builder = TraceBuilder()
    builder.header(processes=[("A", {"x": 0}), ("B", {"x": 0})], shared={"g": 0})
    builder.add("A", kind="turn", tag="L")
    builder.add("A", kind="write", write={"g": 1})
    builder.add("A", kind="write", write={"g": 0})
    builder.add("B", kind="turn", tag="L")
    builder.add("B", set={"x": 1})
    builder.add("B", set={"x": 0})
    return builder.finish()


def test_what_a_turn_replaces_is_not_seen_by_another() -> None:
    assert truth(in_two_turns(), "t:(x == 1) implies t:(g == 0)") is Truth.HOLDS
    assert truth(in_two_turns(), "t:(x == 0) implies t:(g == 0)") is Truth.VIOLATED


def woken() -> Trace:
    """B waits for what A does in its second turn, as for a lock."""
    builder = TraceBuilder()
    builder.header(processes=[("A", {"x": 0}), ("B", {"x": 0})])
    for value in (1, 0):
        builder.add("A", kind="turn", tag="L")
        builder.add("A", set={"x": value})
    builder.add("B", kind="turn", tag="L")
    builder.add("B", kind="result", after=["A:4"])
    builder.add("B", set={"x": 1})
    return builder.finish()


def test_a_turn_begins_after_what_its_task_waited_for() -> None:
    assert truth(woken(), "not sometime (t1:(x == 1) and t2:(x == 1)) if t1 != t2") is Truth.HOLDS
    assert truth(woken(), "t1:(x == 1) implies sometime t1:(x == 0)") is Truth.VIOLATED


def test_time_is_decided_on_whole_turns() -> None:
    assert truth(in_two_turns(), "t:(x == 1) implies next t:(x == 0)") is Truth.HOLDS
    assert truth(in_two_turns(), "t:(x == 1) implies sometime t:(x == 1)") is Truth.VIOLATED
