"""On-line detection and slicing: what an event costs, beside computing everything again after each.

Recomputing after each of N events is measured at a few lengths and added up over all of them; what it costs
is the slice of the run so far from a trace that is already loaded, so loading is not held against it. The
last column is a ratio of this very run. Growth is the exponent b of time ~ events^b, fitted over doublings.
`--quick` takes smaller sizes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from math import log
from random import Random
from time import perf_counter
from typing import Any

from possibly.detection.online.monitor import Monitor, Possibly, open_vocabulary
from possibly.detection.online.slice import OnlineSlice
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.specification import Specification, property_from_text
from possibly.logic.syntax import Node
from possibly.order.computation import Computation
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import ONLINE_FIELDS
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.session.checking.check import Options
from possibly.session.watching.intake import Connection, Intake
from possibly.session.watching.watch import WatchedRun
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

Fields = dict[str, Any]
SAMPLES = 8


def random_lines(processes: int, events: int, messages: float = 0.2, seed: int = 1) -> list[Fields]:
    """Every event sets x, to 1 one time in ten on all processes but the last, where it never is."""
    random = Random(seed)
    names = [f"P{number}" for number in range(processes)]
    count = dict.fromkeys(names, 0)
    inbox: dict[str, list[str]] = {name: [] for name in names}
    lines: list[Fields] = []
    for number in range(events):
        name = random.choice(names)
        count[name] += 1
        is_true = name != names[-1] and random.random() < 0.1
        fields: Fields = {"p": name, "k": count[name], "set": {"x": int(is_true)}}
        if inbox[name] and random.random() < 2 * messages:
            fields |= {"kind": "receive", "msg": inbox[name].pop(0)}
        elif random.random() < messages:
            to = random.choice(names)
            fields |= {"kind": "send", "msg": f"m{number}", "to": [to]}
            inbox[to].append(f"m{number}")
        lines.append(fields)
    return lines


def shuffled(lines: Sequence[Fields], window: int, seed: int = 2) -> list[Fields]:
    """The lines as a network might deliver them: each up to `window` places late."""
    random = Random(seed)
    late = sorted(enumerate(lines), key=lambda entry: entry[0] + random.uniform(0, window))
    return [fields for _, fields in late]


def started(processes: int) -> Growing:
    return Growing([(f"P{number}", {"x": 0}) for number in range(processes)], remember=False)


def everywhere(growing: Growing) -> Node:
    """x is 1 on all processes: never so, so that no search may stop before the end."""
    return bind(
        parse(" & ".join(f"{name}.x == 1" for name in growing.processes), "ctl"), open_vocabulary(growing)
    ).formula


def in_bounds(growing: Growing) -> Node:
    """Regular with channels, and true again and again."""
    text = "P0.x == 0 & P1.x == 0 & transit(P0, P1) <= 3 & transit(P1, P0) <= 3"
    return bind(parse(text, "ctl"), open_vocabulary(growing)).formula


def arrived(growing: Growing, lines: Sequence[Fields]) -> float:
    begun = perf_counter()
    for fields in lines:
        growing.arrive(fields)
    return perf_counter() - begun


def detection(processes: int, lines: Sequence[Fields]) -> tuple[float, int]:
    """Seconds, and the entries kept at the end."""
    growing = started(processes)
    search = Possibly(growing, everywhere(growing))
    growing.follow(search.take)
    seconds = arrived(growing, lines)
    assert search.moment is None
    return seconds, search.size


def slicing(processes: int, lines: Sequence[Fields]) -> tuple[float, int]:
    growing = started(processes)
    slice_ = OnlineSlice(growing, in_bounds(growing))
    seconds = arrived(growing, lines)
    return seconds, sum(len(climb.changes) for climb in slice_._climbs)


def slicing_all(processes: int, lines: Sequence[Fields]) -> float:
    """The slice for x being 0 on all processes, which it is nine times in ten."""
    growing = started(processes)
    text = " & ".join(f"{name}.x == 0" for name in growing.processes)
    OnlineSlice(growing, bind(parse(text, "ctl"), open_vocabulary(growing)).formula)
    return arrived(growing, lines)


def followed(text: Callable[[Sequence[str]], str]) -> Callable[[int, Sequence[Fields]], tuple[float, int]]:
    """A formula over all processes, followed by a monitor and asked after every event."""

    def work(processes: int, lines: Sequence[Fields]) -> tuple[float, int]:
        growing = started(processes)
        formula = bind(parse(text(growing.processes), "ctl"), open_vocabulary(growing)).formula
        monitor = Monitor(growing, formula)
        begun = perf_counter()
        for fields in lines:
            growing.arrive(fields)
            _ = monitor.standing
        return perf_counter() - begun, 0

    return work


def all_of(names: Sequence[str], value: int) -> str:
    return " & ".join(f"{name}.x == {value}" for name in names)


PARTS: dict[str, Callable[[Sequence[str]], str]] = {
    "AF of a conjunction": lambda names: f"AF({all_of(names, 1)})",
    "E[p U q] of conjunctions": lambda names: f"E[{names[0]}.x != 2 U {all_of(names, 1)}]",
    "AG(p -> EF q)": lambda names: f"AG({names[0]}.x == 1 -> EF({names[1]}.x == 0))",
}


def watched(processes: int, lines: Sequence[Fields]) -> tuple[float, int]:
    """The whole way of `possibly watch` from bytes: decoding, checking, keeping, EF of a conjunction."""
    names = [f"P{number}" for number in range(processes)]
    found = property_from_text("ctl", f"EF({all_of(names, 1)})", "p")
    run = WatchedRun(Specification(properties=(found,)), Options())
    intake, connection = Intake(run), Connection("benchmark")
    header = {"format": "possibly-trace", "version": 1}
    header_line = json.dumps(header | {"processes": [{"name": name, "init": {"x": 0}} for name in names]})
    sent = [f"{header_line}\n".encode(), *(json.dumps(fields).encode() + b"\n" for fields in lines)]
    begun = perf_counter()
    for piece in range(0, len(sent), 100):
        intake.feed(connection, b"".join(sent[piece : piece + 100]))
    seconds = perf_counter() - begun
    assert run.events == len(lines)
    run.close()
    return seconds, 0


def order_alone(processes: int, lines: Sequence[Fields]) -> tuple[float, int]:
    return arrived(started(processes), lines), 0


# ---- the same from scratch --------------------------------------------------------------------------


def prefix(processes: int, lines: Sequence[Fields]) -> Trace:
    builder = TraceBuilder()
    builder.header([(f"P{number}", {"x": 0}) for number in range(processes)])
    for fields in lines:
        builder.add_fields({key: value for key, value in fields.items() if key not in ONLINE_FIELDS})
    return builder.finish()


def off_line(trace: Trace, node: Node, *, whole: bool) -> float:
    """Seconds for the order of a loaded trace and its slice: the least cut, or all of it."""
    begun = perf_counter()
    computation = Computation(trace)
    lattice = Lattice(computation)
    parts = Slicing(lattice, CutPredicates(lattice, Readings(computation))).alternatives(node)
    for part in parts or ():
        if part.least is not None and whole and part.greatest is not None:
            for process in range(len(computation.lengths)):
                for _ in part.irreducible(process):
                    pass
    return perf_counter() - begun


def recomputing(
    processes: int, lines: Sequence[Fields], make: Callable[[Growing], Node], whole: bool
) -> float:
    """Seconds for recomputing after each event, from samples at evenly spaced lengths."""
    node = make(started(processes))
    lengths = [len(lines) * (2 * number + 1) // (2 * SAMPLES) for number in range(SAMPLES)]
    each = [off_line(prefix(processes, lines[:length]), node, whole=whole) for length in lengths]
    return sum(each) * len(lines) / SAMPLES


# ---- the figures ------------------------------------------------------------------------------------


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of log seconds over log events, by least squares."""
    points = [(log(size), log(second)) for size, second in zip(sizes, seconds, strict=True)]
    middle = [sum(column) / len(points) for column in zip(*points, strict=True)]
    above = sum((x - middle[0]) * (y - middle[1]) for x, y in points)
    return float(above / sum((x - middle[0]) ** 2 for x, _ in points))


