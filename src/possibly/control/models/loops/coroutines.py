"""The tasks and futures of `asyncio`: every use of one by a turn of a task is seen.

What a turn touches belongs to the step that the turn is (`loops`). Asking a future for its outcome reads it;
resolving and cancelling write it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import CodeType
from typing import Any, NamedTuple

from possibly.control.attached import Attached
from possibly.control.execution import ANY, SPIN, Access
from possibly.control.loading import packages
from possibly.control.models import told
from possibly.control.models.locks import label, name_for
from possibly.control.models.loops.in_turn import InTurn
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.places import place_of
from possibly.control.runtime.things import is_a
from possibly.probes.port import called, given_name

PlainTask: Any = asyncio.Task
PlainFuture: Any = asyncio.Future


class Place(NamedTuple):
    """Where a task stands in line."""

    mine: str
    """What its turn writes; "": nobody stands behind it."""
    before: frozenset[str]
    """What it reads: those who stand before it write that."""


class Ready:
    """A task is ready to go on: who has made it so, and, as soon as it does, its turn."""

    __slots__ = ("gone", "made", "thing")

    def __init__(self, thing: str, made: tuple[int, int]) -> None:
        self.thing, self.made = thing, made
        self.gone: tuple[int, int] | None = None


class Line:
    """Tasks that one turn has started or woken: each goes on after the one before it.

    Whoever begins to sleep, and a timer, comes after all who are ready, as in a loop that runs these before
    it looks at its clock. That counts for those of whom its turn knows: who is made ready by a turn that
    nothing orders with it might have been made ready later just as well.
    """

    def __init__(self, loop: str) -> None:
        self.loop = loop
        self.waiting: set[str] = set()
        """The things of those who have not gone on."""
        self.last = ""
        self._ready: dict[Task, list[Ready]] = {}
        self._places: dict[Task, Place] = {}

    @property
    def has_begun(self) -> bool:
        """Whether the running turn has made some task ready."""
        return bool(self.last)

    def begin(self, last: str = "") -> None:
        """A new turn begins, perhaps behind what another has made ready."""
        self.last = last

    def stand_behind(self, task: Task, kernel: Kernel) -> frozenset[str]:
        """The running turn has made the task ready; returns whom it stands behind."""
        known = self._ready.setdefault(task, [])
        before = frozenset({self.last} & self.waiting)
        mine = self.last = f"{self.loop}.line {task.name}#{len(known) + 1}"
        known.append(Ready(mine, kernel.moment()))
        self.waiting.add(mine)
        self._places[task] = Place(mine, before)
        return before

    def follow(self, task: Task, kernel: Kernel) -> frozenset[str]:
        """The task whose turn it was sleeps; returns what those write who go on before."""
        if kernel.free_sleeps:
            before = frozenset({self.last} & self.waiting)
        else:
            before = frozenset(self._ready_before(kernel.past(), task))
        self._places[task] = Place("", before)
        return before

    def _ready_before(self, past: dict[int, int], sleeper: Task) -> Iterator[str]:
        """Those whom a turn with that past knows to be ready, and not to have gone on."""
        for task, times in self._ready.items():
            for each in reversed(times if task is not sleeper else ()):
                if each.gone is not None and _is_in(past, each.gone):
                    break
                if _is_in(past, each.made):
                    yield each.thing

    def footprint_of(self, task: Task) -> tuple[Access, ...]:
        mine, before = self._places.get(task, NOWHERE)
        found = (Access(mine, True),) if mine else ()
        return (*found, *(Access(each, False) for each in sorted(before)))

    def leave(self, task: Task, kernel: Kernel) -> tuple[Access, ...]:
        """The task goes on; returns what its turn touches for that."""
        found = self.footprint_of(task)
        mine, _ = self._places.pop(task, NOWHERE)
        if mine:
            self.waiting.discard(mine)
            self._ready[task][-1].gone = kernel.moment()
        return found


NOWHERE = Place("", frozenset())


def _is_in(past: dict[int, int], moment: tuple[int, int]) -> bool:
    index, count = moment
    return past.get(index, 0) >= count


class Calls:
    """Calls from other threads: one that was made after another, as threads know, comes after it.

    Those that no thread has put in order may have been made either way round, and come in any order.
    """

    def __init__(self) -> None:
        self._made: list[tuple[int, int, Task]] = []
        self._behind: dict[Task, list[Task]] = {}
        self._left: dict[Task, str] = {}
        """Of calls that have come: the last in line of those that they made ready."""

    def make(self, caller: Task, call: Task) -> list[Task]:
        """A thread makes a call; returns the calls that have not come and were made before."""
        before = [each for index, count, each in self._made if caller.clock.get(index, 0) >= count]
        self._behind[call] = before
        self._made = [made for made in self._made if not made[2].ended]
        self._made.append((caller.index, caller.clock.get(caller.index, 0), call))
        return [each for each in before if not each.ended]

    def footprint_of(self, call: Task) -> tuple[Access, ...]:
        """What tells that the calls before have come."""
        return tuple(Access(each.name, False) for each in self._behind.get(call, ()))

    def come(self, call: Task, line: Line) -> None:
        """Its turn begins: what it makes ready stands behind what those before have made ready."""
        lasts = [self._left[each] for each in self._behind.get(call, ()) if each in self._left]
        line.begin(lasts[-1] if lasts else "")

    def gone(self, call: Task, line: Line) -> None:
        if call in self._behind:
            self._left[call] = line.last


class LoopState:
    """What the model knows of one event loop."""

    def __init__(self, host: Task) -> None:
        self.name = name_for("loop")
        self.end = f"{self.name}.end"
        """What every turn that is ready reads, and whoever stops the loop or lets it run again writes."""
        self.run = self.end
        """What a turn reads that is had in this run of the loop; the step that begins the run writes it."""
        self.runs = 0
        self.census = f"{self.name}.census"
        """What a turn reads that makes or ends a task, and whoever asks for all of them writes."""
        self.is_closing = False
        """The program is done with the loop: it runs once more to end what is left."""
        self.host = host
        self.busy = False
        self.running = False
        self.handles: dict[Task, Any] = {}
        self.wakers: dict[Task, str] = {}
        """Whose turn made the next turn of a task ready."""
        self.line = Line(self.name)
        self.new_timers: list[Task] = []
        """Those that have no place in line: the turn that has made them is not over."""
        self.in_turn = InTurn()
        self.calls = Calls()
        self.repeated: list[Any] = []
        """Callbacks of libraries that have themselves called again and again: they come after a turn."""
        self.unheard: list[Any] = []
        """What other threads gave the loop while it slept, by a way that does not wake it."""

    def begin_run(self, kernel: Kernel, is_closing: bool) -> None:
        """Whatever is ready could not go on just before."""
        self.running, self.busy, self.is_closing = True, False, is_closing
        self.runs += 1
        self.run = f"{self.name}.run{self.runs}"
        if kernel.in_step:
            kernel.add(Access(self.run, True))
            kernel.add(Access(self.end, True))
            kernel.opened((ANY, self.end))

    def touched_by_turn(self) -> tuple[Access, ...]:
        """What a turn reads because it is had in this run and in no other.

        Whatever it does that matters to the stopping turn, or to what is done between two runs, meets these
        by itself: a run that only closes the loop follows at once. Between other runs the program may do
        anything.
        """
        run = Access(self.run, False)
        return (run, Access(self.end, False)) if self.runs > 1 and not self.is_closing else (run,)

    def is_asleep(self) -> bool:
        """Whether the loop waits for something to wake it: no turn runs, and none is ready."""
        turns = (task for task in self.handles if task.operation and task.operation.kind in ("resume", SPIN))
        return self.running and not self.busy and next(turns, None) is None

    def can_go(self) -> bool:
        return self.running and not self.busy


states: Attached[LoopState] = Attached()
numbers = count(1)
"""Of tasks that nobody named; begins anew with each execution."""
known_tasks: Attached[Task] = Attached()
"""Task of asyncio -> task of ours."""


def state_of(loop: Any, kernel: Kernel) -> LoopState:
    found = states.get(loop)
    if found is None:
        host = kernel.current.host or kernel.current
        found = states[loop] = LoopState(host)
    return found


FROM_THREADS = "_:asyncio from other threads"
"""The family that is visible where threads use what belongs to a loop: then turns stop at each such use."""


def touch(thing: Any, writes: bool) -> None:
    """The running turn touches a primitive of asyncio."""
    kernel = running.kernel
    if kernel is None:
        return
    if kernel.current.host is None:
        _use_from_outside(thing, kernel, writes)
        return
    if _hears:
        meet_threads(name_of(thing), writes, kernel)
        _stop_at(thing, writes, kernel)
        kernel.add(Access(name_of(thing), writes))


_hears = True


@contextmanager
def unheard() -> Iterator[None]:
    """What is done meanwhile touches nothing that matters: callers say why."""
    global _hears
    _hears = False
    try:
        yield
    finally:
        _hears = True


def meet_threads(name: str, writes: bool, kernel: Kernel) -> None:
    """A thread may have used it while the loop did not run, or may do so when it runs no more."""
    memory = accesses.memory
    if memory is not None and name not in memory.visible and kernel.is_mixed and not kernel.quiet:
        _note_meeting(name, writes, True, kernel, memory)


class _Meetings:
    """Who has used what belongs to loops in one execution, threads and turns."""

    def __init__(self, kernel: Kernel | None) -> None:
        self.kernel = kernel
        self.uses: dict[str, dict[tuple[bool, int, bool, int], int]] = {}
        """Name -> (whether in a turn, task, whether it writes, thread) -> when last, by that task's clock."""


