"""The classic bugs as toy programs, each with its corrected form."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from tests.control.toy import Body, Toy, World, parallel

Run = Generator[tuple[Any, ...], Any, None]


def _final(**expected: Any) -> Callable[[World], None]:
    def check(world: World) -> None:
        found = {name: world.memory.get(name, 0) for name in expected}
        assert found == expected, found

    return check


def lost_update(correct: bool) -> Toy:
    def worker() -> Run:
        if correct:
            yield ("acquire", "lock")
        value = yield ("read", "x")
        yield ("write", "x", value + 1)
        if correct:
            yield ("release", "lock")

    return Toy(parallel(worker, worker, join=True), check=_final(x=2))


def check_then_act(correct: bool) -> Toy:
    def worker() -> Run:
        if correct:
            yield ("acquire", "lock")
        balance = yield ("read", "balance")
        if balance == 0:
            yield ("add", "balance", -1)
        if correct:
            yield ("release", "lock")

    return Toy(parallel(worker, worker, join=True), check=_final(balance=-1))


def lock_order(correct: bool) -> Toy:
    def locking(first: str, second: str) -> Body:
        def worker() -> Run:
            yield ("acquire", first)
            yield ("acquire", second)
            yield ("release", second)
            yield ("release", first)

        return worker

    return Toy(parallel(locking("a", "b"), locking("a", "b") if correct else locking("b", "a"), join=True))


def lost_wakeup(correct: bool) -> Toy:
    def waiter() -> Run:
        if correct:
            yield ("acquire", "lock")
        while not (yield ("read", "ready")):
            if not correct:
                yield ("acquire", "lock")
            yield ("wait", "condition", "lock")
            if not correct:
                yield ("release", "lock")
        if correct:
            yield ("release", "lock")

    def notifier() -> Run:
        if correct:
            yield ("acquire", "lock")
        yield ("write", "ready", True)
        if not correct:
            yield ("acquire", "lock")
        yield ("notify", "condition")
        yield ("release", "lock")

    return Toy(parallel(waiter, notifier, join=True))


def if_for_while(correct: bool) -> Toy:
    """Two consumers wait for items with `if`; notify_all wakes both for one item."""

    def consumer() -> Run:
        yield ("acquire", "lock")
        count = yield ("read", "count")
        while count == 0:
            yield ("wait", "condition", "lock")
            if not correct:
                break
            count = yield ("read", "count")
        count = yield ("read", "count")
        assert count > 0, "took from an empty buffer"
        yield ("write", "count", count - 1)
        yield ("release", "lock")

    def producer() -> Run:
        for _ in range(2):
            yield ("acquire", "lock")
            count = yield ("read", "count")
            yield ("write", "count", count + 1)
            yield ("notify_all", "condition")
            yield ("release", "lock")

    return Toy(parallel(consumer, consumer, producer, join=True))


def double_checked(correct: bool) -> Toy:
    """The instance is published before it is initialised."""

    def worker() -> Run:
        if not (yield ("read", "instance")):
            yield ("acquire", "lock")
            if not (yield ("read", "instance")):
                if correct:
                    yield ("write", "field", 1)
                    yield ("write", "instance", True)
                else:
                    yield ("write", "instance", True)
                    yield ("write", "field", 1)
            yield ("release", "lock")
        assert (yield ("read", "field")) == 1, "used before it was initialised"

    return Toy(parallel(worker, worker, join=True))


def ring_buffer(correct: bool) -> Toy:
    """Two producers take the same slot."""

    def producing(value: int) -> Body:
        def producer() -> Run:
            if correct:
                yield ("acquire", "lock")
            tail = yield ("read", "tail")
            yield ("write", f"slot{tail}", value)
            yield ("write", "tail", tail + 1)
            if correct:
                yield ("release", "lock")

        return producer

    def check(world: World) -> None:
        assert {world.memory.get("slot0"), world.memory.get("slot1")} == {1, 2}

    return Toy(parallel(producing(1), producing(2), join=True), check=check)


def philosophers(correct: bool, n: int = 3) -> Toy:
    def eating(left: str, right: str) -> Body:
        def philosopher() -> Run:
            yield ("acquire", left)
            yield ("acquire", right)
            yield ("release", right)
            yield ("release", left)

        return philosopher

    forks = [(f"fork{i}", f"fork{(i + 1) % n}") for i in range(n)]
    if correct:
        forks = [(min(pair), max(pair)) for pair in forks]
    return Toy(parallel(*[eating(*pair) for pair in forks], join=True))


def peterson(correct: bool) -> Toy:
    def entering(me: int) -> Body:
        other = 1 - me

        def worker() -> Run:
            yield ("write", f"flag{me}", True)
            yield ("write", "turn", other if correct else me)
            flag = yield ("read", f"flag{other}")
            turn = yield ("read", "turn")
            while flag and turn == other:
                flag, turn = yield ("spin", f"flag{other}", "turn")
            inside = yield ("add", "inside", 1)
            assert inside == 0, "both are inside"
            yield ("add", "inside", -1)
            yield ("write", f"flag{me}", False)

        return worker

    return Toy(parallel(entering(0), entering(1), join=True))


def stale_reply(correct: bool) -> Toy:
    """A reply to an earlier question is taken for that to the present one."""

    def server() -> Run:
        for _ in range(2):
            question = yield ("get", "questions")
            yield ("put", "replies", question)

    def client() -> Run:
        yield ("put", "questions", 1)
        reply = yield ("poll", "replies")
        yield ("put", "questions", 2)
        answer = yield ("get", "replies")
        if correct:
            while answer != 2:
                answer = yield ("get", "replies")
        assert reply == 1 or answer == 2, "a stale reply"

    return Toy(parallel(server, client, join=True))


def queue_order(correct: bool) -> Toy:
    def producing(value: int) -> Body:
        def producer() -> Run:
            yield ("put", f"q{value}" if correct else "q", value)

        return producer

    def consumer() -> Run:
        first = yield ("get", "q1" if correct else "q")
        second = yield ("get", "q2" if correct else "q")
        assert (first, second) == (1, 2), "out of order"

    return Toy(parallel(producing(1), producing(2), consumer, join=True))


def starvation(correct: bool) -> Toy:
    """A writer that gives up when readers hold the resource each time it looks."""

    def reader() -> Run:
        for _ in range(2):
            if correct:
                yield ("down", "turnstile")
                yield ("up", "turnstile")
            yield ("add", "readers", 1)
            yield ("add", "readers", -1)

    def writer() -> Run:
        if correct:
            yield ("down", "turnstile")
            readers = yield ("read", "readers")
            while readers:
                (readers,) = yield ("spin", "readers")
            yield ("up", "turnstile")
            return
        for _ in range(3):
            if (yield ("read", "readers")) == 0:
                return
        raise AssertionError("starved")

    return Toy(parallel(reader, reader, writer, join=True), semaphores={"turnstile": 1})


def three_preemptions(correct: bool) -> Toy:
    """Fails only if the other task moves in each of three gaps."""

    def watcher() -> Run:
        if correct:
            yield ("acquire", "lock")
        seen = []
        for _ in range(4):
            value = yield ("read", "x")
            seen += [value]
        if correct:
            yield ("release", "lock")
        assert seen != [0, 1, 2, 3], "three preemptions"

    def writer() -> Run:
        if correct:
            yield ("acquire", "lock")
        for value in range(1, 4):
            yield ("write", "x", value)
        if correct:
            yield ("release", "lock")

    return Toy(parallel(watcher, writer, join=True))


def barrier_twice(correct: bool) -> Toy:
    """A home-made barrier whose count is reset while somebody still has to see it full."""

    def worker() -> Run:
        for phase in range(2):
            name = f"arrived{phase}" if correct else "arrived"
            arrived = (yield ("add", name, 1)) + 1
            if arrived == 2 and not correct:
                yield ("write", name, 0)
            elif arrived < 2:
                while arrived < 2:
                    (arrived,) = yield ("spin", name)

    return Toy(parallel(worker, worker, join=True))


def future_twice(correct: bool) -> Toy:
    def resolver() -> Run:
        if correct:
            yield ("acquire", "lock")
        if not (yield ("read", "resolved")):
            old = yield ("add", "resolved", 1)
            assert old == 0, "resolved twice"
        if correct:
            yield ("release", "lock")

    return Toy(parallel(resolver, resolver, join=True))


def cancellation(correct: bool) -> Toy:
    """Cancelled between the two halves of a transfer."""

    def transfer() -> Run:
        yield ("acquire", "lock")
        yield ("add", "a", -1)
        if not correct and (yield ("read", "cancelled")):
            yield ("release", "lock")
            return
        yield ("add", "b", 1)
        yield ("release", "lock")

    def canceller() -> Run:
        yield ("write", "cancelled", True)

    def check(world: World) -> None:
        assert world.memory.get("a", 0) + world.memory.get("b", 0) == 0, "money is lost"

    return Toy(parallel(transfer, canceller, join=True), check=check)


BUGS: dict[Callable[[bool], Toy], int] = {
    lost_update: 2,
    check_then_act: 2,
    lock_order: 2,
    lost_wakeup: 3,
    if_for_while: 3,
    double_checked: 7,
    ring_buffer: 2,
    philosophers: 8,
    peterson: 5,
    stale_reply: 3,
    queue_order: 3,
    starvation: 12,
    three_preemptions: 3,
    barrier_twice: 3,
    future_twice: 2,
    cancellation: 3,
}
"""In how many executions each is to be found at the latest."""
