"""What a trace says of its own recording: which calls it tells, which not, and how to record them.

It stands in the header as `recorded`. A trace without it, written by hand or by another tool, says nothing of
the kind, and what it does not tell is taken as not done.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from possibly.records import dataclass

FIELD = "recorded"
CUT = "cut_off"
"""Stands in the header of a trace that has values of which a part was not kept."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The `recorded` field of a header."""

    functions: frozenset[str] = frozenset()
    """Functions whose calls are all told."""
    left_out: frozenset[str] = frozenset()
    """Functions that were called so often that their calls were not kept."""
    for_order: frozenset[str] = frozenset()
    """Variables of which only those accesses are told that order the run; their values are not."""
    program: tuple[str, ...] = ()
    """What was run, with its arguments."""
    accesses: bool = False
    """Every access to a shared variable is told."""
    unseen: frozenset[str] = frozenset()
    """Variables that had other values than those that are told: something changed them unseen."""

    def fields(self) -> dict[str, Any]:
        """As the header has it; what is empty is left out, but for the functions."""
        found: dict[str, Any] = {
            name: sorted(words) for name in _WORDS if (words := getattr(self, name)) or name == "functions"
        }
        found |= {"program": list(self.program)} if self.program else {}
        return {**found, "accesses": True} if self.accesses else found

    def again(self, *options: str) -> str:
        """The command that records the program with these options too."""
        return shlex.join(["possibly", "run", *options, *self.program])

    @property
    def watching(self) -> str:
        """The command that records a variable; `{}` stands for its name."""
        return f"possibly run --watch {{}} {shlex.join(self.program)}"


def recorded_of(header: Mapping[str, Any]) -> Recorded | None:
    """What a header says; None if it says nothing, or nothing that can be read."""
    fields = header.get(FIELD)
    if not isinstance(fields, dict):
        return None
    words: dict[str, Any] = {name: frozenset(_words(fields.get(name))) for name in _WORDS}
    accesses = fields.get("accesses") is True
    return Recorded(**words, program=_words(fields.get("program")), accesses=accesses)


_WORDS = ("functions", "left_out", "for_order", "unseen")
"""The fields that are sets of words."""


def _words(told: Any) -> tuple[str, ...]:
    return tuple([word for word in told if isinstance(word, str)]) if isinstance(told, list) else ()