_meetings = _Meetings(None)


def _note_meeting(name: str, writes: bool, is_turn: bool, kernel: Kernel, memory: Memory) -> None:
    """Finds a use by a thread and one in a turn that nothing orders; turns among each other are steps."""
    global _meetings
    if _meetings.kernel is not kernel:
        _meetings = _Meetings(kernel)
    if not kernel.joined:
        kernel.commit()
    task, uses = kernel.running(), _meetings.uses.setdefault(name, {})
    mine = (task.host or task).index  # a thread that runs a loop does nothing beside it
    for (in_turn, index, wrote, thread), when in uses.items():
        is_conflict = in_turn != is_turn and (writes or wrote) and thread != mine
        if is_conflict and task.clock.get(index, 0) < when:
            _show(memory, FROM_THREADS, name)
    uses[is_turn, task.index, writes, mine] = task.clock.get(task.index, 0)


def _show(memory: Memory, *families: str) -> None:
    """From the next execution on turns stop at each use of such things, or tell when a task is done."""
    for each in families:
        if each not in memory.visible:
            memory.racy[each] = None
            memory.overflowed.add(each)


def is_asked_by_threads(name: str) -> bool:
    """Whether threads ask for it: then it matters when a task is done, not only when it counts as ended."""
    memory = accesses.memory
    return memory is not None and name in memory.visible


