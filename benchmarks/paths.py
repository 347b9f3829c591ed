"""Recognition rates of path expressions: events a second, beside a bare table automaton of the same run.

    python benchmarks/paths.py [--quick]

A safe expression is fed with a million events and their predecessors, as a program that runs would; then
whole traces are checked. Time is that of the processor; the ratio to the bare loop, measured beside it, says
more than seconds.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

from possibly.detection.paths.expected import fitting
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.occurrences import occurrences
from possibly.detection.paths.online import PathMonitor
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.run import Run
from possibly.logic.source import Source
from possibly.order.computation import Computation
from possibly.order.growing.computation import Growing
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

Fed = tuple[int, tuple[int, ...], tuple[int, ...]]


def machine(text: str) -> Machine:
    return Machine(compiled(parse_path(Source(text))))


def chain(count: int) -> Iterator[Fed]:
    """open; (read + write)*; close"""
    last: tuple[int, ...] = ()
    for event in range(count):
        yield event, ((0,) if event == 0 else (1 + event % 2,)), last
        last = (event,)


def pairs(count: int) -> Iterator[Fed]:
    """(read & write)*: every other event has two predecessors."""
    last: tuple[int, ...] = ()
    for event in range(0, count, 2):
        yield event, (0,), last
        yield event + 1, (1,), last
        last = (event, event + 1)


def timed(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def bare(events: list[Fed]) -> None:
    """The least that Python needs for a table automaton."""
    table: dict[tuple[int, tuple[int, ...]], int] = {(0, (0,)): 0, (0, (1,)): 0, (0, (2,)): 0}
    state = 0
    for _, symbols, _ in events:
        state = table[state, symbols]


def feed_all(text: str, events: list[Fed]) -> None:
    run = Run(machine(text))
    assert run.feed_many(events) == len(events)


def rate(name: str, text: str, events: list[Fed]) -> None:
    feed_all(text, events[:10])
    ours = min(timed(lambda: feed_all(text, events)) for _ in range(3))
    least = min(timed(lambda: bare(events)) for _ in range(3))
    per_second = len(events) / ours
    print(f"{name:<34} {per_second / 1e6:6.2f} M events/s   {ours / least:5.1f} x a bare table automaton")


def memory(text: str, events: Callable[[int], Iterator[Fed]], count: int) -> None:
    """What a run holds after the events, however many there were."""
    run = Run(machine(text))
    run.feed_many(events(1_000))
    tracemalloc.start()
    run = Run(machine(text))
    run.feed_many(events(count))
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    head = f"memory after {count:,} events"
    print(f"{head:<34} {held / 1024:6.1f} KB, {len(run.slots)} events held")


def locked(rounds: int) -> Trace:
    """Two threads that take turns; every enqueue and dequeue is ordered by messages."""
    builder = TraceBuilder()
    builder.header([("P", {}), ("Q", {})])
    for number in range(rounds):
        builder.add("P", label="enqueue")
        builder.add("P", kind="send", msg=f"x{number}")
        builder.add("Q", kind="receive", msg=f"x{number}")
        builder.add("Q", label="dequeue")
        builder.add("Q", kind="send", msg=f"y{number}")
        builder.add("P", kind="receive", msg=f"y{number}")
    return builder.finish()


def whole(rounds: int) -> None:
    computation = Computation(locked(rounds))
    computation.edge_columns  # noqa: B018 - the order of a trace is found once, whatever is asked of it
    count = len(computation.trace)
    for language, text in (("expect", "(enqueue; dequeue)*"), ("never", "enqueue & dequeue")):
        found = machine(text)
        meaning = Meaning(found.expression, computation)
        start = process_time()
        if language == "expect":
            assert fitting(meaning, found).fits
        else:
            assert not list(occurrences(meaning, found))
        seconds = process_time() - start
        print(f"{language + ' ' + text:<34} {count / seconds / 1e6:6.2f} M events/s of the trace ({count:,})")


def followed(rounds: int) -> None:
    """The same two threads while they run: lines in, with all that has to be known of the order."""
    for language, text in (("expect", "(enqueue; dequeue)*"), ("never", "enqueue & dequeue")):
        growing = Growing(order="sync", remember=False)
        PathMonitor(growing, language, machine(text), are_all_spawned=True)
        lines = list(live_lines(rounds))
        start = process_time()
        for line in lines:
            growing.arrive(line)
        seconds = process_time() - start
        print(f"{'followed: ' + text:<34} {len(lines) / seconds / 1e6:6.2f} M lines/s ({len(lines):,})")


def live_lines(rounds: int) -> Iterator[dict[str, Any]]:
    yield {"p": "P", "kind": "spawn"}
    yield {"p": "Q", "kind": "start", "after": ["P:1"]}
    for number in range(rounds):
        yield {"p": "P", "label": "enqueue"}
        yield {"p": "P", "kind": "send", "msg": f"x{number}"}
        yield {"p": "Q", "kind": "receive", "msg": f"x{number}"}
        yield {"p": "Q", "label": "dequeue"}
        yield {"p": "Q", "kind": "send", "msg": f"y{number}"}
        yield {"p": "P", "kind": "receive", "msg": f"y{number}"}


def main() -> None:
    parser = argparse.ArgumentParser(description="recognition rates of path expressions")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    size = 100_000 if parser.parse_args().quick else 1_000_000
    rate("open; (read + write)*; close", "open; (read + write)*; close", list(chain(size)))
    rate("(read & write)*", "(read & write)*", list(pairs(size)))
    memory("(read & write)*", pairs, size)
    whole(size // 50)
    followed(size // 200)


if __name__ == "__main__":
    main()
