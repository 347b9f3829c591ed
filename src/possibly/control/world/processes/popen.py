"""How a process that the program starts begins, goes on and ends, as the first process has it.

Each has a deputy in the first process: a thread under control that does what the process asks for. A daemon's
is a daemon. Joining a process is joining its deputy. A process that is killed leaves what it holds as it is.
One that a started process starts is adopted: it asks the first process too (`nested`).
"""

from __future__ import annotations

import errno
import os
import posix
import signal
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any

from possibly.control.endings import failures
from possibly.control.execution import Access, Operation, Outcome
from possibly.control.forking import outside
from possibly.control.loading import following
from possibly.control.models import threads
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.places import place_of
from possibly.control.world import faults, signals
from possibly.control.world.processes import anew, channel, files, holding, life
from possibly.control.world.processes.channel import Channel, Gone
from possibly.control.world.processes.holding import living
from possibly.control.world.processes.nested import Nested
from possibly.control.world.processes.shared import at_place, kept, made, objects
from possibly.control.world.processes.values import KILLS
from possibly.control.world.waiting import selecting

HANDLED = "a signal to a process that handles it, which is not under control"
_plain_fork, _plain_waitpid = posix.fork, posix.waitpid


class Forked:
    """A process that the program has started."""

    def __init__(self, name: str, daemon: bool = False, is_awaited: bool = False) -> None:
        kernel = running.kernel
        assert kernel is not None
        self.returncode: int | None = None
        self.pid = 0
        self.name = name
        self.is_awaited = is_awaited
        self.is_reaped = False
        """Somebody has been told how it ended."""
        self.deputy = threading.Thread(target=self._serve, name=name, daemon=daemon)
        self.handled: dict[int, str] = {}
        """What it does with signals: "handled", "ignored", or nothing, and it ends."""
        self._code = 255
        """How it said that it would end."""
        if outside.is_mapped:
            kernel.uncontrolled[outside.MAPPED] = "shared_memory, Value and Array are watched"

    def fork(self) -> bool:
        """Whether this is the new process, which has nothing but a way to ask the first one."""
        kernel = running.kernel
        assert kernel is not None
        kernel.visible("fork", "_:fork", ())
        if "possibly.control.world.listeners" in sys.modules:
            from possibly.control.world.processes import lent

            lent.lend()
        mine, other = socket.socketpair()
        outside.expected += 1
        try:
            self.pid = _plain_fork()
        finally:
            outside.expected -= 1
        if self.pid == 0:
            mine.close()
            life.be_born(Channel(other))
            return True
        other.close()
        self.sentinel = mine.fileno()
        self.begin(kernel, Channel(mine))
        return False

    def begin(self, kernel: Kernel, way: Channel) -> None:
        """It has been forked, and asks on this way."""
        self._channel = way
        holding.inherit(holding.whose(), self)
        living.append(self)
        self.deputy.start()
        if faults.may_come(kernel, faults.CRASH):
            fault = faults.possible(
                kernel, f"crash of {self.name}", self._ended(), self._crash, self._is_alive
            )
            known = fault.operation
            assert known is not None
            fault.refresh = lambda: known._replace(footprint=(*known.footprint, *self._ended()))

    @property
    def task(self) -> Any:
        return self.deputy.__dict__.get("_possibly_task")

    # ---- the deputy -----------------------------------------------------------------------------

    def _serve(self) -> None:
        kernel = running.kernel
        assert kernel is not None
        me = kernel.current
        me.calls.clear()  # that of this function is no call of the program
        me.always = (Access(me.name, False),)  # whoever ends the process ends it before or after each step
        while True:
            try:
                *message, place, state = self._channel.receive()
            except Gone:
                break
            try:
                answer = False, at_place(place, state, lambda message=message: self._do(kernel, *message))  # type: ignore[misc]
            except Exception as error:  # noqa: BLE001 - it is raised in the process that asks
                answer = True, error
            try:
                self._channel.send(*answer, kernel.current.time)
            except Gone:
                break
        self._over(kernel)

    def _ended(self) -> tuple[Access, ...]:
        """What is touched if it ends now."""
        return Access(self.task.name, True), *holding.touched_at_end(self)

    def _is_alive(self) -> bool:
        return self.returncode is None and not self.task.ended

    def _crash(self) -> None:
        if running.kernel is not None:
            self._die(running.kernel, signal.SIGKILL)

    def _do(self, kernel: Kernel, word: str, *given: Any) -> Any:
        match word:
            case "call":
                number, method, arguments = given
                return getattr(objects[number], method)(*arguments)
            case "make":
                return made(*given)
            case "socket":
                from possibly.control.world.processes import lent

                return lent.new(*given)
            case "adopt":
                return self._adopt(kernel, *given)
            case "wait":
                numbers, only_looks = given
                return first_ended(kernel, [objects[each] for each in numbers], only_looks)
            case "select":
                wanted, timeout = given
                parts = [(objects[number].watched(), *how) for number, *how in wanted]
                return selecting.selected(kernel, parts, timeout)
            case "kill":
                return holding.sent(*given)
            case "handles":
                number, self.handled[number] = given
            case "keep":
                holding.keep_only(self, [objects[number].held[writes] for number, writes in given[0]])
            case "sleep":
                kernel.visible("sleep", kernel.current.name, (), None, None, None, None, None, given[0])
            case "failed":
                failures.note({**given[0], "task": kernel.current.name})
            case "open":
                kernel.uncontrolled[given[0]] = given[1]
            case "told":
                following.heard_of(kernel, *given)
            case "step":
                kind, thing, things = given
                kernel.visible(kind, thing, tuple(Access(*each) for each in things))
            case "change":
                from possibly.control.world import databases  # only programs with one load it

                return databases.wait_for_change(*given)
            case "lock":
                from possibly.control.world.processes import file_locks

                file_locks.step(*given)
            case "file":
                files.touch(*given)
            case "touch":
                thing, things = given
                kind = "write" if any(writes for _, writes in things) else "read"
                kernel.visible(kind, thing, tuple(Access(*each) for each in things))
            case "leave":
                kernel.uncontrolled[given[0]] = given[1]
                kernel.finish(Outcome.CUT_OFF, None)
            case "end":
                self._code = given[0]
                for function in holding.ending:
                    function()
        return None

    def _adopt(self, kernel: Kernel, name: str, daemon: bool, is_awaited: bool, pid: int) -> tuple[int, str]:
        """The process has forked another one, which it calls by that number."""
        found = Forked(name or f"forked process {len(living) + 1}", daemon, is_awaited)
        found.pid = pid
        found.begin(kernel, Channel(socket.socket(fileno=self._channel.receive_file())))
        return kept(found), found.name

    def _over(self, kernel: Kernel) -> None:
        try:
            _, status = _plain_waitpid(self.pid, 0)
            self.returncode = os.waitstatus_to_exitcode(status)
        except ChildProcessError:  # another's child
            self.returncode = self._code if self.returncode is None else self.returncode
        holding.leave(self)
        if signals.handles_ends():
            signals.send(kernel, signal.SIGCHLD, event=self.task)
        if self.returncode < 0:
            what = f"a forked process ended by signal {-self.returncode}"
            kernel.uncontrolled[what] = "explore without what ends it"

    # ---- what others ask of it ------------------------------------------------------------------

    def poll(self) -> int | None:
        self.deputy.is_alive()
        return self._told()

    def wait(self, timeout: float | None = None) -> int | None:
        self.deputy.join(timeout)
        return self._told()

    def _told(self) -> int | None:
        self.is_reaped = self.task.ended
        return self.returncode if self.is_reaped else None

    def receive(self, number: int) -> None:
        """It is sent a signal."""
        kernel = running.kernel
        if kernel is None or self.is_reaped:
            raise ProcessLookupError(errno.ESRCH, "No such process")
        if self.handled.get(number) == "handled" and number != signal.SIGKILL:
            kernel.uncontrolled[HANDLED] = "one that it does not handle is under control, as a pipe to it is"
            kernel.finish(Outcome.CUT_OFF, None)
        if number not in (0, signal.SIGCHLD, signal.SIGCONT) and self.handled.get(number) != "ignored":
            self.end_by(number)

    def end_by(self, number: int) -> None:
        """It is sent a signal that ends it."""
        kernel = running.kernel
        task = self.task
        if kernel is None or task is None:
            return
        memory = accesses.memory
        if memory is not None and KILLS not in memory.visible and not task.ended:
            memory.racy[KILLS] = None
            memory.overflowed.add(KILLS)
        at = place_of(sys._getframe())
        refresh = lambda: Operation("kill", task.name, self._ended(), at)  # noqa: E731
        kernel.visible("kill", task.name, self._ended(), at, None, None, None, refresh)
        kernel.did(self._ended())
        if self._is_alive():
            self._die(kernel, number)

    def _die(self, kernel: Kernel, number: int) -> None:
        """What its next operation was going to be will not be done."""
        task = self.task
        self.returncode = -number
        outside.expected += 1
        posix.kill(self.pid, signal.SIGKILL)
        outside.expected -= 1
        kernel.opened(("join", task.name), ("exit", task.name))
        kernel.end(task)
        holding.leave(self, within=True)


