"""`threading`'s Lock and RLock as models, and what all models of primitives have in common.

See `primitives` for their law. Locks of code that is not watched are `quiet`: taking one is no choice point,
because nobody else is there when such code runs (`packages`), or what it protects is modelled as a whole
(queues, futures). It is still never blocked on; and if one is ever found taken, those made at the same line
are no longer quiet, and what was explored is repeated.

Locks that installed packages make, and that are watched, are quiet too as long as nobody can tell in which
order they are taken. Law: whoever holds such a lock does nothing but hidden accesses (`memory`) until it
gives it back, nobody asks whether it is free, and no two accesses under it conflict. Then each part of the
program under the lock can be moved together (taking it moves to the right, giving it back to the left:
Lipton, Reduction, CACM 18, 1975) and commutes with every other such part. As soon as anything else is seen,
in whatever execution, the locks made at that line are choice points, and all is explored anew.
"""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import reading, writing
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.runtime.places import is_instrumented, place_of
from possibly.control.runtime.task import known_under_locks
from possibly.probes import port

LOCKS = "lock@"
"""Begins the family of locks that are made at one line, in functions that are called at one line."""
loud: frozenset[str] = frozenset()
"""Such families whose locks are choice points, for those that are made before the program begins."""
_unowned = 0


def name_for(kind: str, library: bool = False) -> str:
    """A name for a new thing: who made it, and a counter of its maker.

    What the standard library makes for itself is counted apart: some of it is made when a module is imported,
    which happens in the first execution only.
    """
    global _unowned
    kernel = running.kernel
    if kernel is None:
        _unowned += 1
        return f"_:{kind}{_unowned}"
    task = kernel.current
    if library:
        task.hidden += 1
        return f"{task.name}:~{kind}{task.hidden}"
    task.things += 1
    return f"{task.name}:{kind}{task.things}"


def label(name: str, kind: str, depth: int = 2) -> None:
    """Until a variable is known, a thing is called by the line that made it."""
    kernel = running.kernel
    if kernel is not None:
        place = place_of(sys._getframe(depth))
        kernel.labels.setdefault(name, f"the {kind} of {place}" if place else f"a {kind}")


def _maker() -> tuple[str, bool, bool]:
    """The line that makes a primitive, whether that is of a package, and of one that is watched."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename.startswith(port._OWN):
        frame = frame.f_back
    file = frame.f_code.co_filename
    caller = frame.f_back  # of a function that makes several, each of which has a line of its own
    by = f" by {caller.f_code.co_filename}:{caller.f_lineno}" if caller is not None else ""
    is_watched = port.is_installed(file) and is_instrumented(frame.f_code)
    return f"{LOCKS}{file}:{frame.f_lineno}{by}", not port.is_user_file(file), is_watched


class Quiet:
    """Whether a primitive is the standard library's own, and was never found taken: see the head."""

    quiet: bool
    name: str
    family = ""
    may_hide = False
    is_hidden = False
    """It is quiet although its package is watched."""

    def _settle(self) -> None:
        self.family, is_unwatched, is_watched = _maker()
        memory = accesses.memory
        is_loud = self.family in (loud if memory is None else memory.visible)
        self.is_hidden = self.may_hide and is_watched and not is_loud
        self.quiet = self.is_hidden or (is_unwatched and not is_loud)

    def _found_taken(self) -> None:
        """It orders tasks after all: from the next execution on it is a choice point."""
        memory = accesses.memory
        if self.quiet and memory is not None:
            memory.show((self.family,))

    def _observed(self, kernel: Kernel) -> None:
        """Somebody can tell whether it is taken."""
        if self.is_hidden and len(kernel.tasks) > 1:
            self._found_taken()


