"""Live objects: correct ones are linearizable in all schedules, wrong ones fail in a small scenario."""

from __future__ import annotations

import os
import threading
from collections import deque

import pytest
from hypothesis import strategies as st

import possibly
from possibly.errors import UsageError
from possibly.session.exploring.objects import Call, orders


class Stack:
    def __init__(self) -> None:
        self.items: list[int] = []
        self.lock = threading.Lock()

    def push(self, item: int) -> None:
        with self.lock:
            self.items.append(item)

    def pop(self) -> int:
        with self.lock:
            return self.items.pop()


class LosingCounter:
    """Adds in two steps."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, amount: int) -> None:
        before = self.value
        self.value = before + amount

    def get(self) -> int:
        return self.value


class StaleCounter:
    """Each change is atomic, but what `get` looks at is changed a little later."""

    def __init__(self) -> None:
        self.value = self.shown = 0
        self.lock = threading.Lock()

    def add(self) -> None:
        with self.lock:
            self.value += 1
        self.shown = self.value

    def get(self) -> int:
        return self.shown


class TwoStepQueue:
    """Looks whether there is an item, and takes it then."""

    def __init__(self) -> None:
        self.items = deque([1])

    def take(self) -> int | None:
        return self.items.popleft() if len(self.items) else None


@pytest.mark.alone
def test_right_and_wrong_objects() -> None:
    """In one interpreter, since each costs as much as all of this."""
    found = possibly.linearizable(Stack, ["pop", ("push", st.integers(0, 1))], calls=1, examples=3)
    assert found.holds is True, found.explain()
    assert repr(found) == f"<linearizable, {found.scenarios} scenarios>"
    found = possibly.linearizable(TwoStepQueue, ["take"], calls=1, examples=1)
    assert found.holds is False
    assert "raises IndexError" in found.explain()
    found = possibly.linearizable(LosingCounter, ["get", ("add", 1)], examples=6)
    assert found.holds is False
    assert found.scenario is not None
    assert [[str(call) for call in calls] for calls in found.scenario] == [["add(1)", "get()"], ["add(1)"]]
    assert "no order of these calls gives their results" in found.explain()
    assert found.failure is not None and found.failure.kind == "assertion"


@pytest.mark.alone
@pytest.mark.skipif("POSSIBLY_CASES" not in os.environ, reason="takes long: for make soak")
def test_what_returned_before_counts() -> None:
    found = possibly.linearizable(StaleCounter, ["add", "get"], examples=12)
    assert found.holds is False
    assert "had returned before" in found.explain()


def test_orders_keep_the_calls_of_each_thread() -> None:
    scenario = ((Call("a"), Call("b")), (Call("c"),))
    assert len(list(orders(scenario))) == 3
    assert all(order.index((0, 0)) < order.index((0, 1)) for order in orders(scenario))


def test_bad_usage_is_told() -> None:
    with pytest.raises(UsageError, match="no operations"):
        possibly.linearizable(Stack, [])
    with pytest.raises(UsageError, match="at least one thread"):
        possibly.linearizable(Stack, ["pop"], threads=0)


# ---- inputs -------------------------------------------------------------------------------------


def loses(amounts: list[int]) -> None:
    counter = LosingCounter()
    threads = [threading.Thread(target=counter.add, args=(amount,)) for amount in amounts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.value == sum(amounts)


@pytest.mark.alone
def test_an_operation_that_cannot_be_called_so_is_refused() -> None:
    """Calls that all fail alike would fit any order."""
    with pytest.raises(UsageError, match="deque has no method push"):
        possibly.linearizable(deque, operations=["push"])

    class Stack:
        def push(self, item: int) -> None: ...

    with pytest.raises(UsageError, match="push: missing a required argument: 'item'") as raised:
        possibly.linearizable(Stack, operations=["push"])
    assert raised.value.hint is not None and '("push", integers())' in raised.value.hint


def test_inputs_are_made_small_first() -> None:
    found = possibly.explore(loses, st.lists(st.integers(0, 5), max_size=2), examples=6)
    assert found.holds is False
    assert found.inputs is not None and sorted(found.inputs[0]) == [0, 1]
    again = possibly.explore(loses, st.lists(st.integers(0, 5), max_size=2), examples=6)
    assert again.inputs == found.inputs
    assert again.failure is not None and found.failure is not None
    assert again.failure.schedule == found.failure.schedule
    found = possibly.explore(loses, st.lists(st.integers(0, 5), max_size=1), examples=2)
    assert found.holds is True and found.inputs is not None