def first_ended(kernel: Kernel, wanted: list[Forked], only_looks: bool) -> tuple[int, int] | None:
    """Which of these has ended, and how; waits for one unless it only looks."""

    def ended() -> list[Forked]:
        return [each for each in wanted if each.task.ended]

    footprint = tuple(Access(each.task.name, False) for each in wanted)
    name = wanted[0].task.name
    kind = "look" if only_looks else "join" if len(wanted) == 1 else "join any"
    kernel.visible(kind, name, footprint, None, None if only_looks else ended)
    done = next(iter(ended()), None)
    return None if done is None else (done.pid, done._told() or 0)


def _alone() -> list[Any]:
    return [each.task for each in living if not each.is_awaited]


threads.alone, threads.let_go = _alone, partial(holding.leave, None)
Process = Forked | Nested


def started(name: str, daemon: bool = False, is_awaited: bool = False) -> Process | None:
    """A new process that goes on from here; None in that process."""
    made = (Nested if channel.upward is not None else Forked)(name, daemon, is_awaited)
    with signals.put_off():
        return None if made.fork() else made


class Popen:
    """What `multiprocessing` has of a process that runs."""

    def __init__(self, process: Any, method: str = "fork") -> None:
        kernel = running.kernel
        assert kernel is not None
        self.method = method
        data = anew.as_bytes(process, self) if method != "fork" else None
        if data is not None:
            kernel.assumed[anew.ASSUMED] = None
        found = started(process.name, process.daemon, True)
        if found is None:
            life.live(process, data)
        self._process = found
        self.pid, self.sentinel = found.pid, found.sentinel

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def poll(self, flag: int = os.WNOHANG) -> int | None:
        if sys._getframe(1).f_code.co_name == "_cleanup":  # nothing depends on when it is noticed
            return None
        return self._process.poll()

    def wait(self, timeout: float | None = None) -> int | None:
        return self._process.wait(timeout)

    def terminate(self) -> None:
        self._receive(signal.SIGTERM)

    def kill(self) -> None:
        self._receive(signal.SIGKILL)

    def _receive(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self._process.receive(number)

    def close(self) -> None:
        pass

    def duplicate_for_child(self, file: int) -> int:
        return file
