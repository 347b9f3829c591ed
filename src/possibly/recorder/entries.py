"""What stands in a log: tuples of plain values, told apart by their first item.

The same numbers are used by sites (`probes.watching.telling`), by the log and by the merge. An entry that is
an event has its process second and its site third.
"""

from __future__ import annotations

from possibly.probes.watching.telling import Telling

READ, WRITE = int(Telling.READ), int(Telling.WRITE)
MEMBER_READ, MEMBER_WRITE = int(Telling.MEMBER_READ), int(Telling.MEMBER_WRITE)
SET, ENTER, EXIT, MARK = int(Telling.SET), int(Telling.ENTER), int(Telling.EXIT), int(Telling.MARK)
ITEM_READ, ITEM_WRITE = int(Telling.ITEM_READ), int(Telling.ITEM_WRITE)

TIME = 18
"""(TIME, seconds): what follows happened then, or a little later; only where times are wanted."""
RAW = 32
"""Added to the kind of an entry whose last item is the program's own: it is copied with the next flush."""

SITE = 20
"""(SITE, number, place, label, variable, function)"""
PROCESS = 21
"""(PROCESS, number, name)"""
OBJECT = 22
"""(OBJECT, number, class): an object whose members are watched."""
NAMED = 23
"""(NAMED, number, name): the global variable that an object is bound to."""
SYNC = 24
"""(SYNC, process, site, action, thing, detail, time)"""
OWN = 25
"""(OWN, process, site, fields, key): an event of the program's own making."""
THING = 28
"""(THING, number, name): the global variable that a primitive is bound to."""
INITIAL = 27
"""(INITIAL, values): globals that had values when the recording began."""
OBJECT_ARGUMENT, THING_ARGUMENT = "\0object", "\0thing"
"""(OBJECT_ARGUMENT, number): an argument of a call that is an object; the other: that is a primitive."""
LEFT_OUT = 29
"""(LEFT_OUT, site): calls of a function that is called too often; what was told of them does not count."""
UNSEEN = 19
"""(UNSEEN, access): its variable had a value that nobody told."""
LAST = 30
"""(LAST, ((variable, value), ...), ((object, attribute, value), ...)): what watched variables hold in the
end."""
SHARED = 31
"""(SHARED, ((sequence, how, entry), ...), how, entry): an access to what tasks share, told for the order that
it gives, with earlier ones that it met; so many entries stood before each."""
FOR_ORDER = 64
"""Added to the kind of such an entry where logs are read."""
AT_ONCE = 128
"""Added as well if it was one operation of the interpreter that changes a container or copies all of it."""
HEADER = 26
"""(HEADER, fields): which process of the operating system this is, and who started it."""
__all__ = [
    "AT_ONCE", "ENTER", "EXIT", "FOR_ORDER", "HEADER", "INITIAL", "ITEM_READ", "ITEM_WRITE", "LAST",
    "LEFT_OUT", "MARK", "MEMBER_READ", "MEMBER_WRITE", "NAMED", "OBJECT", "OBJECT_ARGUMENT", "OWN",
    "PROCESS", "RAW", "READ", "SET", "SHARED", "SITE", "SYNC", "THING", "THING_ARGUMENT", "TIME",
    "UNSEEN", "WRITE",
]  # fmt: skip
