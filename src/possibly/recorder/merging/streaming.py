"""The events of a run that still goes on: the logs are followed as they grow, and merged as far as they tell.

Law: what is handed out is a beginning of the run, in an order in which it could have happened. An entry that
relies on something in a log that has not been flushed yet waits. The initial values of shared variables
are those given before the first process is started, so nothing is handed out before that.

A primitive or object is called by the global that it is bound to by then; in the trace of the whole run it
may have the name that it got later.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import IO, Any

from possibly.recorder import entries as e
from possibly.recorder.merging.merge import Merge
from possibly.recorder.merging.sources import SUFFIX, Source, add_entry, whole_pieces

Line = Callable[[Mapping[str, Any]], None]


class _Lines:
    """Hands events out, with what lines need that arrive by themselves."""

    def __init__(self, line: Line) -> None:
        self._hand_out = line
        self._counts: dict[str, int] = {}
        self._together: list[dict[str, Any]] = []
        """The lines of one joint event, which follow each other."""

    def header(self, shared: Mapping[str, Any]) -> None:
        self._hand_out({"processes": [], "shared": dict(shared)})

    def add_fields(self, fields: Mapping[str, Any]) -> None:
        process = fields["p"]
        self._counts[process] = self._counts.get(process, 0) + 1
        found = {**fields, "k": self._counts[process]}
        if self._together and self._together[0]["meet"] != found.get("meet"):
            self.flush()
        if "meet" in found:
            self._together.append(found)
        else:
            self._hand_out(found)

    def flush(self) -> None:
        parties = [each["p"] for each in self._together]
        for each in self._together:
            self._hand_out({**each, "parties": parties})
        self._together.clear()


class Streaming:
    """Follows the logs in a folder. The first thing handed out is the header."""

    def __init__(self, folder: str, line: Line) -> None:
        self._folder = folder
        self._lines = _Lines(line)
        self._merge = Merge([], self._lines)
        self._files: dict[str, tuple[IO[bytes], Source]] = {}
        self._has_begun = False

    def poll(self, *, is_over: bool = False) -> None:
        """Hands out what is new. `is_over`: the logs are complete, so what is missing never comes."""
        self._read()
        if not self._has_begun:
            if not is_over and not self._has_second_process():
                return
            self._has_begun = True
            self._merge.begin()
        self._merge.go_on(is_over=is_over)
        self._lines.flush()
        for source in self._merge.sources:
            del source.events[: source.position]
            source.position = 0

    def _read(self) -> None:
        for name in sorted(os.listdir(self._folder)):
            if name.endswith(SUFFIX) and name not in self._files:
                log = open(os.path.join(self._folder, name), "rb")  # noqa: SIM115
                source = Source(name.removesuffix(SUFFIX))
                self._files[name] = log, source
                self._merge.sources.append(source)
        for file, source in self._files.values():
            for entry in whole_pieces(file):
                add_entry(source, entry)
        known = {source.key for source in self._merge.sources}
        if not self._has_begun:
            self._merge.sources.sort(key=lambda source: source.header.get("parent", "") in known)

    def _has_second_process(self) -> bool:
        first = self._merge.sources[:1]
        return any(entry[0] == e.SYNC and entry[3] == "spawn" for source in first for entry in source.events)

    def process_name(self, key: str, number: int) -> str:
        """What the events of a process of that log are called by."""
        source = next((each for each in self._merge.sources if each.key == key), Source(key))
        return self._merge.naming.process(source, number)

    def close(self) -> None:
        """Nothing more is read."""
        for file, _ in self._files.values():
            file.close()
