"""Threads, stacks, variables and values as the protocol writes them.

Processes are threads, numbered from 1. A list or an object can be looked into: it gets a reference, which is
good until the next stop.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from possibly.session.debugging.walking import Walk
from possibly.views.formats.places import Locator
from possibly.views.text.words import plain, value_text

FRAMES = 1_000
"""Frames that a thread may have: the number of a frame is that of its thread times this, and its place."""
MOST_ITEMS = 1_000
Shown = dict[str, Any]


class References:
    """What can be looked into until the next stop."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self.owners: dict[int, str | None] = {}
        """By the number of a scope: the process whose variables it has, None for shared ones."""

    def clear(self) -> None:
        self._values.clear()
        self.owners.clear()

    def of(self, value: Any) -> int:
        """The number by which a list or an object is asked for; 0 for anything else."""
        if not isinstance(value, list | tuple | Mapping) or not value:
            return 0
        self._values.append(value)
        return len(self._values)

    def variables(self, number: int) -> list[Shown]:
        if not 0 < number <= len(self._values):
            return []
        value = self._values[number - 1]
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        return [self.variable(str(name), item) for name, item in list(pairs)[:MOST_ITEMS]]

    def variable(self, name: str, value: Any) -> Shown:
        return {"name": plain(name), "value": value_text(value), "variablesReference": self.of(value)}


def threads(walk: Walk) -> list[Shown]:
    return [{"id": number, "name": plain(name)} for number, name in enumerate(walk.processes, 1)]


def stack(walk: Walk, thread: int) -> list[Shown]:
    """The frames of a process, the innermost first."""
    process = walk.processes[thread - 1]
    locator = Locator((walk.folder, ""))
    found = []
    for number, frame in enumerate(walk.frames(process)[:FRAMES]):
        place = locator.place(frame.at)
        shown: Shown = {"id": thread * FRAMES + number, "name": plain(frame.name), "line": 0, "column": 0}
        if place is not None:
            path = os.path.abspath(place.file)
            shown |= {"line": place.line, "column": 1}
            shown["source"] = {"name": os.path.basename(path), "path": path}
        found.append(shown)
    return found


def scopes(walk: Walk, frame: int, references: References) -> list[Shown]:
    """The variables of the frame's process, and those that all share."""
    thread = frame // FRAMES
    process = walk.processes[thread - 1] if 0 < thread <= len(walk.processes) else ""
    values = walk.variables()
    lead = f"{process}."
    mine = {name[len(lead) :]: value for name, value in values.items() if name.startswith(lead)}
    shared = {name: values[name] for name in sorted(walk.system.vocabulary.shared) if name in values}
    found = [
        _scope("Locals", "locals", mine, references),
        _scope("Shared", "globals", shared, references),
    ]
    owners = zip(found, (process, None), strict=True)
    references.owners |= {int(scope["variablesReference"]): owner for scope, owner in owners}
    return found


def _scope(name: str, hint: str, values: Mapping[str, Any], references: References) -> Shown:
    return {
        "name": name,
        "presentationHint": hint,
        "variablesReference": references.of(dict(values)),
        "expensive": False,
    }


def order_text(walk: Walk) -> Sequence[str]:
    """The moves so far."""
    done = enumerate(walk.moves[: walk.position], 1)
    return [f"{number}  {move.name}  {move.text}" for number, move in done]


def steps(walk: Walk) -> list[Shown]:
    """The temporal stack: each formula with the moves that satisfied it."""
    return [
        {
            "formula": plain(step.formula),
            "start": step.start,
            "end": step.end,
            "moves": [plain(f"{move.name}  {move.text}") for move in walk.moves[step.start : step.end]],
        }
        for step in walk.stack()
    ]
