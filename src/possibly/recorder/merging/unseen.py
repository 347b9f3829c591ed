"""Variables that had other values than those that their log tells.

The recorder looks at what the program's own modules do. A function of a library may change a list as well,
generated code may give an object its first values. So each log ends with what its variables hold (`LAST`),
and of a variable is not everything known if

- that is not the value that was told last,
- it was not the value told last when it was changed in place (`UNSEEN`),
- it was read before any value of it was told,
- or parts of it were told as variables of their own.

Law: whatever is not named here held the told values, as far as the log can know: what was changed unseen and
changed back unseen leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from possibly.recorder import entries as e
from possibly.recorder.merging.lines import encode
from possibly.recorder.merging.naming import Naming
from possibly.recorder.merging.sources import Entry, Source

Key = tuple[int, str]
"""An object, 0 for none, and a variable."""


def unseen_variables(sources: list[Source], naming: Naming) -> Iterator[str]:
    """Their names, some of them more than once."""
    for source in sources:
        told = _Told(source)
        for entry in (*source.unseen, *told.read_first.values(), *told.other_in_the_end()):
            yield naming.variable(source, entry)
        own = source.header.get("name")
        for number in told.in_parts:
            yield f"{own}/{naming.object(source, number)}" if own else naming.object(source, number)


class _Told:
    """What one log tells of each variable."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._writes: dict[Key, Entry] = {}
        """The last of each."""
        self.read_first: dict[Key, Entry] = {}
        self.in_parts: set[int] = set()
        """Containers whose items are variables."""
        for entry in source.events:
            kind = entry[0]
            if kind == e.SYNC:
                continue
            if kind in (e.WRITE, e.MEMBER_WRITE):
                self._writes[self._key(entry)] = entry
            elif kind in (e.READ, e.MEMBER_READ):
                self._read(entry)
            elif kind == e.ITEM_WRITE:
                self.in_parts.add(entry[3])

    def _key(self, entry: Entry) -> Key:
        site = self._source.sites.get(entry[2])
        variable = (site[4] if site else None) or ""
        return (entry[3] if entry[0] in (e.MEMBER_WRITE, e.MEMBER_READ) else 0, variable)

    def _read(self, entry: Entry) -> None:
        key = self._key(entry)
        if key not in self._writes and key[1] not in self._source.initial:
            self.read_first.setdefault(key, entry)

    def other_in_the_end(self) -> Iterator[Entry]:
        """The last write of each variable that holds something else."""
        _, variables, members = self._source.last
        held: dict[Key, list[Any]] = {}
        for variable, value in variables:
            held.setdefault((0, variable), []).append(value)
        for number, attribute, value in members:
            held.setdefault((number, attribute), []).append(value)
        for key, entry in self._writes.items():
            if key in held and encode(entry[-1]) not in map(encode, held[key]):
                yield entry
