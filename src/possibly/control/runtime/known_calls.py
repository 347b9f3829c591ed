"""What is known of methods of containers and of functions of libraries, by their names (see `calls`).

What stands in no table is taken to change whatever it is given.
"""

from __future__ import annotations

READERS = frozenset("items keys values copy __iter__ __reversed__ elements total".split())
COMPARING = frozenset(
    "index count most_common union intersection difference symmetric_difference issubset issuperset "
    "isdisjoint __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __repr__ __str__ __add__ __or__ __and__".split()
)
"""They look into what the container holds."""
STORING = frozenset("append appendleft insert add setdefault __setitem__ pop".split())
"""They keep their argument without looking into it."""
KEEPING = frozenset({"setdefault", "pop"})
"""Methods of a dictionary that change one item at most."""
OF_ONE = frozenset({"add", "discard", "remove"})
"""Methods of a set that change one item at most."""
SHALLOW = frozenset(
    "list tuple dict deque defaultdict OrderedDict bytes bytearray len iter bool next".split()
)
"""Built-in functions that read what a container holds, and do not look into that."""
FIRST_CHANGED = frozenset(
    "heappush heappop heapify heapreplace heappushpop insort insort_left insort_right shuffle".split()
)
"""Functions of libraries that change their first argument and read the others."""
SIZES = frozenset({"__len__", "__bool__"})
BY_KEY = frozenset({"get", "__getitem__", "__contains__"})
LOOKING = frozenset("get keys items values copy".split())
"""Methods of a library's mappings that change nothing."""
HARMLESS = frozenset(
    "threading _thread queue _queue asyncio _asyncio concurrent time contextlib possibly logging "
    "multiprocessing unittest pytest typing abc gc warnings signal _signal sys os atexit weakref "
    "_weakref contextvars _contextvars enum types inspect posix nt".split()
)
"""Modules whose functions hand containers on, or do not look into them."""
ONLY_READING = frozenset(
    "builtins json _json pickle _pickle copy math statistics itertools functools _functools operator "
    "_operator re string pprint struct _struct hashlib _hashlib textwrap fnmatch decimal fractions datetime "
    "io _io reprlib dataclasses collections _collections pathlib posixpath genericpath".split()
)
IN_PLACE = frozenset("iadd iand iconcat ifloordiv ilshift imod imul ior ipow isub ixor itruediv".split())
"""Functions of `operator` that change their first argument."""
OUTSIDE = {
    "_signal": ("signal", "setitimer", "alarm", "raise_signal", "pthread_kill", "siginterrupt"),
    "signal": ("signal", "setitimer", "alarm", "raise_signal", "pthread_kill", "siginterrupt"),
    "weakref": ("finalize", "proxy"),
    "_weakref": ("proxy",),
}
"""Functions after which something happens at moments that are not ours to choose."""


LOOKING_AT_ITS_CALLER = frozenset(
    "globals locals vars dir eval exec super breakpoint namedtuple NamedTuple TypeVar NewType make_dataclass "
    "warn getLogger currentframe _getframe stack".split()
)
"""Functions that look at the frame that calls them: that must stay the user's own."""
LEVELS = frozenset("debug info warning warn error critical exception log".split())
