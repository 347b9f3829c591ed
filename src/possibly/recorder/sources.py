"""Reading logs: the definitions and the events of each process of the operating system.

Definitions (sites, processes, objects) are kept apart from events, so their place in a log does not matter.
A log ends with its last whole piece.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterator
from typing import IO, Any

from possibly.recorder import entries as e
from possibly.recorder.packing import HEAD, unpacked
from possibly.records import dataclass, field

SUFFIX = ".log"
Entry = tuple[Any, ...]


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
    left_out: set[int] = field(default_factory=set)
    """Sites of functions that were called too often."""
    events: list[Entry] = field(default_factory=list)
    position: int = 0
    time: float = 0.0
    """When its newest passed action was: among what may come next, the oldest comes first."""
    held: bool = False
    """It waits for others at a joint event."""
    known: dict[Entry, tuple[str, list[str]]] = field(default_factory=dict)
    """Beginnings of entries -> their process, and the text of their lines around the value."""
    ends: dict[tuple[int, str, int], tuple[str, str]] = field(default_factory=dict)
    """(process, action, site) -> the text with which the lines of actions begin and end."""

    @property
    def is_done(self) -> bool:
        return self.position >= len(self.events)


def read_entries(path: str) -> Iterator[Entry]:
    """All entries of the whole pieces of a log."""
    with open(path, "rb") as file:
        yield from whole_pieces(file)


def whole_pieces(file: IO[bytes]) -> Iterator[Entry]:
    """The entries from here on; the file then stands before the first piece that is not whole yet."""
    while True:
        place = file.tell()
        head = file.read(HEAD.size)
        definitions, size, packed_size = HEAD.unpack(head) if len(head) == HEAD.size else (0, 1, 0)
        piece, packed = file.read(size), file.read(packed_size)
        if len(piece) < size or len(packed) < packed_size:
            file.seek(place)
            return
        told = marshal.loads(piece)
        yield from told[:definitions]
        yield from unpacked(told[definitions:], packed)


def read_sources(folder: str) -> list[Source]:
    """All logs in a folder, those first that were started by nobody else's."""
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(SUFFIX))
    sources = [_read_source(path) for path in sorted(paths, key=os.path.getmtime)]
    known = {source.key for source in sources}
    return sorted(sources, key=lambda source: source.header.get("parent", "") in known)


def _read_source(path: str) -> Source:
    found = Source(os.path.basename(path).removesuffix(SUFFIX))
    for entry in read_entries(path):
        if entry[0] < e.SITE or entry[0] == e.SYNC:
            found.events.append(entry)
        else:
            add_entry(found, entry)
    return found


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
        case e.LEFT_OUT:
            found.left_out.add(entry[1])
        case e.INITIAL:
            found.initial = entry[1]
        case _:
            found.events.append(entry)