def row(what: str, figure: str, ratio: str = "") -> None:
    print(f"  {what:<52}{figure:>26}   {ratio}", flush=True)


def growth(
    what: str,
    work: Callable[[int, Sequence[Fields]], tuple[float, int]],
    processes: int,
    sizes: Sequence[int],
) -> None:
    seconds = []
    for size in sizes:
        lines = random_lines(processes, size)
        seconds.append(min(work(processes, lines)[0] for _ in range(2)))
    each = " ".join(f"{1e6 * second / size:.1f}" for size, second in zip(sizes, seconds, strict=True))
    row(
        f"{what}, {sizes[0]:,} to {sizes[-1]:,} events",
        f"{each} us",
        f"events^{exponent(sizes, seconds):.2f}",
    )


def against(
    what: str,
    work: Callable[[int, Sequence[Fields]], tuple[float, int]],
    make: Callable[[Growing], Node],
    processes: int,
    events: int,
    whole: bool,
) -> None:
    lines = random_lines(processes, events)
    seconds, _ = work(processes, lines)
    again = recomputing(processes, lines, make, whole)
    row(
        f"{what}, {events:,} events",
        f"{1e6 * seconds / events:.1f} us an event",
        f"{again / seconds:,.0f} x recomputing",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    size = 5_000 if parser.parse_args().quick else 20_000
    sizes = [size, 2 * size, 4 * size, 8 * size]
    print("microseconds an event as the run doubles, 10 processes")
    growth("order alone", order_alone, 10, sizes)
    growth("EF of a conjunction over all", detection, 10, sizes)
    growth("slice with channels, all J(e)", slicing, 10, sizes[:3])
    for what, text in PARTS.items():
        growth(what, followed(text), 10, sizes[:3])
    growth("possibly watch, EF of a conjunction", watched, 10, sizes[:3])
    print("a conjunction over all processes, EF unless said otherwise, as processes grow")
    for processes in (10, 100, 1_000):
        lines = random_lines(processes, 4 * size)
        seconds, kept = detection(processes, lines)
        row(
            f"{processes:,} processes",
            f"{1e6 * seconds / len(lines):.1f} us an event",
            f"{kept:,} entries kept",
        )
    for processes in (10, 100):
        lines = random_lines(processes, size)
        seconds = slicing_all(processes, lines)
        row(f"{processes:,} processes, slice with all J(e)", f"{1e6 * seconds / len(lines):.1f} us an event")
    lines = random_lines(10, 4 * size)
    late, _ = detection(10, shuffled(lines, 100))
    row("10 processes, lines up to 100 places late", f"{1e6 * late / len(lines):.1f} us an event")
    print("beside recomputing after each event, 10 processes")
    against("EF of a conjunction over all", detection, everywhere, 10, size, whole=False)
    against("slice with channels, all J(e)", slicing, in_bounds, 10, size, whole=True)


if __name__ == "__main__":
    main()
