"""`possibly attach PID`: who waits for whom in a running Python program."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from possibly.views.text.words import plain

if TYPE_CHECKING:
    from possibly.session.attaching.attach import Attached

NAME = "attach"
SUMMARY = "say who waits for whom in a running Python program"
DESCRIPTION = (
    "Looks into a running Python program, without changing it, and tells what its threads and asyncio tasks "
    "wait for and who holds it. Needs gdb, or Python 3.14 on both sides."
)
EXAMPLES = """\
examples:
  possibly attach 4711
  possibly attach 4711 --json
  possibly attach 4711 --dot | dot -Tsvg > waits.svg
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pid", metavar="PID", type=int, help="the number of the process")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--dot", action="store_true", help="print the graph of who waits for whom in DOT")


def run(arguments: argparse.Namespace) -> int:
    from possibly.session.attaching.attach import attach

    found = attach(arguments.pid)
    if arguments.json:
        print(json.dumps(document(found), ensure_ascii=False))
    else:
        for line in dot_lines(found) if arguments.dot else lines_of(found):
            print(line)
    return 1 if found.cycles else 0


def lines_of(found: Attached) -> Iterator[str]:
    """The report for a reader."""
    for cycle in found.cycles:
        words = f"{', '.join(cycle[:-1])} and {cycle[-1]} wait for each other"
        yield plain(f"DEADLOCK  {words if cycle[1:] else f'{cycle[0]} waits for itself'}")
    for each in found.waiters:
        wanted = f"waits for {each.waits_for}" if each.waits_for else "runs, or waits outside Python"
        verb = "computed by" if "Future" in wanted else "held by"
        holders = f", {verb} {' or '.join(each.holders)}" if each.holders and "end of" not in wanted else ""
        where = f"  {each.where[0]}" if each.where else ""
        yield plain(f"{each.kind} {each.name}  {wanted}{holders}{where}")


def dot_lines(found: Attached) -> Iterator[str]:
    """The graph in DOT; what nobody holds (an item of a queue, an event) is a box of its own."""
    inside = {name for cycle in found.cycles for name in cycle}
    yield "digraph waits {"
    for each in found.waiters:
        name, wanted = _quoted(each.name), _quoted(each.waits_for or "")
        colour = ", color=red" if each.name in inside else ""
        yield f"  {name} [label={name}{colour}];"
        for other in each.holders:
            yield f"  {name} -> {_quoted(other)} [label={wanted}{colour}];"
        if each.waits_for and not each.holders:
            box = _quoted(f"{each.name}: {each.waits_for}")
            yield f"  {box} [label={wanted}, shape=box];"
            yield f"  {name} -> {box};"
    yield "}"


def _quoted(text: str) -> str:
    return json.dumps(plain(text), ensure_ascii=False)


def document(found: Attached) -> dict[str, Any]:
    """The report for a program."""
    return {
        "pid": found.pid,
        "verdict": "violated" if found.cycles else "holds",
        "deadlocks": [list(cycle) for cycle in found.cycles],
        "waiters": [
            {
                "name": each.name,
                "kind": each.kind,
                "where": list(each.where),
                "waits_for": each.waits_for,
                "holders": list(each.holders),
            }
            for each in found.waiters
        ],
    }
