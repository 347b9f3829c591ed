"""`possibly diff RUN RUN`: what tells two runs apart. Exit status 0 if nothing does, else 1."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from possibly.views.cli.files import loaded
from possibly.views.text.words import count_text, plain, value_text

if TYPE_CHECKING:
    from possibly.session.checking.diff import Difference, Parting
    from possibly.trace.model import Event

NAME = "diff"
SUMMARY = "compare two runs: orders, values, races, where they part"
DESCRIPTION = (
    "Compares two traces process by process: which processes are in one alone, where a process did something "
    "else, where the recorded orders part, which last values and which races differ."
)
EXAMPLES = """\
examples:
  possibly diff good.jsonl bad.jsonl
  possibly diff run.jsonl failing.jsonl --json
exit status:
  0  the runs are the same    1  they differ
"""
MOST = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="RUN", help="a trace file")
    parser.add_argument("second", metavar="RUN", help="another one")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    from possibly.session.checking.diff import difference

    found = difference(loaded(arguments.first, None), loaded(arguments.second, None))
    if arguments.json:
        print(json.dumps(document(found)))
    else:
        for line in lines(found, arguments.first, arguments.second):
            print(plain(line))
    return 0 if found.is_empty else 1


def lines(found: Difference, first: str, second: str) -> Iterator[str]:
    if found.is_empty:
        yield "the runs are the same"
        return
    for file, names in ((first, found.only_first), (second, found.only_second)):
        if names:
            yield f"only in {file}: {', '.join(names)}"
    if found.turn is not None:
        turn = found.turn
        yield f"the same for {count_text(turn.after, 'event')}, then the orders part:"
        yield f"  {first}: {_told(turn.first)}"
        yield f"  {second}: {_told(turn.second)}"
    for parting in found.partings[:MOST]:
        yield f"{parting.process} does something else from its event {parting.position} on:"
        yield f"  {first}: {_told(parting.first)}"
        yield f"  {second}: {_told(parting.second)}"
    for name, one, other in found.values[:MOST]:
        yield f"{name} ends as {_value(one)} in {first}, as {_value(other)} in {second}"
    for file, races in ((first, found.races_first), (second, found.races_second)):
        for race in races[:MOST]:
            yield f"race in {file} only: {race}"


def _told(event: Event | None) -> str:
    if event is None:
        return "it has ended"
    values = ", ".join(
        f"{name} = {value_text(value)}" for name, value in {**event.set, **event.write}.items()
    )
    words = " ".join(filter(None, (event.kind, event.fn, event.label, event.at)))
    return f"{event.process} {words}" + (f"  {values}" if values else "")


def _value(value: Any) -> str:
    from possibly.session.checking.diff import MISSING

    return "nothing" if value is MISSING else value_text(value)


def document(found: Difference) -> dict[str, Any]:
    from possibly.session.checking.diff import MISSING

    def event(each: Event | None) -> dict[str, Any] | None:
        if each is None:
            return None
        return {"event": each.name, "process": each.process, "kind": each.kind, "at": each.at}

    def parting(each: Parting) -> dict[str, Any]:
        return {
            "process": each.process,
            "position": each.position,
            "first": event(each.first),
            "second": event(each.second),
        }

    turn = found.turn
    return {
        "same": found.is_empty,
        "only_first": list(found.only_first),
        "only_second": list(found.only_second),
        "order": None
        if turn is None
        else {"after": turn.after, "first": event(turn.first), "second": event(turn.second)},
        "partings": [parting(each) for each in found.partings],
        "values": [
            {
                "variable": name,
                **({} if one is MISSING else {"first": one}),
                **({} if other is MISSING else {"second": other}),
            }
            for name, one, other in found.values
        ],
        "races_first": list(found.races_first),
        "races_second": list(found.races_second),
    }
