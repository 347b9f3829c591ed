"""Reading logs: the definitions and the events of each process of the operating system.

Definitions (sites, processes, objects) are kept apart from events, so their place in a log does not matter.
A log ends with its last whole piece.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterator
from operator import itemgetter
from typing import IO, Any, NamedTuple

from possibly.recorder import entries as e
from possibly.recorder.packing import HEAD, unpacked
from possibly.records import dataclass, field

SUFFIX = ".log"
Entry = tuple[Any, ...]


class Usual(NamedTuple):
    """What is said each time that a process does the same with the same lock or event at the same place."""

    entry: Entry
    process: str
    start: str
    end: str
    mark: tuple[str, Any]
    """What it leaves for others to follow, or follows."""
    leaves: bool


@dataclass(slots=True)
class Source:
    """One log: its definitions and its events."""

    key: str
    header: dict[str, Any] = field(default_factory=dict)
    sites: dict[int, Entry] = field(default_factory=dict)
    processes: dict[int, str] = field(default_factory=dict)
    objects: dict[int, Any] = field(default_factory=dict)
    classes: dict[int, str] = field(default_factory=dict)
    things: dict[int | str, str] = field(default_factory=dict)
    initial: dict[str, Any] = field(default_factory=dict)
    last: Entry = (e.LAST, (), ())
    unseen: list[Entry] = field(default_factory=list)
    """Accesses to variables that had a value which nobody told."""
    left_out: set[int] = field(default_factory=set)
    """Sites of functions that were called too often."""
    events: list[Entry] = field(default_factory=list)
    position: int = 0
    time: float = 0.0
    """When its newest passed action was: among what may come next, the oldest comes first."""
    now: float = 0.0
    """When its newest passed entry happened, where that is told."""
    held: bool = False
    """It waits for others at a joint event."""
    known: dict[Entry, tuple[str, list[str]]] = field(default_factory=dict)
    """Beginnings of entries -> their process, and the text of their lines around the value."""
    ends: dict[tuple[int, str, int], tuple[str, str]] = field(default_factory=dict)
    """(process, action, site) -> the text with which the lines of actions begin and end."""
    usual: dict[int, Usual] = field(default_factory=dict)
    """By the address of its entry, which many lines may share (`packing`), what is said each time."""

    @property
    def is_done(self) -> bool:
        """Whether all its events were taken."""
        return self.position >= len(self.events)


def read_entries(path: str) -> Iterator[Entry]:
    """All entries of the whole pieces of a log."""
    with open(path, "rb") as file:
        yield from whole_pieces(file)


def whole_pieces(file: IO[bytes]) -> Iterator[Entry]:
    """The entries from here on; the file then stands before the first piece that is not whole yet."""
    for definitions, entries in _pieces(file):
        yield from definitions
        yield from entries


def _pieces(file: IO[bytes]) -> Iterator[tuple[list[Entry], list[Entry]]]:
    """The definitions and entries of each piece."""
    while True:
        place = file.tell()
        head = file.read(HEAD.size)
        definitions, size, packed_size = HEAD.unpack(head) if len(head) == HEAD.size else (0, 1, 0)
        piece, packed = file.read(size), file.read(packed_size)
        if len(piece) < size or len(packed) < packed_size:
            file.seek(place)
            return
        told = marshal.loads(piece)
        yield told[:definitions], unpacked(told[definitions:], packed)


def read_sources(folder: str) -> list[Source]:
    """All logs in a folder, those first that were started by nobody else's."""
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(SUFFIX))
    sources = [_read_source(path) for path in sorted(paths, key=os.path.getmtime)]
    known = {source.key for source in sources}
    return sorted(sources, key=lambda source: source.header.get("parent", "") in known)


def _read_source(path: str) -> Source:
    found = Source(os.path.basename(path).removesuffix(SUFFIX))
    late: list[tuple[int, Entry]] = []
    others: list[int] = []
    number = 0
    with open(path, "rb") as file:
        for definitions, entries in _pieces(file):
            for entry in definitions:
                add_entry(found, entry)
            for place, entry in enumerate(entries, number):
                if entry[0] not in _ABOUT:
                    found.events.append(entry)
                    continue
                if entry[0] == e.SHARED:
                    late += [(each[0], for_order(*each[1:])) for each in entry[1]]
                else:
                    others.append(place)
                add_entry(found, entry)
            number += len(entries)
    if late:
        found.events = _with_late(found.events, _without(number, others), late)
    return found


def _without(count: int, others: list[int]) -> list[int]:
    """The places of a log that are events: all but those others."""
    left_out = frozenset(others)
    return [place for place in range(count) if place not in left_out]


def _with_late(events: list[Entry], stood: list[int], late: list[tuple[int, Entry]]) -> list[Entry]:
    """The events with those that were told late where they happened: after so many entries."""
    both = [(2 * number + 1, entry) for number, entry in zip(stood, events, strict=True)]
    both += [(2 * number, entry) for number, entry in late]
    both.sort(key=itemgetter(0))
    return [entry for _, entry in both]


def for_order(how: int, inner: Entry) -> Entry:
    """The access that was told for the order that it gives, with a kind that says so."""
    return (inner[0] + e.FOR_ORDER + (e.AT_ONCE if how in _AT_ONCE else 0), *inner[1:])


_AT_ONCE = (2, 3)
"""Changes and copies, as in `shadow`."""
_ABOUT = frozenset(
    {
        e.SITE, e.PROCESS, e.OBJECT, e.NAMED, e.THING, e.HEADER, e.SHARED, e.LEFT_OUT, e.INITIAL, e.UNSEEN,
        e.LAST,
    }
)  # fmt: skip
"""Entries that are no events, or not as they stand."""


def add_entry(found: Source, entry: Entry) -> None:
    match entry[0]:
        case e.SITE:
            found.sites[entry[1]] = entry
        case e.PROCESS:
            found.processes[entry[1]] = entry[2]
        case e.OBJECT:
            found.classes.setdefault(entry[1], entry[2])
        case e.NAMED:
            found.objects[entry[1]] = entry[2]
        case e.THING:
            found.things[entry[1]] = entry[2]
        case e.HEADER:
            found.header = entry[1]
        case e.SHARED:
            found.events.append(for_order(*entry[2:]))
        case e.LEFT_OUT:
            found.left_out.add(entry[1])
        case e.INITIAL:
            found.initial = entry[1]
        case e.UNSEEN:
            found.unseen.append(entry[1])
        case e.LAST:
            found.last = entry
        case _:
            found.events.append(entry)
