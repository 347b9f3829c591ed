"""The life of a process that the program has started: it is alone, with a way to ask the first one."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any, NoReturn

from possibly.control.endings import failures
from possibly.control.execution import Choice, Operation, Outcome, Step
from possibly.control.forking.noted import Noted
from possibly.control.forking.system import die_with_parent
from possibly.control.loading import following
from possibly.control.models.files import DATABASE
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel
from possibly.control.world import doors
from possibly.control.world.processes import anew, channel, files, holding
from possibly.control.world.processes.channel import Channel
from possibly.control.world.waiting import selecting

LOOPS = "connections of an event loop in a process that the program has started, which are not under control"
BLOCKING = (
    "sockets that the process itself waits for are under control, and so are event loops in one process"
)
THREADS = "threads or tasks of a forked process, which are not explored"
ONE_EACH = "a process of its own for each is under control, and so are threads and tasks of the first process"


def be_born(upward: Channel, is_nested: bool = False) -> None:
    if not is_nested:
        die_with_parent()
    channel.upward = upward
    holding.children.clear()
    _alone()
    if not is_nested:
        files.listen()
    doors.asked, selecting.asked = _asked, _asked_to_select
    following.elsewhere = partial(channel.ask, "told")


def live(process: Any, data: bytes | None) -> NoReturn:
    """That of a process of `multiprocessing`."""
    code = 1
    try:
        process = anew.born(data) if data is not None else process
        process.run = _telling(process.run)
        code = process._bootstrap(parent_sentinel=None)
        channel.ask("end", code)
    finally:
        sys.stdout.flush()
        os._exit(code)


def _asked(*given: Any) -> Any:
    """The first method of a socket: from now on `lent` does them."""
    from possibly.control.world.processes import lent

    doors.asked = lent.begin()
    return doors.asked(*given)


def _asked_to_select(*given: Any) -> Any:
    from possibly.control.world.processes import lent

    return lent.select(*given)


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
            kernel.uncontrolled[THREADS] = ONE_EACH
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
