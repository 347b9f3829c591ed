"""A process that hangs now: what its threads and tasks wait for, read from inside it.

A small script (`attached_script`) is run in the process: by `sys.remote_exec` where both interpreters have
it, else by gdb, which stops the process for a moment. The script writes what it finds to a file and changes
nothing. Here belong how it gets there, and the graph of who waits for whom; a cycle of it is a deadlock.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from possibly.errors import PossiblyError

SCRIPT = Path(__file__).with_name("attached_script.py")
NAME = "possibly-attach"
"""What the script is called inside."""
PATIENCE = 30.0
"""Seconds in which the process has to answer."""


@dataclass(frozen=True, slots=True)
class Waiter:
    """A thread or task, and what it is doing."""

    name: str
    kind: str
    where: tuple[str, ...]
    """Its innermost places in the user's files, the innermost first."""
    waits_for: str | None = None
    """A lock, thread, queue, event, condition or future."""
    holders: tuple[str, ...] = ()
    """Who could let it go on, where that is known."""


@dataclass(frozen=True, slots=True)
class Attached:
    """All waiters of a process, and the cycles among them."""

    pid: int
    waiters: tuple[Waiter, ...]
    cycles: tuple[tuple[str, ...], ...]


def attach(pid: int) -> Attached:
    """Asks the process."""
    if not os.path.exists(f"/proc/{pid}") and sys.platform == "linux":
        raise PossiblyError(f"there is no process {pid}")
    folder = tempfile.mkdtemp(prefix="possibly-attach-")
    try:
        answer = _asked(pid, Path(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    waiters = tuple(_waiter(each) for each in answer["waiters"])
    return Attached(pid, waiters, tuple(cycles(waiters)))


def _asked(pid: int, folder: Path) -> dict[str, Any]:
    os.chmod(folder, 0o777)  # the process may be another user's; the folder is gone in a moment
    script, answer = folder / "ask.py", folder / "answer.json"
    text = SCRIPT.read_text(encoding="utf-8")
    call = f"exec(compile({text!r}, {NAME!r}, 'exec'), {{'ANSWER': {str(answer)!r}, '__name__': {NAME!r}}})"
    script.write_text(call, encoding="utf-8")
    os.chmod(script, 0o644)
    _run_inside(pid, script)
    end = time.monotonic() + PATIENCE
    while not answer.exists():
        if time.monotonic() > end:
            raise PossiblyError(
                f"process {pid} did not answer within {PATIENCE:g} s: it may be inside a C call"
            )
        time.sleep(0.01)
    found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return found


def _run_inside(pid: int, script: Path) -> None:
    remote = getattr(sys, "remote_exec", None)
    if remote is not None:
        try:
            remote(pid, str(script))
            return
        except (RuntimeError, OSError, PermissionError):
            pass  # another version of Python, perhaps: gdb does not mind
    gdb = shutil.which("gdb")
    if gdb is None:
        raise PossiblyError(
            f"process {pid} cannot be asked",
            hint="install gdb, or run it and possibly with Python 3.14, which can be asked without",
        )
    _by_gdb(gdb, pid, script)


def _by_gdb(gdb: str, pid: int, script: Path) -> None:
    code = json.dumps(f"exec(open({str(script)!r}, encoding='utf-8').read(), {{}})")
    commands = [
        "call (int)PyGILState_Ensure()", f"call (int)PyRun_SimpleString({code})",
        "call (void)PyGILState_Release($1)",
    ]  # fmt: skip
    words = [gdb, "-p", str(pid), "-batch", "-nx", "-iex", "set auto-load off", "-ex", "set confirm off"]
    words += [word for command in commands for word in ("-ex", command)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise PossiblyError(f"gdb did not come back from process {pid}") from None
    if "No symbol" in done.stderr or "$2" not in done.stdout:
        said = next((line for line in done.stderr.splitlines() if line.strip()), "gdb said nothing")
        raise PossiblyError(f"process {pid} cannot be asked: {said.strip()}", hint="is it Python, and yours?")


def _waiter(told: dict[str, Any]) -> Waiter:
    return Waiter(told["name"], told["kind"], tuple(told["where"]), told["waits_for"], tuple(told["holders"]))


def cycles(waiters: tuple[Waiter, ...]) -> list[tuple[str, ...]]:
    """Waiters in a ring: whoever could let one of them go on waits for another of them, or for itself."""
    stuck = {each.name: each.holders for each in waiters if each.holders}
    while free := [name for name, holders in stuck.items() if not stuck.keys() >= set(holders)]:
        for name in free:
            del stuck[name]
    found: list[tuple[str, ...]] = []
    for start in stuck:
        if start in _reached(stuck, start) and not any(start in ring for ring in found):
            others = [name for name in _reached(stuck, start) if start in _reached(stuck, name)]
            found.append((start, *(name for name in others if name != start)))
    return found


def _reached(stuck: Mapping[str, Sequence[str]], start: str) -> list[str]:
    """Those that somebody waits for, and those that these wait for, the nearest first."""
    found = list(dict.fromkeys(stuck[start]))
    for name in found:
        found += [each for each in stuck[name] if each not in found]
    return found
