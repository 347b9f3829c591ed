"""Live objects: is every history that threads can bring about one of the object used by one thread alone?

A scenario is a few calls for each of a few threads. All its schedules are explored; in each, every call
notes which calls of other threads had returned before it, and at the end an order of all calls is looked
for that keeps this and gives the results that were seen. What an order gives is found out beforehand, with
a fresh object and no other thread. Returns are told to later calls by events, so the search knows that they
do not commute, and nothing else is ordered by it.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from possibly.errors import UsageError


class Call(NamedTuple):
    """A method with its arguments."""

    name: str
    arguments: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.arguments))})"


Scenario = tuple[tuple[Call, ...], ...]
"""For each thread its calls."""
Place = tuple[int, int]
"""A call of a scenario: its thread and its number there."""


class Answered(NamedTuple):
    """What a call gave: a value, or the name of the exception that it raised."""

    value: Any
    raised: str | None = None

    def __str__(self) -> str:
        return repr(self.value) if self.raised is None else f"raises {self.raised}"


class NotLinearizable(AssertionError):
    """No order of the calls gives the results that they had."""


def called(thing: Any, call: Call) -> Answered:
    try:
        return Answered(getattr(thing, call.name)(*call.arguments))
    except Exception as error:  # noqa: BLE001 - whatever the object raises is an answer
        return Answered(None, type(error).__name__)


def orders(scenario: Scenario) -> Iterator[tuple[Place, ...]]:
    """All orders in which the calls of each thread keep theirs."""
    counts = [len(calls) for calls in scenario]

    def extended(done: tuple[int, ...], path: tuple[Place, ...]) -> Iterator[tuple[Place, ...]]:
        if list(done) == counts:
            yield path
        for thread, count in enumerate(done):
            if count < counts[thread]:
                after = (*done[:thread], count + 1, *done[thread + 1 :])
                yield from extended(after, (*path, (thread, count)))

    yield from extended(tuple(0 for _ in scenario), ())


@dataclass(frozen=True, slots=True)
class Sequential:
    """What one order of the calls gives."""

    order: tuple[Place, ...]
    answers: dict[Place, Answered]


def sequential(make: Callable[[], Any], scenario: Scenario) -> list[Sequential]:
    """What every order gives, on a fresh object each."""
    found = []
    for order in orders(scenario):
        thing = make()
        answers = {place: called(thing, scenario[place[0]][place[1]]) for place in order}
        found.append(Sequential(order, answers))
    return found


class Run:
    """One execution of a scenario."""

    def __init__(self, make: Callable[[], Any], scenario: Scenario, allowed: Sequence[Sequential]) -> None:
        self._scenario = scenario
        self._allowed = allowed
        self._thing = make()
        self._returned = [[threading.Event() for _ in calls] for calls in scenario]
        self._answers: dict[Place, Answered] = {}
        self._before: dict[Place, tuple[int, ...]] = {}
        """For each call: how many calls of each thread had returned before it."""

    def go(self) -> None:
        """Runs it, and raises if no order explains what happened."""
        threads = [
            threading.Thread(target=self._work, args=(number,), name=f"thread {number + 1}")
            for number in range(len(self._scenario))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not any(self._explains(each) for each in self._allowed):
            raise NotLinearizable(told(self._scenario, self._answers, self._before))

    def _work(self, thread: int) -> None:
        seen = [0] * len(self._scenario)
        for number, call in enumerate(self._scenario[thread]):
            self._look(thread, seen)
            self._before[thread, number] = tuple(seen)
            self._answers[thread, number] = called(self._thing, call)
            self._returned[thread][number].set()

    def _look(self, thread: int, seen: list[int]) -> None:
        for other, events in enumerate(self._returned):
            while other != thread and seen[other] < len(events) and events[seen[other]].is_set():
                seen[other] += 1

    def _explains(self, one: Sequential) -> bool:
        if any(not _same(one.answers[place], answer) for place, answer in self._answers.items()):
            return False
        moment = {place: number for number, place in enumerate(one.order)}
        return all(
            moment[other, count - 1] < moment[place]
            for place, counts in self._before.items()
            for other, count in enumerate(counts)
            if count
        )


def _same(one: Answered, other: Answered) -> bool:
    return (
        one.raised == other.raised and type(one.value) is type(other.value) and bool(one.value == other.value)
    )


def told(scenario: Scenario, answers: dict[Place, Answered], before: dict[Place, tuple[int, ...]]) -> str:
    """The calls with their results, a thread a line, and which came before which in time."""
    lines = ["no order of these calls gives their results:"]
    for thread, calls in enumerate(scenario):
        words = (f"{call} -> {answers[thread, number]}" for number, call in enumerate(calls))
        lines.append(f"  thread {thread + 1}: {'; '.join(words)}")
    for (thread, number), counts in sorted(before.items()):
        lines += [
            f"  {scenario[other][count - 1]} of thread {other + 1} had returned before "
            f"{scenario[thread][number]} of thread {thread + 1} was called"
            for other, count in enumerate(counts)
            if count and (number == 0 or before[thread, number - 1][other] < count)
        ]
    return "\n".join(lines)


def check_operations(thing: Any, operations: Sequence[Any]) -> None:
    """Raises if one cannot be called as it is given: calls that all fail alike would fit any order."""
    for operation in operations:
        name, *arguments = (operation,) if isinstance(operation, str) else tuple(operation)
        method = getattr(thing, name, None)
        if not callable(method):
            raise UsageError(f"{type(thing).__name__} has no method {name}")
        try:
            signature = inspect.signature(method)
        except (TypeError, ValueError):
            continue  # of C, which does not tell
        try:
            signature.bind(*arguments)
        except TypeError as error:
            hint = f'a value or a strategy for each argument: operations=[("{name}", integers())]'
            raise UsageError(f"{type(thing).__name__}.{name}: {error}", hint=hint) from None


def scenarios(operations: Sequence[Any], threads: int, calls: int) -> Any:
    """A strategy for scenarios of these operations: names, or a name with what its arguments are drawn from.

    Which thread does what makes no difference, so threads are sorted.
    """
    from hypothesis import strategies as st

    if not operations:
        raise UsageError("no operations to call", hint='operations=["pop", ("push", integers())]')
    drawn = st.one_of([_drawn(each) for each in operations])
    one = st.lists(drawn, min_size=1, max_size=calls).map(tuple)
    return st.tuples(*[one for _ in range(threads)]).map(lambda each: tuple(sorted(each, key=repr)))


def _drawn(operation: Any) -> Any:
    from hypothesis import strategies as st

    from possibly.session.exploring.inputs import is_strategy

    name, *arguments = (operation,) if isinstance(operation, str) else tuple(operation)
    chosen = [each if is_strategy(each) else st.just(each) for each in arguments]
    return st.tuples(*chosen).map(lambda values: Call(name, values))
