"""Breakpoints: lines, conditions, temporal formulas, and what goes wrong.

A line is met when an event of that line happens. A condition is a state predicate. A function breakpoint is a
formula: a state predicate stops where it becomes true on the way; a temporal one, such as
`F(x == 2 & inside(P1, f))`, is where `continue` goes by a temporal step.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from possibly.errors import PossiblyError
from possibly.logic.parser import parse
from possibly.session.debugging.walking import Walk
from possibly.views.formats.places import Locator

FAILURE = "failure"
FILTERS = [{"filter": FAILURE, "label": "What goes wrong", "default": True}]


@dataclass(slots=True)
class Stops:
    lines: dict[str, dict[int, str]] = field(default_factory=dict)
    """For each file its lines with their conditions, empty if there is none."""
    predicates: list[str] = field(default_factory=list)
    temporal: list[str] = field(default_factory=list)
    at_failure: bool = True

    def set_formulas(self, texts: list[str]) -> list[str | None]:
        """Takes function breakpoints; for each what is wrong with it, if anything is."""
        self.predicates, self.temporal = [], []
        return [self._add(text) for text in texts]

    def _add(self, text: str) -> str | None:
        try:
            parse(text, "predicate")
            self.predicates.append(text)
        except PossiblyError:
            try:
                parse(text, "ltl")
            except PossiblyError as error:
                return str(error)
            self.temporal.append(text)
        return None

    def reason(self, walk: Walk, was_true: set[str]) -> str | None:
        """Why to stop here, after a step."""
        if self.at_failure and walk.ending is not None and walk.position == walk.ending.moment:
            return "exception"
        if self._is_line(walk):
            return "breakpoint"
        now = {text for text in self.predicates if _is_true(walk, text)}
        new = now - was_true
        was_true.clear()
        was_true.update(now)
        return "function breakpoint" if new else None

    def _is_line(self, walk: Walk) -> bool:
        place = Locator((walk.folder, "")).place(walk.place()) if self.lines else None
        if place is None:
            return False
        condition = self.lines.get(os.path.realpath(place.file), {}).get(place.line)
        return condition is not None and (not condition or _is_true(walk, condition))


def _is_true(walk: Walk, text: str) -> bool:
    try:
        return walk.evaluate(text) is True
    except PossiblyError:
        return False
