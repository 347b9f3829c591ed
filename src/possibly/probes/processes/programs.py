"""`subprocess`: a Python program that a recorded program starts is recorded too.

It is recognised by its command: this interpreter (or `python`, `python3`) and a script or `-m module`,
given as a list
without options of the interpreter. Everything else is started as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from possibly.probes import exits, port
from possibly.probes.patching import Patches

STARTER = "possibly.recorder.start"
INTERPRETERS = ("python", "python3")


def install(patches: Patches) -> None:
    import subprocess

    kind: Any = subprocess.Popen
    plain_init, plain_wait, plain_poll = kind.__init__, kind.wait, kind.poll

    def __init__(self: Any, args: Any, *rest: Any, **options: Any) -> None:  # noqa: N807
        changed = _recorded(args) if "executable" not in options and len(rest) < 11 else None
        if changed is not None:
            token = self._possibly_spawn = port.token()
            port.before("spawn", token)
            environment = dict(os.environ if options.get("env") is None else options["env"])
            name, value = exits.settings_for(_name(args), token)
            options["env"] = {**environment, name: value}
            args = changed
        plain_init(self, args, *rest, **options)

    def wait(self: Any, timeout: float | None = None) -> Any:
        found = plain_wait(self, timeout)
        _learn(self, found)
        return found

    def poll(self: Any) -> Any:
        found = plain_poll(self)
        if not port.called_by_library():
            _learn(self, found)
        return found

    patches.put(kind, "__init__", __init__)
    patches.put(kind, "wait", wait)
    patches.put(kind, "poll", poll)


def _learn(process: Any, status: int | None) -> None:
    token = process.__dict__.get("_possibly_spawn")
    if token is not None and status is not None:
        port.after("join", token)


def _recorded(args: Any) -> list[Any] | None:
    """The command that records the program, or None for anything that is not a plain Python program."""
    if port.listener is port.QUIET or not isinstance(args, list | tuple) or len(args) < 2:
        return None
    if not (args[0] == sys.executable or os.path.basename(str(args[0])) in INTERPRETERS):
        return None
    first = str(args[1])
    is_module = first == "-m" and len(args) > 2 and args[2] != STARTER
    if not is_module and first.startswith("-"):
        return None
    return [args[0], "-m", STARTER, *args[1:]]


def _name(args: Sequence[Any]) -> str:
    word = str(args[2] if args[1] == "-m" else args[1])
    return os.path.basename(word).removesuffix(".py")
