"""How a process that the program forks begins, goes on and ends.

Each has a deputy in the first process: a thread under control that does what the process asks for. A daemon's
is a daemon. Joining a process is joining its deputy. A process that is killed leaves what it holds as it is.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from typing import Any, NoReturn

from possibly.control.endings import failures
from possibly.control.execution import Access, Choice, Operation, Outcome, Step
from possibly.control.forking import outside
from possibly.control.forking.noted import Noted
from possibly.control.forking.system import die_with_parent
from possibly.control.models.files import DATABASE
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import writing
from possibly.control.runtime.kernel import Kernel
from possibly.control.world import doors, faults
from possibly.control.world.processes import anew, channel, files
from possibly.control.world.processes.channel import Channel, Gone
from possibly.control.world.processes.shared import at_place, made, objects
from possibly.control.world.processes.values import KILLS

NESTED = "a process that a forked process starts, which is not under control"
SOCKETS = "a socket that a forked process uses, which is not under control"
THREADS = "threads or tasks of a forked process, which are not explored"
ENDING: list[Any] = []
"""What a process that ends waits for, in the first process: functions of its deputy."""
AFTER: list[Any] = []
"""What happens when a process has ended, in the first process: functions of it."""
inherited: list[Any] = []
"""What forked processes inherit the ends of."""
living: list[Forked] = []
_plain_fork, _plain_waitpid = os.fork, os.waitpid


class Forked:
    """A process that the program has forked."""

    def __init__(self, name: str, daemon: bool = False) -> None:
        kernel = running.kernel
        assert kernel is not None
        self.returncode: int | None = None
        self.pid = 0
        self.name = name
        self.deputy = threading.Thread(target=self._serve, name=name, daemon=daemon)
        if outside.is_mapped:
            kernel.uncontrolled[outside.MAPPED] = "shared_memory, Value and Array are watched"

    def fork(self) -> bool:
        """Whether this is the new process, which has nothing but a way to ask the first one."""
        kernel = running.kernel
        assert kernel is not None
        kernel.visible("fork", "_:fork", ())
        mine, other = _plain_pair()
        outside.expected += 1
        try:
            self.pid = _plain_fork()
        finally:
            outside.expected -= 1
        if self.pid == 0:
            mine.close()
            _be_born(Channel(other))
            return True
        other.close()
        self.sentinel = mine.fileno()
        self._channel = Channel(mine)
        parent = next((each for each in living if each.task is kernel.current), None)
        for each in inherited:
            each.inherit(parent, self)
        living.append(self)
        self.deputy.start()
        if faults.may_come(kernel, faults.CRASH):
            broken = (Access(self.task.name, True),)
            faults.possible(kernel, f"crash of {self.name}", broken, self._crash, self._is_alive)
        return False

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
            case "sleep":
                kernel.visible("sleep", kernel.current.name, (), None, None, None, None, None, given[0])
            case "failed":
                failures.note({**given[0], "task": kernel.current.name})
            case "open":
                kernel.uncontrolled[given[0]] = given[1]
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
                for function in ENDING:
                    function()
        return None

    def _over(self, kernel: Kernel) -> None:
        try:
            _, status = _plain_waitpid(self.pid, 0)
            self.returncode = os.waitstatus_to_exitcode(status)
        except ChildProcessError:
            self.returncode = 255
        for function in AFTER:
            function(self)
        if self.returncode < 0:
            what = f"a forked process ended by signal {-self.returncode}"
            kernel.uncontrolled[what] = "explore without what ends it"

    # ---- what others ask of it ------------------------------------------------------------------

    def poll(self, flag: int = os.WNOHANG) -> int | None:
        if sys._getframe(1).f_code.co_name == "_cleanup":  # nothing depends on when it is noticed
            return None
        self.deputy.is_alive()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        self.deputy.join(timeout)
        return self.returncode

    def terminate(self) -> None:
        self._end_by(signal.SIGTERM)

    def kill(self) -> None:
        self._end_by(signal.SIGKILL)

    def _end_by(self, number: int) -> None:
        kernel = running.kernel
        task = self.task
        if kernel is None or task is None:
            return
        memory = accesses.memory
        if memory is not None and KILLS not in memory.visible and not task.ended:
            memory.racy[KILLS] = None
            memory.overflowed.add(KILLS)
        kernel.visible("kill", task.name, writing(task.name))
        if self._is_alive():
            self._die(kernel, number)

    def _die(self, kernel: Kernel, number: int) -> None:
        """What its next operation was going to be will not be done."""
        task = self.task
        self.returncode = -number
        outside.expected += 1
        os.kill(self.pid, signal.SIGKILL)
        outside.expected -= 1
        kernel.opened(("join", task.name), ("exit", task.name))
        kernel.end(task)
        for function in AFTER:
            function(self)

    def close(self) -> None:
        pass

    def duplicate_for_child(self, file: int) -> int:
        return file


class Popen(Forked):
    """What `multiprocessing` has of a process that runs."""

    def __init__(self, process: Any, method: str = "fork") -> None:
        kernel = running.kernel
        assert kernel is not None
        self.method = method
        data = anew.as_bytes(process, self) if method != "fork" else None
        if data is not None:
            kernel.assumed[anew.ASSUMED] = None
        super().__init__(process.name, process.daemon)
        if self.fork():
            _live(process, data)


def _plain_pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair()


# ---- the life of the process ------------------------------------------------------------------------


def _be_born(upward: Channel) -> None:
    die_with_parent()
    channel.upward = upward
    _alone()
    files.listen()
    doors.leave = _leave_network


def _live(process: Any, data: bytes | None) -> NoReturn:
    code = 1
    try:
        process = anew.born(data) if data is not None else process
        process.run = _telling(process.run)
        code = process._bootstrap(parent_sentinel=None)
        channel.ask("end")
    finally:
        sys.stdout.flush()
        os._exit(code)


def _leave_network() -> None:
    """What would come of it is not what really would."""
    channel.ask("leave", SOCKETS, "a Pipe or Queue of multiprocessing is under control, and so are threads")


def _telling(run: Any) -> Any:
    def telling() -> None:
        try:
            run()
        except SystemExit:
            raise
        except BaseException as error:
            channel.ask("failed", failures.failure_of(error))
            raise

    return telling


def _alone() -> None:
    """The copy of the kernel that this process has knows of nobody else."""
    kernel = running.kernel
    assert kernel is not None
    me = kernel.current
    me.host, me.loop, me.daemon, me.returns_to = None, "", False, None
    me.calls.clear()
    kernel.tasks, kernel.all = [me], [me]
    kernel.alone, kernel.has_timers, kernel.timed = False, False, False
    kernel.steps, kernel.watchers, kernel.limit = [], [], 10_000_000
    kernel.failure, kernel.uncontrolled = None, _Told()
    kernel.scheduler, kernel.finish = _Lonely(kernel), _finish
    kernel.look_for_rounds = None
    if accesses.memory is not None:
        accesses.memory.show_nothing()


def _forward(operation: Operation) -> None:
    """What the process does to a database that others may use is a step of its deputy."""
    touched = tuple((access.thing, access.writes) for access in operation.footprint)
    if operation.thing.startswith(DATABASE):
        channel.ask("step", operation.kind, operation.thing, touched)


class _Told(Noted):
    """What is not under control in this process is told to the first one."""

    def __setitem__(self, what: str, remedy: str | None) -> None:
        if what not in self:
            super().__setitem__(what, remedy)
            channel.ask("open", what, remedy)


class _Lonely:
    """The scheduler of a process with one task; what that sleeps passes for all."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def choose(self, choice: Choice) -> str | None:
        kernel = self._kernel
        if len(choice.enabled) > 1:
            kernel.uncontrolled[THREADS] = None
        chosen = choice.previous if choice.previous in choice.enabled else choice.enabled[0]
        task = next(each for each in kernel.tasks if each.name == chosen)
        if task.operation is not None:
            files.forward(task.operation)
            _forward(task.operation)
        if task.wakes_at is not None and task.wakes_at > task.time:
            channel.ask("sleep", task.wakes_at - task.time)
        return chosen

    def done(self, step: Step) -> None:
        self._kernel.steps.clear()


def _finish(outcome: Outcome, failure: dict[str, Any] | None) -> NoReturn:
    """Nobody in this process can go on."""
    if failure is not None:
        channel.ask("failed", failure)
    os._exit(1)