def _stop_at(thing: Any, writes: bool, kernel: Kernel) -> None:
    """Other threads use such things too: they may do so just before."""
    memory = accesses.memory
    if memory is not None and FROM_THREADS in memory.visible and kernel.is_mixed:
        kernel.visible("use", name_of(thing), (Access(name_of(thing), writes),))


def _use_from_outside(thing: Any, kernel: Kernel, writes: bool = True) -> None:
    """A thread uses what belongs to the loop of another: that is a step, and wakes nobody."""
    memory = accesses.memory
    others = [state for state in states.values() if state.running and state.host is not kernel.current]
    if memory is None or kernel.quiet:
        return
    name = name_of(thing)
    if not others:  # it serves threads alone, or its own loop does not run
        memory.access(kernel, name, name, (Access(name, writes),), place_of(sys._getframe()))
        if not kernel.alone and name not in memory.visible:
            _note_meeting(name, writes, False, kernel, memory)
        return
    _show(memory, FROM_THREADS, *([name] if isinstance(thing, PlainTask) else []))
    loops = tuple(Access(state.name, True) for state in others if writes)
    kernel.visible("use", name, (Access(name, writes), *loops))


def is_of_loops(value: Any) -> bool:
    """Whether it is a primitive, a future or a task of an event loop."""
    return is_a(value, (asyncio.Future, asyncio.mixins._LoopBoundMixin))


def resolved(thing: Any) -> None:
    """The running turn makes a future or a task be done: whoever waits for it could not go on before."""
    kernel = running.kernel
    if kernel is not None and kernel.current.host is None:
        _use_from_outside(thing, kernel)
    elif kernel is not None:
        meet_threads(name_of(thing), True, kernel)
        _stop_at(thing, True, kernel)
        kernel.add(Access(name_of(thing), True))
        if _holds_up(thing):
            kernel.opened(("resume", name_of(thing)))


def _holds_up(thing: Any) -> bool:
    """Whether somebody may wait for this: a future that is not done, a task whose own turn is not ready."""
    if isinstance(thing, PlainTask):
        known = known_tasks.get(thing)
        return known is not None and known.operation is not None and known.operation.kind == "await"
    return not PlainFuture.done(thing)


def name_of(thing: Any) -> str:
    if isinstance(thing, PlainTask):
        known = known_tasks.get(thing)
        if known is not None:
            return known.name
    found: str | None = getattr(thing, "_possibly_name", None)
    if found is None:
        found = thing._possibly_name = name_for(type(thing).__name__.lower())
        label(found, type(thing).__name__.lower(), 1)
    return found


