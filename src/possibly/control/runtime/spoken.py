"""What a specification speaks of: variables, and all that the containers in them hold.

Law: a variable has another value as soon as anything changes that can be seen through it: the list that it
holds, an item of that, a dictionary within an item. So every container that such a variable leads to is
watched (`leads`), to change one is to write the variable, and what the variable holds is told when that is
done.

Containers in variables that are spoken of are kept as long as these hold them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.things import CONTAINER, Things
from possibly.recorder.snapshot import snapshot

MOST = 1_000
"""So many containers of one variable are followed."""


class Spoken:
    """The variables of one execution that are spoken of and hold containers."""

    def __init__(self, things: Things) -> None:
        self._things = things
        self._held: dict[str, Any] = {}
        """Variable -> the container in it."""
        self._of: dict[str, list[str]] = {}
        """Variable -> the names of the containers that it leads to."""
        self.leads: dict[str, set[str]] = {}
        """Name of a container -> the variables that lead to it."""
        self._changed: dict[str, None] = {}
        """Variables that the running step changes."""

    def hold(self, variable: str, value: Any, kernel: Kernel) -> None:
        """The variable holds this from now on."""
        if self._things.kind(value) == CONTAINER or type(value) is tuple:
            self._held[variable] = value
        else:
            self._held.pop(variable, None)
        self._follow(variable, kernel)

    def _follow(self, variable: str, kernel: Kernel) -> None:
        for name in self._of.pop(variable, ()):
            self.leads[name].discard(variable)
        if variable in self._held:
            label = kernel.labels.get(variable, variable)
            names = self._of[variable] = list(self._names(self._held[variable], label, kernel))
            for name in names:
                self.leads.setdefault(name, set()).add(variable)

    def _names(self, value: Any, label: str, kernel: Kernel) -> Iterator[str]:
        pending, seen = [(value, label)], {id(value)}
        while pending and len(seen) < MOST:
            value, label = pending.pop()
            if self._things.kind(value) == CONTAINER:
                name = self._things.named(value, kernel, "").name
                if "#" in kernel.labels.get(name, "#"):  # it was made for an object that had no name yet
                    kernel.labels[name] = label
                yield name
            for key, each in _items(value):
                if id(each) not in seen and (self._things.kind(each) == CONTAINER or type(each) is tuple):
                    seen.add(id(each))
                    pending.append((each, f"{label}[{key!r}]"))

    def changed_by(self, footprint: tuple[Access, ...]) -> tuple[Access, ...]:
        """What else is written by whoever touches this: the variables that lead there."""
        things = (access.thing.partition("[")[0] for access in footprint if access.writes)
        found = dict.fromkeys(variable for thing in things for variable in sorted(self.leads.get(thing, ())))
        return tuple(Access(variable, True) for variable in found)

    def change(self, accesses: tuple[Access, ...]) -> None:
        """The running step is about to do that."""
        self._changed.update(dict.fromkeys(access.thing for access in accesses))

    def settle(self, kernel: Kernel) -> None:
        """What the running step, or the last moment of a turn, has changed is told."""
        if not self._changed:
            return
        found, self._changed = self._changed, {}
        for variable in found:
            self._follow(variable, kernel)
        values = {name: snapshot(self._held[name]) for name in found if name in self._held}
        if values:
            kernel.noted_too({"changed": values})

    def initial(self) -> dict[str, Any]:
        return {name: snapshot(value) for name, value in self._held.items()}


def _items(value: Any) -> list[tuple[Any, Any]]:
    """What a container holds, and where; no code of the program runs."""
    if isinstance(value, dict):
        return list(dict.items(value))
    if isinstance(value, list):
        return list(enumerate(list.__iter__(value)))
    if isinstance(value, tuple):
        return list(enumerate(tuple.__iter__(value)))
    return []
