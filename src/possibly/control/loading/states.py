"""What watched packages keep in their modules and classes, named before a second task can touch it.

Law: a container or an object that stood there before the program began was made by nobody whom we saw. It is
named after the variable or the attribute that holds it, at the last moment at which only one task runs. So
its name does not depend on who is the first to touch it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from possibly.control.loading import packages
from possibly.control.runtime.things import CONTAINER, INSTANCE, OPAQUE, Named, Things, is_a, module_of

KEPT = (CONTAINER, INSTANCE, OPAQUE)
DEEPEST = 2
"""So many containers inside one another are named."""
MOST = 200
"""Of a container, so many items at most."""


def name_all(things: Things) -> None:
    """Names what is not named yet, in an order that is the same in every execution."""
    for module in sorted(each for each in list(sys.modules) if packages.is_watched(each)):
        space = getattr(sys.modules[module], "__dict__", {})
        for name, value in _variables(module, dict(space)):
            _name(things, value, name, 0)


def _variables(module: str, space: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for word in sorted(space):
        value = space[word]
        if not is_a(value, type):
            yield f"{module}.{word}", value
        elif module_of(value) == module:
            held = dict(value.__dict__)
            yield from ((f"{module}.{word}.{each}", held[each]) for each in held if not _is_special(each))


def _is_special(name: str) -> bool:
    return name.startswith("__")


def _name(things: Things, value: Any, name: str, depth: int) -> None:
    kind = things.kind(value)
    if kind not in KEPT or things.known(value) is not None:
        return
    things.call(value, Named(name, name, None, name))
    if depth < DEEPEST and kind == CONTAINER:
        for key, held in _items(value):
            _name(things, held, f"{name}.{key}", depth + 1)


def _items(value: Any) -> list[tuple[str, Any]]:
    if type(value) is dict and len(value) <= MOST:
        return [(key, held) for key, held in value.items() if type(key) is str]
    if type(value) is list and len(value) <= MOST:
        return [(str(number), held) for number, held in enumerate(value)]
    return []
