"""`multiprocessing.Process`, by fork and by spawn: start, end, join.

A forked child is met by the hooks of `exits`; a spawned one is sent an object that starts a recording when
it is
unpickled, before the program's main module is loaded there.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from possibly.probes import exits, port
from possibly.probes.patching import Patches


def install(patches: Patches) -> None:
    from multiprocessing import process

    kind: Any = process.BaseProcess
    patches.put(kind, "start", _told_start(kind.start))
    patches.put(kind, "join", _told_join(kind.join))
    patches.put(kind, "is_alive", _told_is_alive(kind.is_alive))
    patches.put(kind, "_bootstrap", _told_bootstrap(kind._bootstrap))


def install_spawn(patches: Patches) -> None:
    from multiprocessing import spawn

    plain = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        found: dict[str, Any] = plain(name)
        token = port.token()
        port.before("spawn", token)
        _newest.append(token)
        found["possibly"] = exits.starter(name, token)
        return found

    patches.put(spawn, "get_preparation_data", get_preparation_data)


_newest: list[str] = []


def _told_start(plain: Any) -> Any:
    def start(self: Any) -> None:
        before = exits.last_spawn()
        _newest.clear()
        exits.next_child = self.name
        try:
            plain(self)
        finally:
            exits.next_child = ""
        forked = exits.last_spawn()
        self._possibly_spawn = forked if forked != before else (_newest[-1] if _newest else "")

    return start


def _told_bootstrap(plain: Any) -> Any:
    def _bootstrap(self: Any, *arguments: Any, **options: Any) -> Any:
        token = exits.last_spawn() or exits.spawned_by
        try:
            return plain(self, *arguments, **options)
        finally:
            port.before("end", token)

    return _bootstrap


def _told_join(plain: Any) -> Any:
    def join(self: Any, timeout: float | None = None) -> None:
        plain(self, timeout)
        if self.exitcode is not None:
            _learn(self)

    return join


def _told_is_alive(plain: Any) -> Any:
    def is_alive(self: Any) -> bool:
        found: bool = plain(self)
        if not found and not port.called_by_library():
            _learn(self)
        return found

    return is_alive


def _learn(process: Any) -> None:
    token = process.__dict__.get("_possibly_spawn")
    if token:
        port.after("join", token)


def load_main_with(finder: Any) -> None:
    """In a spawned process: the main module has its sites as it had in the parent."""
    from multiprocessing import spawn

    def _fixup_main_from_path(main_path: str) -> None:
        main = ModuleType("__mp_main__")
        loader = finder.loader("__mp_main__", main_path)
        main.__dict__.update(__file__=main_path, __loader__=loader)
        spawn.old_main_modules.append(sys.modules["__main__"])
        sys.modules["__main__"] = sys.modules["__mp_main__"] = main
        loader.exec_module(main)

    spawn._fixup_main_from_path = _fixup_main_from_path  # type: ignore[attr-defined]
