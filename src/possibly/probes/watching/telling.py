"""What a site tells of what is watched, and who makes it: the recorder, which the probes do not know.

A site is an object among the constants of the code. What it is given depends on its kind; one that
*exchanges* gives back what takes the place of what it was given, which nearly always is the same object.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from possibly.records import dataclass


class Telling(IntEnum):
    """What is told. The first ten are the numbers of entries in the log."""

    READ = 1
    """A shared variable is about to be read: given the site itself."""
    WRITE = 2
    """A shared variable gets a value: given that."""
    MEMBER_READ = 3
    """An attribute is about to be read: given the object."""
    MEMBER_WRITE = 4
    """An attribute gets a value: given object and value."""
    SET = 5
    """A local variable gets a value: given that."""
    ENTER = 6
    """A function begins: given the values of its parameters, or the site itself."""
    EXIT = 7
    """It ends: given the site itself."""
    MARK = 8
    """A label is passed."""
    ITEM_READ = 9
    """Given container and key."""
    ITEM_WRITE = 10
    """Given the new value, the container and the key."""
    ITEM_DELETE = 11
    """Given container and key."""
    COUNTED_ENTER = 12
    """A function begins that is told as long as it is not called too often: given the site itself."""
    COUNTED_EXIT = 13
    STORED = 14
    """An attribute got its value: given the site itself."""
    CONTAINER = 15
    """Exchanges a container that is about to get or to lose an item."""
    OWNED_CONTAINER = 16
    """The same of an attribute: given (object, container)."""
    MUTATOR = 17
    """Exchanges the bound method of a container that changes it."""
    OWNED_MUTATOR = 18
    """The same of an attribute: given (object, method)."""
    OPERAND = 19
    """Exchanges what an operator may change in place."""
    FUNCTION = 20
    """Exchanges a function that gets what a watched variable holds."""
    CLASS = 21
    """A class was made: given that."""
    ITEM_MUTATOR = 22
    """Exchanges the bound method of a container whose items are variables."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a site is about."""

    kind: Telling
    line: int
    variable: str | None = None
    function: str | None = None
    """The function that begins or ends, or whose local the variable is."""
    label: str | None = None
    scope: int = 0
    """Of the variable that holds a container: the kind of entry that tells its new value; 0: is not known."""
    more: Any = None


SiteMaker = Callable[[Told], Any]
"""Makes the site."""
