"""A log that is followed by the process that writes it, event by event, while the program runs.

Law: an event is handed out where it is looked at (`looking`). Only this process of the operating system is
followed; the logs of others are merged when the run is over.

Everything else is the log's: the trace that is written in the end is the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from possibly.recorder import entries as e
from possibly.recorder.looking import Entry, LookingLog
from possibly.recorder.merging.merge import Merge
from possibly.recorder.merging.sources import Source, add_entry
from possibly.recorder.recording import Recording, Settings

Line = Callable[[Mapping[str, Any]], None]
Lost = Callable[[str], None]
"""Takes the reason why no further event will be handed out."""


def _say_lost(reason: str) -> None:
    os.write(2, f"possibly: the program cannot be followed from here on: {reason}\n".encode(errors="replace"))


class _Lines:
    """Hands lines out; those of a joint event say who takes part."""

    def __init__(self, line: Line) -> None:
        self._hand_out = line
        self._together: list[Mapping[str, Any]] = []

    def header(self, shared: Mapping[str, Any]) -> None:
        """Nobody asks for it: the program has only begun."""

    def add_fields(self, fields: Mapping[str, Any]) -> None:
        if "meet" in fields:
            self._together.append(fields)
        else:
            self._hand_out(fields)

    def flush(self) -> None:
        together, self._together = self._together, []
        parties = [each["p"] for each in together]
        for each in together:
            self._hand_out({**each, "parties": parties})


class Follower:
    """Entries of one log to lines of a trace, as they come."""

    def __init__(self, key: str, line: Line) -> None:
        self.source = Source(key)
        self._lines = _Lines(line)
        self._merge = Merge([self.source], self._lines)
        self._used: set[int] = set()
        self._uses: dict[int, int] = {}

    def define(self, entry: Entry) -> None:
        """A definition, which belongs to no event."""
        add_entry(self.source, entry)
        if entry[0] == e.THING:
            self._merge.things[self.source.key, entry[1]] = entry[2]
        elif entry[0] == e.NAMED:
            self._merge.naming.objects.pop((self.source.key, entry[1]), None)

    def is_new_thing(self, entry: Entry) -> bool:
        """Whether a primitive is used for the first time: by now a global may be bound to it."""
        things = {part for part in _things(entry) if type(part) is int} - self._used
        self._used |= things
        return bool(things)

    def is_worth_a_look(self, entry: Entry) -> bool:
        """Whether a global may be bound by now to an object without a name: asked less and less often."""
        found = False
        for number in _objects(entry):
            if number not in self.source.objects:
                count = self._uses[number] = self._uses.get(number, 0) + 1
                found = found or count & (count - 1) == 0
        return found

    def feed(self, entry: Entry) -> None:
        """An entry; what events it completes are handed out."""
        add_entry(self.source, entry)
        if self.source.events:
            self._merge.go_on(is_over=True)
            self._lines.flush()
            self.source.events.clear()
            self.source.position = 0

    def process_name(self, number: int) -> str:
        """What the events of a process are called by."""
        key = self.source.key, number
        return self._merge.naming.names.get(key) or self.source.processes.get(number, f"process-{number}")


def _things(entry: Entry) -> list[Any]:
    """The numbers in an entry that may be those of primitives."""
    if entry[0] == e.SYNC and entry[3] not in ("new", "units"):
        return [entry[4], entry[5]]
    if entry[0] in (e.ENTER, e.EXIT) and len(entry) > 3 and entry[3]:
        return [told[1] for told in entry[3] if isinstance(told, tuple) and told[0] == e.THING_ARGUMENT]
    return []


def _objects(entry: Entry) -> list[int]:
    """The numbers of the objects in an entry."""
    if entry[0] in (e.MEMBER_READ, e.MEMBER_WRITE, e.ITEM_READ, e.ITEM_WRITE):
        return [entry[3]]
    if entry[0] in (e.ENTER, e.EXIT) and len(entry) > 3 and entry[3]:
        return [told[1] for told in entry[3] if isinstance(told, tuple) and told[0] == e.OBJECT_ARGUMENT]
    return []


class FollowedLog(LookingLog):
    """A log whose events are handed to `line` as they happen."""

    def __init__(self, folder: str, name: str, parent: str, line: Line, lost: Lost = _say_lost) -> None:
        self._lost = lost
        self._looked: list[Entry] = []
        self._defined: list[Entry] = []
        self.follower: Follower | None = None
        super().__init__(folder, name, parent)
        self.follower = Follower(self.key, line)

    @property
    def _definitions(self) -> list[Entry]:
        return self._defined

    @_definitions.setter
    def _definitions(self, fresh: list[Entry]) -> None:
        """A flush takes the definitions away: before that they are passed on."""
        if self.follower is not None:
            for definition in self._defined:
                self.follower.define(definition)
        self._defined = fresh

    # ---- handing out ----------------------------------------------------------------------------

    def look_at_new(self) -> None:
        """Hands the events out that are new."""
        while self.entries:
            entry = self.entries.pop(0)
            self._looked.append(entry)
            self._hand_out(entry)

    def _hand_out(self, entry: Entry) -> None:
        follower = self.follower
        if follower is None:
            return
        try:
            self._told_to(follower, entry)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with us, the program goes on
            self.follower = None
            self._lost(repr(error))

    def _told_to(self, follower: Follower, entry: Entry) -> None:
        # A prepared entry has its head in a tuple of its own.
        plain = self._plain((*entry[0], entry[1]) if type(entry[0]) is tuple else entry)
        if follower.is_worth_a_look(plain):
            self._has_new = True
        if self._has_new:
            self._name_objects()
        if follower.is_new_thing(plain):
            self._name_things()
        for definition in self._definitions:
            follower.define(definition)
        follower.feed(plain)

    def _take(self) -> tuple[list[Entry], bytes]:
        self.look()
        count = len(self._looked)
        found = self._looked[:count]
        del self._looked[:count]
        return found, b""

    def after_fork_in_child(self, name: str) -> None:
        """The child of a fork is another process: it is recorded, and followed by nobody."""
        self._looked.clear()
        self.follower = None
        super().after_fork_in_child(name)


class FollowedRecording(Recording):
    """A recording whose events are handed to `line` as they happen."""

    log: FollowedLog

    def __init__(self, settings: Settings, line: Line, lost: Lost = _say_lost) -> None:
        log = FollowedLog(settings.folder, settings.name, settings.parent, line, lost)
        super().__init__(settings, log)
