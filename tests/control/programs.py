"""Toy programs: the families whose numbers of traces are known, and random ones."""

from __future__ import annotations

from collections.abc import Callable, Generator
from random import Random
from typing import Any

from tests.control.toy import Body, Toy, parallel

Instruction = tuple[Any, ...]


def locked(n: int) -> Toy:
    """Increments under a lock: n! traces."""

    def worker() -> Generator[tuple[Any, ...], Any, None]:
        yield ("acquire", "lock")
        value = yield ("read", "x")
        yield ("write", "x", value + 1)
        yield ("release", "lock")

    return Toy(parallel(*[worker] * n))


def readers(n: int) -> Toy:
    """One writer and n readers: 2^n traces."""

    def reader() -> Generator[tuple[Any, ...], Any, None]:
        yield ("read", "x")

    def writer() -> Generator[tuple[Any, ...], Any, None]:
        yield ("write", "x", 1)

    return Toy(parallel(writer, *[reader] * n))


def writers(n: int) -> Toy:
    """n! traces."""

    def writer() -> Generator[tuple[Any, ...], Any, None]:
        yield ("write", "x", 1)

    return Toy(parallel(*[writer] * n))


def unlocked(n: int) -> Toy:
    """Lost updates: (n!)^2 traces."""

    def worker() -> Generator[tuple[Any, ...], Any, None]:
        value = yield ("read", "x")
        yield ("write", "x", value + 1)

    return Toy(parallel(*[worker] * n))


def lastzero(n: int) -> Toy:
    """Each worker derives its element from the one before; a checker looks for the last zero."""

    def checker() -> Generator[tuple[Any, ...], Any, None]:
        index = n
        while (yield ("read", f"a{index}")) != 0:
            index -= 1

    def deriving(index: int) -> Body:
        def worker() -> Generator[tuple[Any, ...], Any, None]:
            value = yield ("read", f"a{index - 1}")
            yield ("write", f"a{index}", value + 1)

        return worker

    return Toy(parallel(checker, *[deriving(index) for index in range(1, n + 1)]))


def independent(n: int) -> Toy:
    def apart(index: int) -> Body:
        def worker() -> Generator[tuple[Any, ...], Any, None]:
            for value in range(3):
                yield ("write", f"x{index}", value)

        return worker

    return Toy(parallel(*[apart(index) for index in range(n)]))


FAMILIES: list[tuple[Callable[[int], Toy], dict[int, int]]] = [
    (locked, {3: 6, 4: 24, 5: 120, 6: 720}),
    (readers, {2: 4, 4: 16, 6: 64, 8: 256}),
    (writers, {3: 6, 4: 24, 5: 120}),
    (unlocked, {2: 4, 3: 36, 4: 576}),
    (lastzero, {3: 12, 5: 64, 7: 320}),
    (independent, {2: 1, 5: 1}),
]


def interpreted(instructions: list[Instruction]) -> Body:
    """A task that does instructions one after the other; `local` is what the last one returned."""

    def body() -> Generator[tuple[Any, ...], Any, None]:
        local: Any = 0
        skip = False
        for instruction in instructions:
            if skip:
                skip = False
                continue
            match instruction:
                case ("unless", value):
                    skip = local == value
                case ("fail if", value):
                    assert local != value
                case ("write local", x):
                    yield ("write", x, (local if isinstance(local, int) else 0) + 1)
                case ("guarded", lock):
                    if (yield ("try", lock)):
                        yield ("write", "x", 7)
                        yield ("release", lock)
                case ("waiting", x):
                    # Busy waiting for a value, at most twice awake.
                    local = yield ("read", x)
                    for _ in range(2):
                        if local:
                            break
                        (local,) = yield ("spin", x)
                case ("child", *rest):
                    child = yield ("start", interpreted(rest))
                    yield ("read", "x")
                    yield ("join", child)
                case _:
                    local = yield instruction

    return body


def _section(random: Random, depth: int) -> list[Instruction]:
    """A few instructions; locks are released by who holds them, in any order."""
    x = random.choice("xxy")
    simple: list[list[Instruction]] = [
        [("read", x)],
        [("read", x), ("unless", 0), ("write", "z", 1)],
        [("read", x), ("fail if", 2)],
        [("write", x, random.randint(0, 2))],
        [("read", x), ("write local", x)],
        [("add", x, 1)],
        [("guarded", "l")],
        [("up", "s")],
        [("down", "s")],
        [("put", "q", 1)],
        [("get", "q")],
        [("poll", "q"), ("unless", None), ("write", "x", 2)],
        [("set", "e")],
        [("await", "e")],
        [("waiting", x)],
        [("notify", "c")],
    ]
    if depth and random.random() < 0.45:
        lock = random.choice("lm")
        inner = _section(random, depth - 1)
        if random.random() < 0.25 and lock == "l":
            inner = [("wait", "c", "l"), *inner]
        if random.random() < 0.3:
            inner = [*inner, (random.choice(["notify", "notify_all"]), "c")]
        if random.random() < 0.2:
            other = "m" if lock == "l" else "l"
            pair = [("release", other), ("release", lock)]
            random.shuffle(pair)
            return [("acquire", lock), ("acquire", other), ("read", "x"), *pair]
        return [("acquire", lock), *inner, ("release", lock)]
    if depth and random.random() < 0.12:
        return [("child", *_section(random, 0))]
    return random.choice(simple)


def random_program(random: Random) -> Toy:
    """Two to four tasks of one or two sections each."""
    tasks = random.choice([2, 2, 2, 3, 3, 4])
    bodies = []
    for _ in range(tasks):
        instructions = _section(random, 1)
        for _ in range(random.choice([1, 1, 2]) if tasks < 4 else random.choice([0, 1])):
            instructions = instructions + _section(random, 1)
        bodies.append(interpreted(instructions))
    started, bounded = random.random() < 0.2, random.random() < 0.4
    return Toy(
        main=parallel(*bodies, join=random.random() < 0.5) if started else None,
        at_once=() if started else tuple(bodies),
        semaphores={"s": random.randint(0, 2)},
        capacity={"q": 1} if bounded else {},
        in_line=frozenset() if bounded or random.random() < 0.3 else frozenset("q"),
        shut=random.random() < 0.8,
    )