class Lock(Quiet):
    """A lock that anybody may release."""

    kind = "lock"
    may_hide = True

    def __init__(self) -> None:
        self._settle()
        self.name = name_for(self.kind, self.quiet)
        self.owner: Task | None = None
        self.free = True
        self.taken_at = ""
        self.known: dict[int, int] = {}
        """What whoever gave it back knew, where it is no choice point."""
        if not self.quiet:
            label(self.name, self.kind)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        kernel = running.kernel
        if kernel is None:
            found, self.free = self.free, False
            return found
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if not blocking or timeout >= 0:
            self._observed(kernel)
        if self.quiet and self.free:
            self._take(kernel)
            return True
        return self._acquire(kernel, blocking, None if timeout < 0 else timeout)

    def _acquire(self, kernel: Kernel, blocking: bool, timeout: float | None) -> bool:
        self._found_taken()
        ready = self.is_free if blocking else None
        footprint, may_fail = writing(self.name), not blocking or timeout is not None
        if may_fail:
            kernel.locks[self.name] = self.is_taken
        if not kernel.visible("acquire", self.name, footprint, None, ready, timeout, self.why):
            return False
        if not self.free:
            kernel.did(reading(self.name), kind="try")
            return False
        if may_fail:
            kernel.current.trail.seen_free = self.name
        self._take(kernel)
        return True

    def is_free(self) -> bool:
        return self.free

    def is_taken(self) -> bool:
        return not self.free

    def _take(self, kernel: Kernel) -> None:
        self.free = False
        self.owner = kernel.current
        if not self.quiet:
            self.taken_at = place_of(sys._getframe(2))
            kernel.current.held.append(self)
        elif self.is_hidden:
            kernel.enter_section(self.family, self.known)

    def _open(self, kernel: Kernel) -> None:
        kernel.opened(("acquire", self.name), ("wake", self.name))

    def _give(self, kernel: Kernel) -> None:
        if self.owner is not None and self in self.owner.held:
            self.owner.held.remove(self)
        if self.is_hidden:
            self._leave_section(kernel)
        self.free = True
        self.owner = None

    def _leave_section(self, kernel: Kernel) -> None:
        owner = self.owner
        if owner is not kernel.current:
            self._observed(kernel)
        if owner is not None and self.family in owner.sections:
            owner.sections.remove(self.family)
            self.known = known_under_locks(owner)

    def expose(self) -> None:
        """Taking it is a choice point."""
        self.quiet = self.is_hidden = False

    def release(self) -> None:
        kernel = running.kernel
        if self.free:
            raise RuntimeError("release unlocked lock")
        if kernel is None:
            self.free = True
            return
        if not self.quiet:
            kernel.visible("release", self.name, writing(self.name))
            if self.free:
                raise RuntimeError("release unlocked lock")
            self._open(kernel)
        self._give(kernel)

    def locked(self) -> bool:
        kernel = running.kernel
        if kernel is not None and not self.quiet:
            kernel.locks[self.name] = self.is_taken
            kernel.visible("locked", self.name, reading(self.name))
        elif kernel is not None:
            self._observed(kernel)
        return not self.free

    def why(self) -> dict[str, Any]:
        return {"for": [self.owner.name] if self.owner is not None else [], "since": self.taken_at}

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        self.free, self.owner = True, None

    def acquire_lock(self, blocking: bool = True, timeout: float = -1) -> bool:
        return self.acquire(blocking, timeout)

    def release_lock(self) -> None:
        self.release()

    def locked_lock(self) -> bool:
        return self.locked()

    def __repr__(self) -> str:
        return f"<{'unlocked' if self.free else 'locked'} lock {self.name}>"

    # What a condition needs of its lock.

    def mine(self) -> bool:
        return not self.free

    def let_go(self, kernel: Kernel) -> Any:
        self._give(kernel)
        return None

    def take_again(self, kernel: Kernel, saved: Any) -> None:
        self._take(kernel)


class RLock(Lock):
    """A lock that its owner may take again; only the outermost taking is a step."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        kernel = running.kernel
        if kernel is None or (not self.free and self.owner is kernel.current):
            self.depth += 1
            return True
        if not blocking or timeout >= 0:
            self._observed(kernel)
        if self.quiet and self.free:
            self._take(kernel)
        elif not self._acquire(kernel, blocking, None if timeout < 0 else timeout):
            return False
        self.depth = 1
        return True

    __enter__ = acquire

    def release(self) -> None:
        kernel = running.kernel
        if kernel is None:
            self.depth -= 1
            return
        if self.free or self.owner is not kernel.current:
            raise RuntimeError("cannot release un-acquired lock")
        if self.depth > 1:
            self.depth -= 1
            return
        if not self.quiet:
            kernel.visible("release", self.name, writing(self.name))
            self._open(kernel)
        self.depth = 0
        self._give(kernel)

    def _is_owned(self) -> bool:
        return self.mine()

    def mine(self) -> bool:
        kernel = running.kernel
        return self.depth > 0 if kernel is None else not self.free and self.owner is kernel.current

    def let_go(self, kernel: Kernel) -> Any:
        depth, self.depth = self.depth, 0
        self._give(kernel)
        return depth

    def take_again(self, kernel: Kernel, saved: Any) -> None:
        self._take(kernel)
        self.depth = saved

    def __repr__(self) -> str:
        return f"<{'unlocked' if self.free else 'locked'} reentrant lock {self.name}>"

    # What the standard library asks of a lock beyond its documented methods.

    def _recursion_count(self) -> int:
        return self.depth if self.mine() else 0

    def _release_save(self) -> int:
        depth, self.depth = self.depth, 1
        self.release()
        return depth

    def _acquire_restore(self, depth: int) -> None:
        self.acquire()
        self.depth = depth


for _kind in (Lock, RLock):
    _kind.__module__ = "_thread"  # libraries ask for it: those of C can be used where a signal may come
