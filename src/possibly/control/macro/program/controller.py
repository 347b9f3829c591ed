"""A real program as a `System`: its processes run as they always do and report over a local socket.

The controller starts the program anew for each execution, as one process or as ranks under `mpiexec`, and
waits until every process has come to its next operation. A process of a controller is a thread, a process of
the operating system, a rank. None of them runs while the controller is not waiting, so what the controller
sees is a collective breakpoint.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from possibly.control.forking.patience import Patience
from possibly.control.macro.answers import Answers
from possibly.control.macro.claims import Collective
from possibly.control.macro.inside.state import Read, SystemState
from possibly.control.macro.model import (
    Completion,
    MadeClaim,
    Moment,
    Operation,
    Process,
    Seen,
)
from possibly.control.macro.program.launch import Child, is_native, launched
from possibly.control.macro.program.lines import VERSION
from possibly.control.macro.program.wire import VARIABLE, ClosedError, Wire
from possibly.errors import ControlError, PossiblyError

PATIENCE = 20.0
"""Seconds that a process may compute before its next operation, or that all may stand still."""
LOOK = 0.2
"""Seconds between two looks at processes that say nothing."""
STILL = 10
"""So many times in a row everybody must be found to wait before it is said."""


class Controller:
    """One execution of a program."""

    def __init__(
        self,
        words: Sequence[str],
        ranks: int | None = None,
        patience: float = PATIENCE,
        shows: bool = False,
        unbuffered: bool = False,
    ) -> None:
        self.unbuffered = unbuffered
        self.words = tuple(words)
        self.ranks = ranks
        self.patience = patience
        self.shows = shows
        """The program's output goes where ours goes."""
        self.folder = ""
        self.held: dict[Process, tuple[str, Seen]] = {}
        """Processes that the user holds: where they are."""
        self.holding: set[Process] = set()
        """Processes to be held after their next operation."""
        self._wires: dict[Process, Wire] = {}
        self._owners: dict[Process, Process] = {}
        """Tasks of an event loop, each with the thread that runs it."""
        self._pids: dict[Process, int] = {}
        self._selector = selectors.DefaultSelector()
        self._running: set[Process] = set()
        self._ended: set[Process] = set()
        self._payloads: dict[str, tuple[str, bytes]] = {}
        self._sends: dict[Process, int] = {}
        self._answers: dict[tuple[int, str], Answers] = {}
        """What predicates said, by the interpreter that has them."""
        self.reads: list[Read] = []
        """What the last predicate read."""
        self._asked: Collective | None = None
        self._told: set[Process] = set()
        self._may_block = False
        """Somebody may wait for something else than a message."""
        self._still = 0
        """How often in a row everybody was found to wait."""
        self._fresh()

    def _fresh(self) -> None:
        self._pending: dict[Process, Operation] = {}
        self._waiting: dict[Process, Seen] = {}
        self._breaks: dict[Process, Seen] = {}
        self._claims: list[MadeClaim] = []
        self._started: list[tuple[Process, Process | None, tuple[tuple[str, bool], ...]]] = []
        self._failures: list[tuple[Process, str]] = []
        self._uncontrolled: list[str] = []
        self._assumed: list[str] = []
        self._files: list[str] = []
        self._daemons: list[Process] = []

    # ---- the port -------------------------------------------------------------------------------

    def begin(self) -> Moment:
        self.folder = tempfile.mkdtemp(prefix="possibly-")
        self._listening = socket.socket(socket.AF_UNIX)
        path = os.path.join(self.folder, "socket")
        self._listening.bind(path)
        self._listening.listen(256)
        self._selector.register(self._listening, selectors.EVENT_READ, None)
        self._running = {f"rank{n}" for n in range(self.ranks)} if self.ranks is not None else {"main"}
        self._started = [(process, None, ()) for process in sorted(self._running)]
        self._files = [os.path.abspath(self.words[0])] if is_native(self.words) else []
        self._child = self._launched(path)
        return self._gathered()

    def proceed(self, completions: list[Completion], going: list[Process]) -> Moment:
        self._answers.clear()  # a predicate may look at more than the state that it is given
        by_owner: dict[Process, list[tuple[Any, ...]]] = {}
        for each in [*completions, *[Completion(process) for process in going]]:
            owner = self._owners.get(each.process, each.process)
            by_owner.setdefault(owner, []).append((each.process, *self._told_with(each)))
        for owner, told in by_owner.items():
            self._go(owner, told)
        return self._gathered()

    def evaluate(self, process: Process, predicate: str, state: Collective) -> bool | str:
        where = self._evaluator(process)
        if where is None:
            return "the process that made the claim has gone"
        transit = [(m.name, m.sender, m.to, m.tag) for m in state.transit]
        looked = SystemState(dict(state.seen), transit)
        answers = self._answers.setdefault((self._pids[where], predicate), Answers())
        known = answers.find(looked)
        if known is not None:
            self.reads = answers.reads(looked)
            return known
        wire = self._wires[where]
        if self._asked is not state:
            self._asked, self._told = state, set()
        try:
            if where not in self._told:
                self._told.add(where)
                wire.send("state", dict(state.seen), transit)
            wire.send("evaluate", predicate)
            _, found, reads = wire.receive()
        except ClosedError:
            return "the process that made the claim has gone"
        result: bool | str = found
        answers.add(looked, reads, result)
        self.reads = reads
        return result

    def content(self, process: Process) -> bytes | None:
        """The digest of all that the interpreter of a process holds; None if something hides its state."""
        waiting = self._evaluator(process)
        if waiting is None or self._pids[waiting] != self._pids[process] or is_native(self.words):
            return None
        try:
            self._wires[waiting].send("content")
            _, found = self._wires[waiting].receive()
        except ClosedError:
            return None
        digest: bytes | None = found
        return digest

    def _evaluator(self, process: Process) -> Process | None:
        """Who made the claim; if it has ended, somebody in its interpreter, or at least in its program."""
        waiting = [p for p in sorted(self._wires) if p not in self._running and p not in self.held]
        if process in waiting:
            return process
        near = [p for p in waiting if self._pids[p] == self._pids.get(process)]
        return next(iter(near or waiting), None)

    def thread_of(self, process: Process) -> tuple[int, str]:
        return self._pids.get(process, 0), self._owners.get(process, process)

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._wires.clear()
        self._selector.close()
        if self.folder:
            self._end_child()
            shutil.rmtree(self.folder, ignore_errors=True)

    def output(self) -> str:
        """What the program printed so far, if it was not shown."""
        file = Path(self.folder) / "output"
        return file.read_text(errors="replace") if file.exists() else ""

    # ---- the user's line-by-line ----------------------------------------------------------------

    def line(self, process: Process) -> tuple[str, Seen] | None:
        """A held process goes on by one line; None: it has come to its next operation."""
        del self.held[process]
        self._wires[process].send("line")
        self._running.add(process)
        patience = Patience(self.patience)
        while process in self._running and process not in self.held:
            self._hear(patience)
        return self.held.get(process)

    # ---- starting and ending --------------------------------------------------------------------

    def _launched(self, path: str) -> Child:
        output = None if self.shows else os.path.join(self.folder, "output")
        settings = {
            "socket": path,
            "unbuffered": self.unbuffered,
            "protocol": VERSION,
            "output": None if self.ranks is None else output,
        }
        environment = {**os.environ, VARIABLE: json.dumps(settings), "PYTHONHASHSEED": "0"}
        return launched(self.words, self.ranks, environment, output)

    def _end_child(self) -> None:
        """Our connections are closed, so its processes end by themselves; what does not is ended."""
        try:
            self._child.wait(0.5 if self.ranks is None else 2.0)
        except subprocess.TimeoutExpired:
            pass
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._child.pid, number)
                self._child.wait(1.0)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue

    # ---- listening ------------------------------------------------------------------------------

    def _told_with(self, completion: Completion) -> tuple[Completion, list[Any], bool]:
        payloads = [self._payloads.get(message) for _, message, _, _ in completion.deliveries]
        return completion, payloads, completion.process in self.holding

    def _go(self, owner: Process, told: list[tuple[Any, ...]]) -> None:
        """Tasks of one event loop are told together, or it would rest after the first."""
        self._running.add(owner)
        if told[0][0] == owner:
            self._wires[owner].send("go", *told[0][1:])
        else:
            self._wires[owner].send("for", told)

    def _gathered(self) -> Moment:
        """Waits until everybody has stopped."""
        patience, self._still = Patience(self.patience), 0
        while self._running - set(self.held):
            self._hear(patience)
        found = Moment(
            self._pending,
            self._waiting,
            self._breaks,
            tuple(self._started),
            tuple(self._claims),
            tuple(self._failures),
            tuple(self._uncontrolled),
            tuple(self._assumed),
            tuple(self._files),
            tuple(self._daemons),
        )
        self._fresh()
        return found

    def _hear(self, patience: Patience) -> None:
        events = self._selector.select(LOOK)
        for key, _ in events:
            if key.fileobj is self._listening:
                self._accept()
            else:
                self._read(key.data)
        if not events:
            self._check_alive(patience)

    def _check_alive(self, patience: Patience) -> None:
        self._still = self._still + 1 if self._may_block and self._is_asleep() else 0
        if self._still >= STILL:
            who = ", ".join(sorted(self._running - set(self.held)))
            raise ControlError(
                f"{who} waits for something that is no message", hint="explore it without --macro"
            )
        if self._child.poll() is not None and not self._wires:
            raise PossiblyError(f"the program did not start: {_last_line(self.output())}", file=self.words[0])
        if patience.is_over({self._child.pid, *self._pids.values()}):
            who = ", ".join(sorted(self._running - set(self.held)))
            raise ControlError(
                f"{who} did not come to a communication operation within {self.patience:g} seconds",
                hint="it computes for longer (--patience SECONDS) or waits for something that is no message",
            )

    def _is_asleep(self) -> bool:
        """Whether all processes wait, none computes or would if it were let."""
        return all(map(is_asleep, set(self._pids.values())))

    def _accept(self) -> None:
        end, _ = self._listening.accept()
        self._selector.register(end, selectors.EVENT_READ, Wire(end))

    def _read(self, wire: Wire) -> None:
        try:
            wire.fill()
        except ClosedError:
            self._selector.unregister(wire.end)
            wire.close()
            self._gone(wire)
            return
        while (message := wire.next()) is not None:
            self._take(wire, *message)

    def _gone(self, wire: Wire) -> None:
        """A connection was closed: a thread that has ended, or a process that was killed."""
        for process in [p for p, w in self._wires.items() if w is wire]:
            del self._wires[process]
            if process in self._running:
                self._running.discard(process)
                self._failures.append((process, "the process ended without a word"))

    def _take(self, wire: Wire, what: str, *rest: Any) -> None:
        process = next((p for p, w in self._wires.items() if w is wire), "")
        if what == "for":
            self._take_for(process, *rest)
            return
        self._take_of(process, wire, what, *rest)

    def _take_for(self, owner: Process, task: Process, what: str, *rest: Any) -> None:
        """A word of a task, by the connection of its thread."""
        if what == "hello":
            self._owners[task], self._pids[task] = owner, self._pids[owner]
            self._started.append((task, owner, ()))
        else:
            self._take_of(task, None, what, *rest)

    def _take_of(self, process: Process, wire: Wire | None, what: str, *rest: Any) -> None:
        match what:
            case "hello":
                assert wire is not None
                name, pid = rest
                if name not in self._running:
                    self._running.add(name)
                    self._started.append((name, None, ()))
                self._wires[name], self._pids[name] = wire, pid
            case "expect":
                self._expect(rest[0], process, rest[1])
                self._daemons += [rest[0]] if rest[2] else []
            case "at":
                self._stopped(process, *rest)
            case "idle":
                self._stopped(process, rest[0], rest[1], rest[2], None)
            case "break":
                self._breaks[process] = rest[0]
            case "line":
                self.held[process] = (rest[0], rest[1])
            case "failed":
                self._failures.append((process, rest[0]))
            case "files":
                self._files += rest[0]
            case "uncontrolled":
                self._uncontrolled.append(rest[0])
                self._may_block = self.ranks is None
            case "may wait":
                self._may_block = self.ranks is None
            case "refused":
                hint = "explore it without --macro"
                raise ControlError(f"{rest[0]} cannot be controlled in macro-steps", hint=hint)

    def _expect(self, child: Process, parent: Process, touched: tuple[tuple[str, bool], ...]) -> None:
        """A process is being started; its own word may have come first."""
        if (child, None, ()) in self._started:
            self._started.remove((child, None, ()))
        elif child not in self._pids:
            self._running.add(child)
        self._started.append((child, parent, touched))

    def _stopped(
        self,
        process: Process,
        operation: Operation,
        seen: Seen,
        claims: list[MadeClaim],
        payload: bytes | None,
    ) -> None:
        if operation.kind == "send":
            self._sends[process] = self._sends.get(process, 0) + 1
            if payload is not None:
                name = f"{process}#{self._sends[process]}"
                self._payloads[name] = (operation.channel, payload)
        self._pending[process] = operation
        self._waiting[process] = seen
        self._claims += claims
        self._running.discard(process)


def is_asleep(pid: int) -> bool:
    """Whether all threads of a process wait, where the system tells."""
    try:
        states = [file.read_text().rpartition(")")[2].split()[0] for file in _threads(pid)]
    except OSError:
        return False
    return bool(states) and set(states) <= {"S"}


def _threads(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").glob("*/stat"))


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it ended at once"
