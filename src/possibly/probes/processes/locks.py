"""`multiprocessing`: Lock, RLock, Condition, Semaphore, BoundedSemaphore, Event, Barrier; Value and Array.

Law: whatever gives way to others is numbered in a cell that all processes see (`cells`), while the primitive
is held; so an acquire knows the release it follows, wherever that was. The primitives inside queues and pools
are not recorded: what they order is told by the probe of the queue or pool, exactly. A `Value` or `Array` is
its lock.

`Event.set`, `wait` and `is_set` repeat the few lines of the standard library (3.11 to 3.13), because
whose turn it was is known only inside. What wakes a `Condition.wait` is ordered by the condition's lock.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from typing import Any

from possibly.probes import locks, port
from possibly.probes.patching import Patches
from possibly.probes.processes import cells

_MAKERS = ("multiprocessing.context", "multiprocessing.sharedctypes", locks.__name__, __name__)
"""Who makes primitives on behalf of whoever calls."""
_RECURSIVE = 0
"""The kind of a lock that its owner may acquire again."""


def _asked_by_user(depth: int) -> bool:
    frame: Any = sys._getframe(depth)
    while frame is not None and frame.f_globals.get("__name__") in _MAKERS:
        frame = frame.f_back
    return frame is None or not port.is_library(frame.f_code.co_filename)


def install(patches: Patches) -> None:
    from multiprocessing import synchronize

    kind: Any = synchronize.SemLock
    for name, told in (
        ("_make_methods", _told_methods), ("__enter__", _told_enter), ("__exit__", _told_exit),
        ("__getstate__", _told_getstate), ("__setstate__", _told_setstate),
    ):  # fmt: skip
        patches.put(kind, name, told(getattr(kind, name)))
    for name in ("Lock", "RLock", "Semaphore", "BoundedSemaphore"):
        made: Any = getattr(synchronize, name)
        patches.put(made, "__init__", _told_new(made.__init__, name))
    condition: Any = synchronize.Condition
    patches.put(condition, "__init__", _told_condition(condition.__init__))
    event: Any = synchronize.Event
    patches.put(event, "__init__", _told_event(event.__init__))
    for name, told in (("set", _told_set), ("wait", _told_wait), ("is_set", _told_is_set)):
        patches.put(event, name, told(getattr(event, name)))
    _install_barrier(patches, synchronize.Barrier)


# ---- locks and semaphores -----------------------------------------------------------------------


class Shared:
    """What a recorded primitive carries: how it is known, and the cells that count for it."""

    __slots__ = ("initial", "name", "other")

    def __init__(self, name: str, other: str = "", initial: int = 1) -> None:
        self.name = name
        """Counts releases."""
        self.other = other
        """Counts the acquires of a semaphore; a lock needs none."""
        self.initial = initial

    def __reduce__(self) -> tuple[Any, ...]:
        return Shared, (self.name, self.other, self.initial)


def shared_of(primitive: Any) -> Shared | None:
    found: Shared | None = primitive.__dict__.get("_possibly")
    return found


def _new(kind: str, *rest: Any) -> Shared:
    found = Shared(cells.new(), *rest)
    port.after("new", found.name, kind)
    return found


def _told_new(plain: Any, name: str) -> Any:
    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        if _asked_by_user(2) and port.listener is not port.QUIET:
            is_lock = name in ("Lock", "RLock")
            value = arguments[0] if arguments else options.get("value", 1)
            self._possibly = _new(name) if is_lock else _new(name, cells.new(), value)
        plain(self, *arguments, **options)

    return __init__


def _told_methods(plain: Any) -> Any:
    def _make_methods(self: Any) -> None:
        plain(self)
        shared = shared_of(self)
        if shared is not None:
            acquire, release = (_take, _give) if shared.other else (_acquire, _release)
            self.acquire = lambda block=True, timeout=None: acquire(self, shared, block, timeout)
            self.release = lambda: release(self, shared)

    return _make_methods


def _told_enter(plain: Any) -> Any:
    def __enter__(self: Any) -> Any:  # noqa: N807
        return plain(self) if shared_of(self) is None else self.acquire()

    return __enter__


def _told_exit(plain: Any) -> Any:
    def __exit__(self: Any, *arguments: Any) -> Any:  # noqa: N807
        return plain(self, *arguments) if shared_of(self) is None else self.release()

    return __exit__


def _told_getstate(plain: Any) -> Any:
    def __getstate__(self: Any) -> Any:  # noqa: N807
        return (*plain(self), shared_of(self))

    return __getstate__


def _told_setstate(plain: Any) -> Any:
    def __setstate__(self: Any, state: Any) -> None:  # noqa: N807
        *state, shared = state
        if shared is not None:
            self._possibly = shared
        plain(self, tuple(state))

    return __setstate__


def _acquire(self: Any, shared: Shared, block: bool, timeout: float | None) -> bool:
    found: bool = self._semlock.acquire(block, timeout)
    is_again = self._semlock.kind == _RECURSIVE and self._semlock._count() > 1
    if found and not is_again:
        _follow(shared, cells.value(shared.name), not block or timeout is not None)
    return found


def _follow(shared: Shared, number: int, was_tried: bool = False) -> None:
    """The acquire comes after that release; the first ones come after none."""
    detail = (shared.name, port.TRIED) if was_tried else shared.name
    port.after("acquire", f"{shared.name}:{number}" if number > 0 else port.number(), detail)


def _release(self: Any, shared: Shared) -> None:
    inner = self._semlock
    is_recursive = inner.kind == _RECURSIVE
    if inner._is_mine() and inner._count() == 1 if is_recursive else inner._is_zero():
        port.before("release", f"{shared.name}:{cells.add(shared.name)}", shared.name)
    inner.release()


def _take(self: Any, shared: Shared, block: bool, timeout: float | None) -> bool:
    found: bool = self._semlock.acquire(block, timeout)
    if found:
        with cells.alone(shared.name):
            number = cells.add(shared.other)
        _follow(shared, number - shared.initial)
    return found


def _give(self: Any, shared: Shared) -> None:
    inner = self._semlock
    is_full = type(self).__name__ == "BoundedSemaphore" and inner._get_value() >= inner.maxvalue
    if not is_full:  # else it is refused
        with cells.alone(shared.name):
            number = cells.add(shared.name)
        port.before("release", f"{shared.name}:{number}", shared.name)
    inner.release()


def _told_condition(plain: Any) -> Any:
    def __init__(self: Any, lock: Any = None, *, ctx: Any) -> None:  # noqa: N807
        if lock is None and _asked_by_user(2) and port.listener is not port.QUIET:
            lock = ctx.RLock()
            lock._possibly = _new("Condition")
            lock._make_methods()
        plain(self, lock, ctx=ctx)

    return __init__


# ---- events -------------------------------------------------------------------------------------


def _told_event(plain: Any) -> Any:
    def __init__(self: Any, *, ctx: Any) -> None:  # noqa: N807
        plain(self, ctx=ctx)
        if _asked_by_user(2) and port.listener is not port.QUIET:
            self._possibly = _new("Event")

    return __init__


def _told_set(plain: Any) -> Any:
    def set(self: Any) -> None:  # noqa: A001
        shared = shared_of(self)
        if shared is None:
            plain(self)
            return
        with self._cond:
            if not self._flag.acquire(False):
                port.after("set", f"{shared.name}:{cells.add(shared.name)}", shared.name)
            self._flag.release()
            self._cond.notify_all()

    return set


def _is_set(self: Any) -> bool:
    """Asked while the event's condition is held."""
    if not self._flag.acquire(False):
        return False
    self._flag.release()
    shared = shared_of(self)
    if shared is not None:
        port.after("await", f"{shared.name}:{cells.value(shared.name)}", shared.name)
    return True


