"""Petri nets in files: JSON in the form in which `possibly paths --json` prints the net of an expression.

    {"initial": [1, 0], "final": [0, 1], "transitions": [{"event": "a", "inputs": [0], "outputs": [1]}]}

Places are numbered from 0; `initial` and `final` say how many tokens each holds.
"""

from __future__ import annotations

import json
from typing import Any

from possibly.errors import PossiblyError
from possibly.logic.paths.nets.net import Marking, Net, NetTransition

MOST_PLACES, MOST_TRANSITIONS, MOST_TOKENS = 200, 200, 100
"""Markings are visited, and their number grows with these."""


def read_net(text: str, file: str) -> Net:
    """The net of a file; an error says what is wrong with it."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise PossiblyError("not a JSON document", file=file, line=line) from None
    try:
        return _net(data)
    except ValueError as error:
        raise PossiblyError(f"not a net: {error}", file=file) from None


def _net(data: Any) -> Net:
    fields = _object(data, "the document")
    initial = _numbers(fields.get("initial"), '"initial"', MOST_TOKENS)
    final = _numbers(fields.get("final"), '"final"', MOST_TOKENS)
    if not initial or len(initial) != len(final) or len(initial) > MOST_PLACES:
        raise ValueError(f'"initial" and "final" are lists of one number a place, {MOST_PLACES} at most')
    rows = fields.get("transitions")
    if not isinstance(rows, list) or len(rows) > MOST_TRANSITIONS:
        raise ValueError(f'"transitions" is a list, of {MOST_TRANSITIONS} at most')
    return Net(len(initial), tuple([_transition(row, len(initial)) for row in rows]), initial, final)


def _transition(data: Any, places: int) -> NetTransition:
    fields = _object(data, "a transition")
    event = fields.get("event")
    if not isinstance(event, str | None):
        raise ValueError('"event" is a name')
    ends = [
        _numbers(fields.get(name, []), f'"{name}"', places - 1) for name in ("inputs", "outputs", "empty")
    ]
    return NetTransition(event, *ends)


def _object(data: Any, what: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"{what} is no object")
    return data


def _numbers(data: Any, what: str, most: int) -> Marking:
    is_list = isinstance(data, list)
    if not is_list or not all(type(each) is int and 0 <= each <= most for each in data):
        raise ValueError(f"{what} is a list of numbers from 0 to {most}")
    return tuple(data)
