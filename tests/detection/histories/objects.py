"""The judge of histories: real sequential objects, every choice of unknown operations, every order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from random import Random
from typing import Any

from possibly.trace.histories.model import History, Operation, Outcome

Call = tuple[str, Any]


class Register:
    calls: Sequence[Call] = (("read", None), ("write", 1), ("write", 2), ("cas", (1, 2)), ("cas", (None, 1)))

    def __init__(self) -> None:
        self.value: Any = None

    def read(self, _: object) -> Any:
        return self.value

    def write(self, value: object) -> None:
        self.value = value

    def cas(self, pair: tuple[object, object]) -> bool:
        if self.value == pair[0]:
            self.value = pair[1]
            return True
        return False


class Text:
    calls: Sequence[Call] = (("get", None), ("get", None), ("put", "a"), ("append", "b"), ("append", "c"))

    def __init__(self) -> None:
        self.value = ""

    def get(self, _: object) -> str:
        return self.value

    def put(self, value: str) -> None:
        self.value = value

    def append(self, value: str) -> None:
        self.value += value


class Queue:
    calls: Sequence[Call] = (
        ("enqueue", 1),
        ("enqueue", 2),
        ("dequeue", None),
        ("dequeue", None),
        ("peek", None),
    )

    def __init__(self) -> None:
        self.items: deque[Any] = deque()

    def enqueue(self, item: object) -> None:
        self.items.append(item)

    def dequeue(self, _: object) -> Any:
        return self.items.popleft() if self.items else None

    def peek(self, _: object) -> Any:
        return self.items[0] if self.items else None


class Stack:
    calls: Sequence[Call] = (("push", 1), ("push", 2), ("pop", None), ("pop", None), ("peek", None))

    def __init__(self) -> None:
        self.items: list[Any] = []

    def push(self, item: object) -> None:
        self.items.append(item)

    def pop(self, _: object) -> Any:
        return self.items.pop() if self.items else None

    def peek(self, _: object) -> Any:
        return self.items[-1] if self.items else None


class Set:
    calls: Sequence[Call] = (
        ("add", 1),
        ("add", 2),
        ("remove", 1),
        ("contains", 1),
        ("contains", 2),
        ("read", None),
    )

    def __init__(self) -> None:
        self.items: set[Any] = set()

    def add(self, item: object) -> bool:
        is_new = item not in self.items
        self.items.add(item)
        return is_new

    def remove(self, item: object) -> bool:
        is_old = item in self.items
        self.items.discard(item)
        return is_old

    def contains(self, item: object) -> bool:
        return item in self.items

    def read(self, _: object) -> Any:
        return tuple(sorted(self.items))


class Elements(Set):
    calls = Set.calls[:-1]


class Counter:
    calls: Sequence[Call] = (("inc", None), ("add", 2), ("dec", None), ("read", None), ("get_and_add", 1))

    def __init__(self) -> None:
        self.value = 0

    def inc(self, _: object) -> None:
        self.value += 1

    def add(self, amount: int) -> None:
        self.value += amount

    def dec(self, _: object) -> None:
        self.value -= 1

    def read(self, _: object) -> int:
        return self.value

    def get_and_add(self, amount: int) -> int:
        self.value += amount
        return self.value - amount


OBJECTS: dict[str, Callable[[], Any]] = {
    "register": Register, "kv": Text, "queue": Queue, "stack": Stack, "set": Set, "elements": Elements,
    "counter": Counter,
}  # fmt: skip


def is_linearizable(operations: Sequence[Operation], make: Callable[[], Any]) -> bool:
    """By definition."""
    certain = [each for each in operations if each.outcome is Outcome.OK]
    unknown = [each for each in operations if each.outcome is Outcome.UNKNOWN]
    for count in range(len(unknown) + 1):
        for some in combinations(unknown, count):
            if any(_is_answer(order, make) for order in _orders([*certain, *some])):
                return True
    return False


def _orders(operations: Sequence[Operation]) -> Iterator[tuple[Operation, ...]]:
    for order in permutations(operations):
        if all(
            second.returned is None or second.returned > first.called
            for place, first in enumerate(order)
            for second in order[place + 1 :]
        ):
            yield order


def _is_answer(order: Sequence[Operation], make: Callable[[], Any]) -> bool:
    thing = make()
    for each in order:
        result = getattr(thing, each.name)(each.argument)
        if each.outcome is Outcome.OK and (result, type(result)) != (each.result, type(each.result)):
            return False
    return True


def history(random: Random, make: Callable[[], Any], most: int = 6, keys: Sequence[Any] = (None,)) -> History:
    """Calls of a few processes at random times, with answers that are right for one order, or nearly."""
    things = {key: make() for key in keys}
    free, done, moment = list("abcd"), [], 0
    open_calls: list[list[Any]] = []
    left = random.randint(2, most)
    while left or open_calls:
        if left and free and (not open_calls or random.random() < 0.6):
            name, argument = random.choice(make.calls)  # type: ignore[attr-defined]
            process = free.pop(random.randrange(len(free)))
            operation = Operation(
                process, name, argument, None, Outcome.UNKNOWN, moment, None, random.choice(keys)
            )
            open_calls.append([operation, None, False])
            left -= 1
        else:
            entry = random.choice(open_calls)
            if not entry[2]:
                operation = entry[0]
                entry[1] = getattr(things[operation.key], operation.name)(operation.argument)
                entry[2] = True
                continue
            open_calls.remove(entry)
            done.append(_ended(entry[0], entry[1], moment, random))
            is_known = done[-1].returned is not None
            free.append(done[-1].process if is_known else f"{done[-1].process}'")
        moment += 1
    return History(tuple(sorted(done, key=lambda each: each.called)), moment)


def _ended(operation: Operation, result: object, moment: int, random: Random) -> Operation:
    if random.random() < 0.15:
        return operation
    if random.random() < 0.2:
        result = _wrong(result, random)
    return replace(operation, result=result, outcome=Outcome.OK, returned=moment)


def _wrong(result: object, random: Random) -> object:
    match result:
        case bool():
            return not result
        case int():
            return result + random.choice((-1, 1))
        case str():
            return random.choice((result[:-1], result + "b", "ac"))
        case tuple():
            return result[:-1]
    return result