def _told_is_set(plain: Any) -> Any:
    def is_set(self: Any) -> bool:
        with self._cond:
            return _is_set(self)

    return is_set


def _told_wait(plain: Any) -> Any:
    def wait(self: Any, timeout: float | None = None) -> bool:
        with self._cond:
            if self._flag.acquire(False):
                self._flag.release()
            else:
                self._cond.wait(timeout)
            return _is_set(self)

    return wait


# ---- barriers -----------------------------------------------------------------------------------

_plain_barrier: Any = locks.Barrier.__mro__[1]
"""`threading.Barrier` as it was."""


def _install_barrier(patches: Patches, kind: Any) -> None:
    """A round is the value of its first cell; the second one counts how often the barrier was broken."""
    if _plain_barrier not in kind.__bases__:  # imported while threads were recorded
        kind.__bases__ = (_plain_barrier,)
    patches.put(kind, "__init__", _told_barrier(kind.__init__))
    patches.put(kind, "__getstate__", _told_getstate(kind.__getstate__))
    patches.put(kind, "__setstate__", _told_barrier_state(kind.__setstate__))
    for name in ("wait", "_enter", "_release", "_break", "reset"):
        patches.put(kind, name, _BARRIER[name](getattr(_plain_barrier, name)))


def _told_barrier(plain: Any) -> Any:
    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        if _asked_by_user(2) and port.listener is not port.QUIET:
            self._possibly = _new("Barrier", cells.new())
        plain(self, *arguments, **options)

    return __init__


