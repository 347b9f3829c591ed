"""What happens to an event loop from outside its tasks: in a turn of its own, or not at all."""

from __future__ import annotations

from asyncio import events
from collections.abc import Callable
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.models.loops.coroutines import state_of
from possibly.control.runtime.kernel import Kernel, Task


def hosted(
    kernel: Kernel, loop: Any, label: str, operation: Operation, act: Callable[[], None], ready: Any
) -> Task:
    """Something that happens to an event loop, in a turn of its own."""
    state = state_of(loop, kernel)
    mine = kernel.new_task(label)
    mine.host, mine.loop, mine.daemon = state.host, state.name, True
    kernel.admit(mine)
    kernel.add(Access(mine.name, True))
    state.handles[mine] = events.Handle(act, (), loop, None)
    touched = (Access(state.name, True), Access(state.end, False), Access(mine.name, True))
    mine.operation = operation._replace(footprint=(*touched, *operation.footprint))
    mine.ready = lambda: state.can_go() and ready()
    return mine


def withdraw(kernel: Kernel, loop: Any, task: Task) -> None:
    """What was about to happen, to a loop if one is given, will not happen."""
    if loop is not None:
        state_of(loop, kernel).handles.pop(task, None)
    kernel.withdraw(task)
