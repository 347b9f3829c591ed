"""What predicates of the program answered, by what they read: a process need not be asked twice.

Law: a predicate is a function of what it reads of the system's state. So if a state has the same values in
all the places that an evaluation read, the answer is the same, whatever else is different.
"""

from __future__ import annotations

from typing import Any

from possibly.control.macro.inside.state import Read, SystemState

Answer = bool | str
"""The truth, or why there is none."""


class Answers:
    """Of one predicate."""

    def __init__(self) -> None:
        self._known: dict[tuple[Read, ...], dict[tuple[str, ...], Answer]] = {}

    def find(self, state: SystemState) -> Answer | None:
        """None: it has to be asked."""
        for reads, answers in self._known.items():
            found = answers.get(_values(state, reads))
            if found is not None:
                return found
        return None

    def reads(self, state: SystemState) -> list[Read]:
        """What the answer that is known was found by."""
        return next(list(reads) for reads, found in self._known.items() if _values(state, reads) in found)

    def add(self, state: SystemState, reads: list[Read], answer: Answer) -> None:
        key = tuple(dict.fromkeys(reads))
        self._known.setdefault(key, {})[_values(state, key)] = answer


def _values(state: SystemState, reads: tuple[Read, ...]) -> tuple[str, ...]:
    return tuple([repr(_value(state, read)) for read in reads])


def _value(state: SystemState, read: Read) -> Any:
    try:
        return state.read(read)
    except AttributeError:
        return AttributeError