OF_GROUPS = frozenset({"TaskGroup._abort", "TaskGroup._on_task_done"})
"""Where a task group cancels its tasks since one of them has failed: no line of the user's does."""


class _Seen:
    """What a future and a task have in common: asking for the outcome reads it, cancelling writes it."""

    _possibly_cancelled: tuple[str, str] | None = None
    """Who cancelled it, and where, until it arrives."""

    def cancel(self, msg: Any = None) -> bool:
        resolved(self)
        mine, kernel = known_tasks.get(self), running.kernel
        if mine is not None:
            mine.wakes_at = None  # what it sleeps for is over now
            if kernel is not None:
                task: Any = self
                state_of(task.get_loop(), kernel).in_turn.wakes(mine)
                caller = sys._getframe(1)
                where = "" if caller.f_code.co_qualname in OF_GROUPS else place_of(caller)
                self._possibly_cancelled = kernel.current.name, where
        found: bool = super().cancel(msg)  # type: ignore[misc]
        return found

    def done(self) -> bool:
        touch(self, False)
        found: bool = super().done()  # type: ignore[misc]
        return found

    def result(self) -> Any:
        touch(self, False)
        return super().result()  # type: ignore[misc]

    def exception(self) -> Any:
        touch(self, False)
        return super().exception()  # type: ignore[misc]

    def cancelled(self) -> bool:
        if not _only_passes_on(sys._getframe(1).f_code):
            touch(self, False)
        found: bool = super().cancelled()  # type: ignore[misc]
        return found

    def add_done_callback(self, function: Any, *, context: Any = None) -> None:
        touch(self, _is_asked_by_program(sys._getframe(1).f_code))
        super().add_done_callback(function, context=context)  # type: ignore[misc]

    def remove_done_callback(self, function: Any, /) -> int:
        if _is_asked_by_program(sys._getframe(1).f_code):
            touch(self, True)
        found: int = super().remove_done_callback(function)  # type: ignore[misc]
        return found

    def __await__(self) -> Any:
        touch(self, False)
        return super().__await__()  # type: ignore[misc]

    __iter__ = __await__


def _is_asked_by_program(caller: CodeType) -> bool:
    """Whether a callback is the program's: those of asyncio wake who waits, and nobody else knows of them."""
    return not packages.is_modelled(caller.co_filename)


def _only_passes_on(caller: CodeType) -> bool:
    """Whether a thread of a pool asks, to hand its result to a loop.

    It does so in any case unless the loop is closed too; and what is raised if it is handed to a closed loop
    is swallowed by the future that calls back. So a program cannot see the answer.
    """
    return caller.co_name == "_call_set_state" and caller.co_filename == asyncio.futures.__file__


class Future(_Seen, PlainFuture):  # type: ignore[misc]
    """A future whose every use is seen."""

    _possibly_after: Any = ()

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        if running.kernel is not None:
            name_of(self)

    def set_result(self, result: Any) -> None:
        resolved(self)
        super().set_result(result)

    def set_exception(self, exception: Any) -> None:
        resolved(self)
        super().set_exception(exception)


class AsyncTask(_Seen, PlainTask):  # type: ignore[misc]
    """A task whose every use is seen."""

    def __init__(self, coro: Any, *, loop: Any = None, **options: Any) -> None:
        kernel = running.kernel
        if kernel is None:
            super().__init__(coro, loop=loop, **options)
            return
        mine = kernel.new_task("")
        is_named = options.get("name") is not None
        if not is_named:  # C code would go on counting in the next execution
            options["name"] = f"Task-{next(numbers)}"
        super().__init__(coro, loop=loop, **options)
        mine.label = given_name(super().get_name()) if is_named else called(coro, kernel.counts)
        state = state_of(loop if loop is not None else self.get_loop(), kernel)
        mine.host, mine.loop = state.host, state.name
        known_tasks[self] = mine
        kernel.admit(mine)
        kernel.add(Access(mine.name, True))
        kernel.add(Access(state.census, False))

    def cancelling(self) -> int:
        touch(self, False)
        found: int = super().cancelling()
        return found

    def uncancel(self) -> int:
        kernel = running.kernel
        touch(self, kernel is not None and known_tasks.get(self) is not kernel.current)
        found: int = super().uncancel()
        return found

    def get_name(self) -> str:
        told.touch_parts(self, ("name",), depth=2)
        found: str = super().get_name()
        return found

    def set_name(self, value: object) -> None:
        told.touch_parts(self, (), ("name",), depth=2)
        super().set_name(value)
        mine = known_tasks.get(self)
        if mine is not None:
            mine.label = str(value)
