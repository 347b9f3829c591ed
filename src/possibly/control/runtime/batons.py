"""How tasks stand still and go on: threads of the system, or stacks that one thread changes between.

Law: exactly one task runs. A task that is to stand still acquires its baton, and goes on when somebody
releases that. Between two such moments nothing else happens, so a task does not need a thread of its own: a
greenlet, whose stack is put aside, will do wherever the program cannot tell the difference (`repeatable`).
To go from one to another is then a call instead of two turns of the system's scheduler, and a new task costs
no thread.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol


class Baton(Protocol):
    """Has been released as often as acquired, or once less; new ones are taken."""

    def acquire(self) -> Any: ...

    def release(self) -> Any: ...


def lock() -> Baton:
    """For threads of the system."""
    made = allocate_lock()
    made.acquire()
    return made


new: Callable[[], Baton] = lock
"""Makes the baton of a new task."""
launch: Callable[[Any, Callable[[], None]], None] | None = None
"""Begins a new task with the next `acquire` of the running one; None: the thread is really started."""


def have_greenlets() -> bool:
    """Whether the library is there; it is imported before any program can notice."""
    try:
        import_module("greenlet")
    except ImportError:
        return False
    return True


def use_greenlets() -> None:
    """From now on tasks of this process share one thread."""
    global new, launch
    library: Any = import_module("greenlet")
    getcurrent, greenlet = library.getcurrent, library.greenlet
    turn: Turn | None = None
    idle: list[Any] = []
    """Stacks whose task has ended: a new one takes the system ten times as long as a switch."""
    bodies: dict[Any, Callable[[], None]] = {}

    class Turn:
        """The baton of a greenlet."""

        __slots__ = ("stack",)

        def __init__(self) -> None:
            self.stack: Any = getcurrent()

        def release(self) -> None:
            nonlocal turn
            turn = self

        def acquire(self) -> None:
            while turn is not self:  # whoever ends comes back to the first greenlet, to be sent on
                assert turn is not None
                turn.stack.switch()

    def serve() -> None:
        me = getcurrent()
        while True:
            bodies.pop(me)()
            idle.append(me)
            first.switch()

    def begin(task: Any, body: Callable[[], None]) -> None:
        stack = idle.pop() if idle else greenlet(serve, parent=first)
        stack.gr_context = None  # as that of a new thread
        bodies[stack] = body
        task.lock.stack = stack
        task.lock.release()

    first = getcurrent()
    new, launch = Turn, begin
