"""What sort of thing a name stands for: the one place that takes names of things apart.

A task is named by its ancestry (`0.2`), so such a name has digits and dots alone. A primitive is named by its
maker, a colon, its kind and a number (`0.1:lock3`; `_:exit` is nobody's), a part of it by more after that. An
object of the program is named by its maker, a colon and a number (`0.1:7`), its attributes and items by more
after that; a variable by its own name, in which no colon stands. So a name is read from its beginning: what
the program itself has chosen (keys, attributes) comes later, and may hold anything.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

_ANCESTRY = r"[0-9]+(?:\.[0-9]+)*"
_task = re.compile(_ANCESTRY)
_primitive = re.compile(rf"(?:_|{_ANCESTRY}):[^0-9]")
_unnamed = re.compile(
    rf"(?P<maker>{_ANCESTRY}):(?P<number>[0-9]+)(?P<part>.*)|~(?P<type>\w+)(?P<rest>.*)", re.DOTALL
)
_slot = re.compile(rf"((?:_|{_ANCESTRY}):~?[a-z_]+[0-9]+)#([0-9]+)")


NOBODYS = {"_:workers": "which worker is free"}
"""What has no maker and may stand in a report."""
LIFE = "_:lives of "
"""Begins the name of an object's life, before its own name."""


class Sort(Enum):
    TASK = "a task"
    PRIMITIVE = "a primitive, or a part of one"
    MEMORY = "a variable, or an object, attribute or item"


class Slot(NamedTuple):
    """A place in a queue: what is put there is what is taken from there."""

    queue: str
    number: int


def sort_of(thing: str) -> Sort:
    if _task.fullmatch(thing):
        return Sort.TASK
    return Sort.PRIMITIVE if _primitive.match(thing) else Sort.MEMORY


def unnamed_text(thing: str, tasks: dict[str, str]) -> str:
    """What to call memory that no variable has led to: by who made it, or by its type. Empty for others."""
    found = _unnamed.fullmatch(thing)
    if found is None:
        return ""
    if found["type"]:
        return f"a {found['type']}{_part(found['rest'])}"
    return f"object {found['number']} of {tasks.get(found['maker'], found['maker'])}{_part(found['part'])}"


def is_of_a_type(thing: str) -> bool:
    """Whether the name is that of all objects of a type which were there before the program."""
    return thing.startswith("~")


def _part(text: str) -> str:
    """What of an object; all of its items are the object itself."""
    return "" if text in ("[]", "[*]") else text


def slot_of(thing: str) -> Slot | None:
    found = _slot.fullmatch(thing)
    return Slot(found[1], int(found[2])) if found else None


def parent_of(task: str) -> str:
    """The task that started this one; nobody for the first."""
    return task.rpartition(".")[0]
