"""`possibly suggest TRACE`: properties that hold in a run, ready to be pasted into a specification file."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from possibly.views.cli.files import loaded
from possibly.views.text.words import plain

if TYPE_CHECKING:
    from possibly.session.checking.suggest import Suggestion

NAME = "suggest"
SUMMARY = "find properties that hold in a run, ready for a specification file"
DESCRIPTION = (
    "Tries the patterns (possibly patterns) on what a run has, its variables, functions, messages and groups "
    "of processes, and prints those that hold in every order of it, the most telling first; after these, as "
    "comments, those that hold in the recorded order alone."
)
EXAMPLES = """\
examples:
  possibly suggest run.jsonl
  possibly suggest run.jsonl > bank.spec
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a trace file")
    parser.add_argument("--most", metavar="N", type=int, default=12, help="print at most N of each kind (12)")
    parser.add_argument("--time", metavar="SECONDS", type=float, default=20.0, help="search that long (20)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    from possibly.session.checking.suggest import suggestions

    found = suggestions(loaded(arguments.trace, None), arguments.time, arguments.most)
    if arguments.json:
        print(json.dumps({"trace": arguments.trace, "suggestions": [_document(each) for each in found]}))
        return 0
    for line in lines(arguments.trace, found):
        print(line)
    return 0


def lines(trace: str, found: list[Suggestion]) -> list[str]:
    """A specification file."""
    everywhere = [each.line for each in found if each.everywhere]
    elsewhere = [each.line for each in found if not each.everywhere]
    text = [f"# {plain(trace)}: true in every order of this run"] if everywhere else []
    text += everywhere
    if elsewhere:
        text += ["# true in the recorded order only; another order of the same events breaks it:"]
        text += [f"# {line}" for line in elsewhere]
    return text or [f"# {plain(trace)}: no pattern fits; more is recorded with --watch and --calls"]


def _document(each: Suggestion) -> dict[str, object]:
    return {"line": each.line, "formula": each.formula, "everywhere": each.everywhere}
