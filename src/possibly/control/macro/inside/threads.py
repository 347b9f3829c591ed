"""Threads under a controller: each is a process of the program; starting and joining are no macro-steps."""

from __future__ import annotations

from typing import Any

from possibly.control.macro.inside import gate, others, sharing
from possibly.control.macro.model import Operation
from possibly.probes.patching import Patches

_names: dict[str, int] = {}


def install(patches: Patches) -> None:
    import threading

    kind: Any = threading.Thread
    patches.put(kind, "start", _start(kind.start))
    patches.put(kind, "join", _join(kind.join))
    others.install_threading(patches)


def unique(name: str) -> str:
    """A second thread of the same name gets a number."""
    _names[name] = _names.get(name, 0) + 1
    return name if _names[name] == 1 else f"{name}-{_names[name]}"


def _start(plain: Any) -> Any:
    def start(self: Any) -> None:
        if not gate.by_library():
            self._possibly_name = unique(self.name)
            self.run = _controlled(self.run, self._possibly_name)
            here = gate.here()
            here.tell("expect", self._possibly_name)
            sharing.started()
            here.known.publish(f"start {self._possibly_name}")
        plain(self)

    return start


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
            here.known.learn(f"end {name}")
        plain(self, None if name is not None else timeout)

    return join