def _told_barrier_state(plain: Any) -> Any:
    def __setstate__(self: Any, state: Any) -> None:  # noqa: N807
        if len(state) > 5:
            *state, shared = state
            if shared is not None:
                self._possibly = shared
        self._possibly_rounds = {}
        plain(self, tuple(state))

    return __setstate__


def _round(shared: Shared, number: int) -> str:
    return f"{shared.name}:round{number}"


def _told_arrival(plain: Any) -> Any:
    def _enter(self: Any) -> None:
        plain(self)
        shared = shared_of(self)
        if shared is not None:
            number = self._possibly_rounds[get_ident()] = cells.value(shared.name)
            port.before("leave", _round(shared, number), shared.name)

    return _enter


def _told_last_arrival(plain: Any) -> Any:
    def _release(self: Any) -> None:
        shared = shared_of(self)
        if shared is None:
            plain(self)
            return
        here = _round(shared, cells.value(shared.name))
        port.after("passed", here, self._parties)
        plain(self)
        if self._action is not None:
            port.before("leave", here, shared.name)
        cells.add(shared.name)

    return _release


def _told_barrier_wait(plain: Any) -> Any:
    def wait(self: Any, timeout: float | None = None) -> int:
        shared = shared_of(self)
        try:
            found: int = plain(self, timeout)
        except BaseException:
            if shared is not None and cells.value(shared.other):
                port.after("learn", f"{shared.name}:broken{cells.value(shared.other)}", shared.name)
            raise
        finally:
            number = self.__dict__.get("_possibly_rounds", {}).pop(get_ident(), 0)
        if shared is not None and found < self._parties - 1:
            port.after("passed", _round(shared, number), self._parties + (self._action is not None))
        return found

    return wait


def _tell_break(self: Any) -> None:
    """Told while the barrier's condition is held; those who arrived do not count for the next round."""
    shared = shared_of(self)
    if shared is not None:
        cells.add(shared.name)
        port.before("resolve", f"{shared.name}:broken{cells.add(shared.other)}", shared.name)


def _told_break(plain: Any) -> Any:
    def _break(self: Any) -> None:
        _tell_break(self)
        plain(self)

    return _break


def _told_reset(plain: Any) -> Any:
    def reset(self: Any) -> None:
        with self._cond:
            if self._count > 0:
                _tell_break(self)
            plain(self)

    return reset


_BARRIER = {
    "wait": _told_barrier_wait, "_enter": _told_arrival, "_release": _told_last_arrival,
    "_break": _told_break, "reset": _told_reset,
}  # fmt: skip
