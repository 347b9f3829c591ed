"""How deep formulas may be, and room for the functions that recurse along them.

A formula may be `MAX_DEPTH` levels deep, which is more than the interpreter's own limit on nested calls.
Calls from Python to Python take no space on the C stack, so a higher limit is safe as long as no C
function (`map`, `tuple(generator)`, `sorted(key=...)`) stands between two levels.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock

MAX_DEPTH = 4000
"""Levels of nesting that every function of this folder handles; deeper formulas are refused."""

_FRAMES = 80_000
_lock = allocate_lock()
_inside = 0
_normal = 0


class _Room:
    def __enter__(self) -> None:
        global _inside, _normal
        with _lock:
            if _inside == 0:
                _normal = sys.getrecursionlimit()
                sys.setrecursionlimit(max(_normal, _FRAMES))
            _inside += 1

    def __exit__(self, *_: object) -> None:
        global _inside
        with _lock:
            _inside -= 1
            if _inside == 0:
                sys.setrecursionlimit(_normal)


_ROOM = _Room()


def deep() -> _Room:
    """A higher limit on nested calls; the old one returns when the last thread inside has left."""
    return _ROOM
