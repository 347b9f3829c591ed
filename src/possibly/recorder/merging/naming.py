"""What processes, objects and variables of a run are called in its trace.

A process has the name that its user gave it, and in another process of the operating system that one's name
in front. An object is called by the global that it is bound to, else by its class and a number. A variable of
another process of the operating system is that one's own.
"""

from __future__ import annotations

from possibly.recorder import entries as e
from possibly.recorder.merging.sources import Entry, Source


class Naming:
    """Names that were given, so that no two processes have the same."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, int], str] = {}
        """(log, process) -> its name."""
        self.objects: dict[tuple[str, int], str] = {}
        self._taken: dict[str, int] = {}
        self._kinds: dict[str, int] = {}

    def variable(self, source: Source, entry: Entry) -> str:
        """What a variable of a log is called in the trace."""
        own = source.header.get("name")
        bare = self.bare_variable(source, entry)
        return f"{own}/{bare}" if own else bare

    def bare_variable(self, source: Source, entry: Entry) -> str:
        site = source.sites.get(entry[2])
        variable = (site[4] if site else None) or ""
        if entry[0] in (e.READ, e.WRITE):
            return variable
        owner = self.object(source, entry[3])
        if entry[0] in (e.ITEM_READ, e.ITEM_WRITE):
            return f"{owner}[]" if entry[4] == "[]" else f"{owner}[{entry[4]}]"
        return f"{owner}.{variable}" if owner else variable

    def object(self, source: Source, number: int) -> str:
        """What an object of a log is called."""
        key = source.key, number
        if key not in self.objects:
            self.objects[key] = self._new_object_name(source, number)
        return self.objects[key]

    def _new_object_name(self, source: Source, number: int) -> str:
        match source.objects.get(number):
            case str() as name:
                return name
            case (int() as owner, attribute):
                return f"{self.object(source, owner)}.{attribute}"
        return self.numbered(source.classes.get(number, "object"))

    def numbered(self, kind: str) -> str:
        """The next name of its kind: `Account#2`."""
        self._kinds[kind] = self._kinds.get(kind, 0) + 1
        return f"{kind}#{self._kinds[kind]}"

    def process(self, source: Source, number: int) -> str:
        """What a process of a log is called, which no other is."""
        found = self.names.get((source.key, number))
        if found is None:
            found = self.names[source.key, number] = self._unique(self._plain_name(source, number))
        return found

    def _plain_name(self, source: Source, number: int) -> str:
        name = source.processes.get(number) or f"process-{number}"
        own = source.header.get("name") or ""
        if not own:
            return name
        return own if name == "MainThread" else f"{own}/{name}"

    def _unique(self, name: str) -> str:
        self._taken[name] = self._taken.get(name, 0) + 1
        if self._taken[name] == 1:
            return name
        return self._unique(f"{name}#{self._taken[name]}")
