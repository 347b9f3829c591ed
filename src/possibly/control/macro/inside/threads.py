"""Threads under a controller: each is a process of the program; starting and joining are no macro-steps."""

from __future__ import annotations

from functools import partial
from typing import Any

from possibly.control.macro.inside import gate, primitives, sharing
from possibly.control.macro.model import Operation
from possibly.probes import port
from possibly.probes.patching import Patches
from possibly.probes.stated import stated, stated_text

_names: dict[str, int] = {}


def install(patches: Patches) -> None:
    import _thread
    import threading

    kind: Any = threading.Thread
    patches.put(kind, "start", _start(kind.start))
    patches.put(kind, "join", _join(kind.join))
    patches.put(kind, "is_alive", asked(kind.is_alive, "is_alive() of a thread"))
    for name in ("enumerate", "active_count"):
        patches.put(threading, name, asked(getattr(threading, name), f"threading.{name}"))
    for name in ("start_new_thread", "start_new"):
        patches.put(_thread, name, _begun(getattr(_thread, name)))
    primitives.install_threading(patches)


def unique(name: str) -> str:
    """A name that nobody has yet: a second thread of the same name gets a number."""
    if not _names:
        _names[gate.first] = 1
    count, found = _names.get(name, 0), name
    while found in _names:
        count += 1
        found = f"{name}-{count}"
    _names[name] = max(count, 1)
    _names.setdefault(found, 1)
    return found


def _begun(plain: Any) -> Any:
    """A thread below the module `threading`, which has a name of its own for this."""

    def start_new_thread(*arguments: Any, **options: Any) -> Any:
        gate.told("a thread that _thread starts")
        primitives.started()
        return plain(*arguments, **options)

    return start_new_thread


def _start(plain: Any) -> Any:
    def start(self: Any) -> None:
        primitives.started()
        if not gate.by_library():
            self._possibly_name = unique(self.name)
            self.run = _controlled(self.run, self._possibly_name)
            here = gate.here()
            here.starts(self._possibly_name, self.daemon)
            sharing.started()
            if unwatched := _unwatched(self):
                gate.told(f"a thread that runs {unwatched}, which is not watched")
            here.knows.publish(f"start {self._possibly_name}")
        plain(self)

    return start


def asked(plain: Any, name: str) -> Any:
    """Whether somebody has ended is decided by nothing here, unless he was joined."""

    def told(*arguments: Any, **options: Any) -> Any:
        was_joined = bool(arguments) and getattr(arguments[0], "_possibly_joined", False)
        if not was_joined and not gate.by_library():
            gate.told(name)
        return plain(*arguments, **options)

    return told


def _unwatched(thread: Any) -> str:
    """The name of what the thread runs, if that is neither the user's own code nor an operation."""
    import threading

    run = getattr(type(thread).run, "__wrapped__", type(thread).run)
    target = thread._target if run is threading.Thread.run else run
    while isinstance(target, partial):
        target = target.func
    if target is None:
        return ""
    function = stated(target, "__func__") or target
    code = stated(function, "__code__") or getattr(type(target).__call__, "__code__", None)
    if code is not None and (port.is_user_file(code.co_filename) or code.co_filename.startswith(gate.OWN)):
        return ""
    return stated_text(target, "__qualname__") or type(target).__qualname__


def _controlled(plain: Any, name: str) -> Any:
    def run() -> None:
        from possibly.control.macro.inside.start import error_text

        here = gate.open_gate(name)
        here.known.learn(f"start {name}")
        try:
            plain()
        except SystemExit:
            pass
        except BaseException as error:
            here.tell("failed", error_text(error))
            raise
        finally:
            here.leave_for_ever()

    return run


def _join(plain: Any) -> Any:
    def join(self: Any, timeout: float | None = None) -> None:
        name = self.__dict__.get("_possibly_name")
        if name is not None:
            if timeout is not None:
                gate.told("join with a time limit waits without one")
            here = gate.here()
            here.arrive(Operation("join", f"join {name}", target=name))
            here.knows.learn(f"end {name}")
        plain(self, None if name is not None else timeout)
        self._possibly_joined = name is not None

    return join
