"""`multiprocessing.Process` under a controller, by fork and by spawn.

Starting and joining are no macro-steps. Processes that the library starts for itself (pools, managers) are
left alone.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from possibly.control.macro.inside import gate
from possibly.control.macro.inside.threads import asked, unique
from possibly.control.macro.model import Operation
from possibly.control.macro.program.wire import VARIABLE
from possibly.probes.patching import Patches


def install(patches: Patches) -> None:
    from multiprocessing import process

    kind: Any = process.BaseProcess
    patches.put(kind, "start", _start(kind.start))
    patches.put(kind, "join", _join(kind.join))
    for name in ("is_alive", "terminate", "kill"):
        patches.put(kind, name, asked(getattr(kind, name), f"{name}() of a process"))
    for name in ("exitcode", "sentinel"):
        told = asked(getattr(kind, name).fget, f"the {name} of a process")
        patches.put(kind, name, property(told))
    patches.put(process, "active_children", asked(process.active_children, "active_children()"))
    patches.put(kind, "_bootstrap", _bootstrap(kind._bootstrap))


def install_spawn(patches: Patches) -> None:
    from multiprocessing import spawn

    patches.put(spawn, "get_preparation_data", _preparation(spawn.get_preparation_data))


class Starter:
    """Puts the operations in place in the interpreter in which it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return start_here, ()


def start_here() -> None:
    from possibly.control.macro.inside.start import prepare

    if not gate.socket_path:
        prepare(os.environ[VARIABLE])


def _preparation(plain: Any) -> Any:
    def get_preparation_data(name: str) -> dict[str, Any]:
        return {**plain(name), "possibly": Starter()}

    return get_preparation_data


def _start(plain: Any) -> Any:
    def start(self: Any) -> None:
        if not gate.by_library():
            self._possibly_name = unique(self.name)
            gate.here().starts(self._possibly_name, self.daemon)
        plain(self)

    return start


def _join(plain: Any) -> Any:
    def join(self: Any, timeout: float | None = None) -> None:
        name = self.__dict__.get("_possibly_name")
        if name is not None:
            if timeout is not None:
                gate.told("join with a time limit waits without one")
            gate.here().arrive(Operation("join", f"join {name}", target=name))
        plain(self, None if name is not None else timeout)
        self._possibly_joined = name is not None

    return join


def _bootstrap(plain: Any) -> Any:
    def bootstrapped(self: Any, *arguments: Any, **options: Any) -> Any:
        _forget_parent()
        name = self.__dict__.get("_possibly_name")
        if name is None:
            gate.is_absent = True
            return plain(self, *arguments, **options)
        here = gate.open_gate(name)
        self.run = _told(self.run, here)
        try:
            return plain(self, *arguments, **options)
        finally:
            here.leave_for_ever()

    return bootstrapped


def _forget_parent() -> None:
    """After a fork: the parent's connection is the parent's."""
    sys.settrace(None)
    if gate.local.gate is not None:
        gate.local.gate.wire.close()
        gate.local.gate = None


def _told(plain: Any, here: gate.Gate) -> Any:
    def run() -> None:
        from possibly.control.macro.inside.start import error_text

        try:
            plain()
        except SystemExit:
            raise
        except BaseException as error:
            here.tell("failed", error_text(error))
            raise

    return run
