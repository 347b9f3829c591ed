"""What counts: modules of the user in which every order is explored, and frameworks beneath in which none is.

Law: an order of two steps counts unless one of them is a framework's: it has a place in the source, and all
that it tells of are in code that was not named. Steps of the world (timers, data that arrives, faults) have
no place, and count; others without one do not. Frameworks beneath go on by turns, fairly, in one of the
orders in which they can; that what is named meets in other ones too, a few executions draw who goes on
before every search. This is no proof about other ones: which thread of a framework calls what is named, and
so which of its steps can come in another order at all, is as it was in these executions. Code of installed
packages beneath is not watched, and each of its calls is one step. A verdict names all this as what it rests
on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from possibly.control.execution import Execution
from possibly.control.schedulers.course import Course, Habit
from possibly.control.schedulers.dpor import Dpor
from possibly.control.tree import ExecutionTree

OF_THE_WORLD = frozenset({"arrive", "timer", "callback", "fault", "exit"})
"""Kinds of steps that no code does."""


class Within:
    """Says which steps count."""

    def __init__(self, names: Iterable[str], program: str = "") -> None:
        """Modules and packages by their names; the program itself counts in any case."""
        files = [name.replace(".", "/") for name in sorted(names)]
        own = [re.escape(each) for each in {program, os.path.abspath(program)} if program]
        pattern = [rf"(?:^|/){re.escape(each)}(?:/|\.py:)" for each in files] + [f"^{each}:" for each in own]
        self._counts = re.compile("|".join(pattern))

    def counts(self, kind: str, at: str, detail: Any) -> bool:
        """Whether the order of such a step counts that was done there, with what it told of itself."""
        turn = detail.get("turn", ()) if isinstance(detail, dict) else ()
        places = [place for place in (at, *(moment.get("at", "") for moment in turn)) if place]
        return any(map(self._counts.search, places)) if places else kind in OF_THE_WORLD


DRAWN, MOST_DRAWN = 6, 24
"""Executions in which it is drawn who goes on: before each search, and before all of them."""


class Searches:
    """Makes the explorers of one search after another."""

    def __init__(self, within: Within) -> None:
        self.within = within
        self.drawn = 0

    def make(self) -> WithinExplorer:
        return WithinExplorer(self)


class WithinExplorer:
    """Draws a few executions, then explores every order that counts."""

    def __init__(self, searches: Searches) -> None:
        self._searches = searches
        self._search = Dpor(counts=searches.within.counts)
        self._left = min(DRAWN, MOST_DRAWN - searches.drawn)
        self._is_drawing = False

    @property
    def tree(self) -> ExecutionTree:
        return self._search.tree

    def plan(self) -> Course | None:
        if self._is_drawing:  # it is over before anything else begins
            return None
        if not self._left:
            return self._search.plan()
        self._left -= 1
        self._searches.drawn += 1
        self._is_drawing = True
        return Course(habit=Habit.RANDOM, seed=self._searches.drawn)

    def learn(self, execution: Execution) -> None:
        if self._is_drawing:
            self._is_drawing = False
        else:
            self._search.learn(execution)


def assumption(names: Iterable[str]) -> str:
    """What a verdict rests on."""
    listed = ", ".join(sorted(names))
    beneath = f"all beneath goes on by turns, or as up to {MOST_DRAWN} executions drew it"
    return f"only orders of what {listed} does count: {beneath} (--within)"
