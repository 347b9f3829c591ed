"""`possibly coverage TRACE...`: what a set of runs has shown, and what it has not.

With a specification its properties are checked in all runs, and the exit status is that of `check`; without
one it is 0.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from possibly.views.cli.files import loaded
from possibly.views.cli.properties import (
    add_limit_arguments,
    add_property_arguments,
    has_properties,
    options_of,
    specification_of,
)
from possibly.views.cli.recorded.many import expanded
from possibly.views.text.words import count_text, plain

if TYPE_CHECKING:
    from possibly.session.checking.coverage import Asked, Coverage, State, Turn, Use

NAME = "coverage"
SUMMARY = "say which states, orders and classes of interleavings a set of runs has shown, and which not"
DESCRIPTION = (
    "Reads a set of runs and says how many classes of interleavings they are, which turns at locks, shared "
    "variables and mailboxes were seen one way round only, and, for the properties given, which combinations "
    "of their atoms a run passed, which only another order of a run passes, and which none does."
)
EXAMPLES = """\
examples:
  possibly coverage runs/*.jsonl
  possibly coverage runs/*.jsonl --spec bank.spec
  possibly coverage 'runs/**/*.jsonl' --ctl 'AG(!(P1.cs & P2.cs))' --json
"""
LISTED = 12
"""Lines of one kind that are shown unless all are asked for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("traces", metavar="TRACE", nargs="+", help="a trace file, or a pattern")
    add_property_arguments(parser)
    add_limit_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--full", action="store_true", help="leave nothing out, however long the lists are")


def run(arguments: argparse.Namespace) -> int:
    from possibly.logic.specification import Specification
    from possibly.session.checking.coverage import Coverage, cover

    specification = specification_of(arguments) if has_properties(arguments) else Specification()
    options = options_of(arguments, explain=False)
    found = Coverage()
    for path in expanded(arguments.traces):
        cover(found, path, loaded(path, None), specification, options)
    if arguments.json:
        print(json.dumps(document(found)))
    else:
        for line in lines(found, sys.maxsize if arguments.full else LISTED):
            print(plain(line))
    return status(found)


def status(found: Coverage) -> int:
    from possibly.verdict.model import Truth

    asked = found.properties.values()
    if any(each.verdicts[Truth.VIOLATED] for each in asked):
        return 1
    return 3 if any(each.verdicts[Truth.UNKNOWN] for each in asked) else 0


# ---- text ---------------------------------------------------------------------------------------


def lines(found: Coverage, listed: int = LISTED) -> Iterator[str]:
    classes = count_text(len(found.classes), "class")
    yield f"{count_text(found.runs, 'run')} of {classes} of interleavings"
    yield f"  The next run is of a class not seen yet with a chance of about {found.chance_of_new:.0%}."
    yield from _shortened((_class_line(runs) for runs in found.classes.values() if len(runs) > 1), listed)
    yield from _turn_lines(found, listed)
    for asked in found.properties.values():
        yield from _property_lines(asked, listed)


def _class_line(runs: list[str]) -> str:
    return f"  the same: {', '.join(runs)}"


def _turn_lines(found: Coverage, listed: int) -> Iterator[str]:
    if not found.turns:
        return
    pairs = {frozenset((turn, turn.reverse)) for turn in found.turns}
    one_sided = found.one_sided
    yield ""
    yield (
        f"turns: {len(pairs)} pairs of uses of one thing by two processes, "
        f"{len(pairs) - len(one_sided)} seen both ways round"
    )
    yield from _shortened((_turn_line(found, turn) for turn in one_sided), listed)


def _turn_line(found: Coverage, turn: Turn) -> str:
    run = found.possible.get(turn.reverse)
    other = "never" if run is None else f"possible in another order of {run}"
    return (
        f"  {turn.thing}: {_use(turn.first)} before {_use(turn.second)} in "
        f"{count_text(found.turns[turn], 'run')}, the other way round: {other}"
    )


def _use(use: Use) -> str:
    return use.process if use.place is None else f"{use.process} ({use.place})"


def _property_lines(asked: Asked, listed: int) -> Iterator[str]:
    verdicts = ", ".join(
        f"{truth.value} in {count_text(count, 'run')}" for truth, count in asked.verdicts.items() if count
    )
    yield ""
    yield f"{asked.name}  {asked.text}"
    first = "" if asked.violated_by is None else f"; first violated in {asked.violated_by}"
    yield f"  {verdicts}{first}"
    if not asked.states:
        return
    states = sorted(asked.states.values(), key=lambda state: (_is_recorded(state), -state.seen))
    yield f"  {sum(map(_is_recorded, states))} of {count_text(len(states), 'state')} recorded"
    if asked.left_out:
        yield f"  {asked.left_out} or more atoms of it are not told"
    yield from _shortened((f"  {_state_text(state)}" for state in states), listed)


def _is_recorded(state: State) -> bool:
    from possibly.session.checking.coverage import Seen

    return state.seen is Seen.RECORDED


def _state_text(state: State) -> str:
    from possibly.session.checking.coverage import Seen

    match state.seen:
        case Seen.RECORDED:
            return f"recorded  {state.text}  ({state.run})"
        case Seen.POSSIBLE:
            return f"possible  {state.text}  (another order of {state.run})"
        case Seen.NEVER:
            return f"never     {state.text}"
    return f"unknown   {state.text}  (raise --timeout or --max-cuts)"


def _shortened(told: Iterator[str], listed: int) -> Iterator[str]:
    every = list(told)
    yield from every[:listed]
    if len(every) > listed:
        yield f"  ... and {len(every) - listed} more (--full)"


# ---- JSON ---------------------------------------------------------------------------------------


def document(found: Coverage) -> dict[str, Any]:
    return {
        "runs": found.runs,
        "classes": list(found.classes.values()),
        "new": round(found.chance_of_new, 4),
        "turns": [_turn(found, turn) for turn in found.turns],
        "properties": [_asked(each) for each in found.properties.values()],
    }


def _turn(found: Coverage, turn: Turn) -> dict[str, Any]:
    return {
        "thing": turn.thing,
        "first": {"process": turn.first.process, "at": turn.first.place},
        "second": {"process": turn.second.process, "at": turn.second.place},
        "runs": found.turns[turn],
        "reverse": found.turns.get(turn.reverse, 0),
        "possible": found.possible.get(turn.reverse),
    }


def _asked(asked: Asked) -> dict[str, Any]:
    states = [
        {"state": each.text, "seen": each.seen.name.lower(), "run": each.run}
        for each in asked.states.values()
    ]
    return {
        "name": asked.name,
        "formula": asked.text,
        "verdicts": {truth.value: count for truth, count in asked.verdicts.items() if count},
        "violated_by": asked.violated_by,
        "states": states,
        "left_out": asked.left_out,
    }
