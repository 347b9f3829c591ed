"""The kernel of a controlled execution: one task runs at a time, and a scheduler says which.

Theory of operation. A task is a thread, or a task of an event loop. Whoever holds the baton runs; all others
stand in `lock.acquire()` of a raw lock of their own. A task that comes to a visible operation calls
`visible`: it puts down what it is about to do and when it can be done (`ready`), and passes the baton on.
The one who holds the baton asks the scheduler and hands it to the chosen task, perhaps itself; the chosen
task does its operation and runs on to its next one. What is modelled is never blocked on: a task is only
chosen when its operation can be done at once.

A new task runs, as a part of the step that starts it, up to its own first visible operation: until then
nobody can tell that it runs.

The order of an execution (`clocks`) is kept by footprints, so that what is done between visible operations
can be looked through for races (`memory`). Virtual time belongs to a task and travels along that order:
what a task reads from its clock depends on what it did and on what it waited for, not on the schedule. When
sleeps, timers and time-outs may come is said in `moments`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import index
from types import CodeType
from typing import Any, NoReturn

from possibly.control.execution import (
    CALLED_FROM,
    SPIN,
    Access,
    Choice,
    Operation,
    Outcome,
    Scheduler,
    Step,
    new_tuple,
)
from possibly.control.forking.noted import Noted
from possibly.control.models.moments import (
    Moment,
    begin_of,
    has_time,
    is_timed,
    is_waiting,
    lateness,
    moment_of,
    slot_of,
)  # fmt: skip
from possibly.control.runtime.places import place_of, users_line
from possibly.control.runtime.spin import NEUTRAL
from possibly.control.runtime.task import Carried, Clocks, Ready, Task, learn_under_lock, published

__all__ = ["CLOCK", "EXIT", "INPUT", "Kernel", "Task"]
Shut = tuple[tuple[str, str], ...]
CLOCK = "_:clock"
"""The family that becomes visible when somebody has to wait for the time to pass (`moments`)."""
EARLY = "a time-out may come at any moment"
ROUNDS = 32
"""After so many steps it is looked whether the execution goes round for ever."""
INPUT = "input and output of an event loop, which is not under control"
OVERTIME = 100
TURNS = 1_000
"""So many turns in a row has a task of an event loop while others are ready; then these go first."""
MOMENTS = 200
"""What happens in one turn of a loop's task beyond that is not told, unless a specification speaks of it."""
EXIT = "_:exit"
"""The thing that the end of the program writes and every step of a daemon reads, but for its own end where
nobody has the last word: whoever has nothing left to do is not missed."""
UNSEEN_END = ("exit", EXIT)
"""What a step of a daemon finds shut: the end of the program just before it would show nothing new, since
nobody who is left would miss the step. That it comes before that end is tried in any case."""


def _nothing_inside(root: CodeType) -> None:
    """Nobody wants to know."""


def _never() -> bool:
    return False


class Kernel:
    """One execution."""

    def __init__(
        self,
        scheduler: Scheduler,
        finish: Callable[..., NoReturn],
        stuck: Callable[[Kernel], tuple[Outcome, dict[str, Any] | None]],
        limit: int = 20_000,
    ) -> None:
        self.scheduler = scheduler
        self.stuck = stuck
        """Says what it means that nobody can go on."""
        self.finish = finish
        """Ends the process: (outcome, failure)."""
        self.limit = limit
        self.in_calls: Callable[[Kernel, Task, bool], tuple[Access, ...]] | None = None
        """What else a step touches that is done in the middle of a call; whether that step has begun."""
        self.alike: Any = None
        """Lets tasks that are interchangeable go in one order (`joining.alike`)."""
        self.has_last_words = False
        """Functions of the program are called at its end: they see how far daemons came."""
        self.second: Callable[[], None] | None = None
        """Told when there is to be a second task for the first time."""
        self.show: Callable[[tuple[str, ...]], None] | None = None
        """Makes families choice points, from the next execution on."""
        self.carried: list[Carried] = []
        """What tasks have learnt of others by locks that are no choice points."""
        self.look_for_rounds: Callable[[Kernel], None] | None = None
        """Ends the execution if it goes round for ever."""
        self.look_inside: Callable[[CodeType], None] = _nothing_inside
        """Code that is not watched seems to go round: ends the execution, to watch it."""
        self.early_timeouts = False
        self.slack = 1.0
        """Seconds by which a sleep, a timer, a time-out or whoever is ready may come late."""
        self.fifo = False
        self.free_sleeps = False
        """A sleep may end before those go on who were ready when it began: for whoever asks what decides."""
        self.split = False
        """What is sent on a connection may arrive in pieces, or together with what follows."""
        self.faults: frozenset[str] = frozenset()
        """Kinds of faults that may come (`world.faults`), so many at most, and so many more."""
        self.faults_most = self.faults_left = 0
        self.threaten: Callable[[Kernel, Any, tuple[Any, ...], tuple[str, ...], str], None] | None = None
        """Told of each call of what is not watched, which may fail (`world.disks`)."""
        self.timed = False
        """In this program somebody has to wait for the time to pass: every step says when it is."""
        self.repeat = False
        """What was found out too late makes this execution useless for the search."""
        first = Task((0,), 0, "MainThread", False)
        first.clock[0] = 1
        self.tasks: list[Task] = [first]
        """Live ones, in the order of their names."""
        self.all: list[Task] = [first]
        self.current = first
        self.previous: str | None = None
        self.steps: list[Step] = []
        self.alone = True
        """No second task was ever started."""
        self.quiet = 0
        """In an atomic part: what is done there is no choice point."""
        self.uncontrolled = Noted()
        self.ending = False
        """What happened is being told: the program does nothing any more."""
        self.failure: dict[str, Any] | None = None
        """The first thing that went wrong; the other tasks go on."""
        self.logged = 0
        """How many accesses had been logged then."""
        self.labels: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        """Tasks that nobody named, by their coroutines."""
        self.met: dict[int, tuple[BaseException, str, int]] = {}
        """Exceptions that ended a task of an event loop: which one, and in which step."""
        self.conditions: dict[str, str] = {}
        """Locks that belong to a condition, which is what the program calls them by."""
        self.settle: Callable[[Kernel], None] | None = None
        """Tells what the running step has changed of what a specification speaks of."""
        self.owners: dict[str, tuple[str, str]] = {}
        """Primitive -> the object and the attribute that hold it: an object may get its own name later."""
        self.assumed: dict[str, None] = {}
        self.claims: list[tuple[str, str, str, list[str]]] = []
        """What the program claims: formula, place, the mark of the step in which, names of predicates."""
        self.versions: dict[str, int] = {}
        """How often a thing was written, for the recognition of loops that wait."""
        self.locks: dict[str, Callable[[], bool]] = {}
        """Of locks that somebody has tried, or asked: whether they are taken."""
        self.watchers: list[Callable[[Step], None]] = []
        """Whoever wants to see every step once it is done."""
        self._chosen: Task | None = None
        self._operation: Operation | None = None
        self._enabled: tuple[str, ...] = ()
        self._pending: dict[str, Operation] = {}
        self._detail: Any = None
        self._changes = 0
        self._shut: Shut = ()
        self._every: tuple[Access, ...] = ()
        """What the running step touches whatever it turns out to be."""
        self.joined = True
        self.late: set[int] = set()
        """Steps, by their numbers, that turned out in the middle to touch something more."""
        self.halted: set[str] = set()
        """Loops of which a turn has stopped in the middle: other turns come before it began, or after it."""
        self.has_timers = False
        """Somebody has slept, or waited with a time-out."""
        self._moment = Moment(0.0, (), ())
        """When the running step could begin."""
        self._begins: dict[str, float] = {}
        """When each task that can go on could do so first."""
        self._clocks = Clocks()
        self._since = 0
        """Of the clock of the task whose step runs, when that began."""
        self._overtime = 0
        self._in_a_row = 0
        """Turns that the last task of a loop has had, one after another."""

    def let_go(self) -> None:
        """The execution is told: it ends without a collector."""
        self.second = self.show = self.in_calls = self.settle = None
        self.look_inside = _nothing_inside
        for task in self.all:
            task.let_go()
        for each in (self.all, self.tasks, self.steps):
            each.clear()

    # ---- tasks ----------------------------------------------------------------------------------

    def running(self) -> Task:
        """Who runs now, for those who do not ask the scheduler."""
        return self.current

    def new_task(self, label: str, daemon: bool = False) -> Task:
        """A child of the running task; it has no operation until it stops at its first."""
        parent = self.current
        parent.children += 1
        task = Task((*parent.ancestry, parent.children), len(self.all), label, daemon)
        task.time = parent.time
        self.all.append(task)
        return task

    def admit(self, task: Task) -> None:
        """The task lives from now on; what its parent did happened before."""
        if self.alone and self.second is not None:
            self.second()
        self.alone = False
        self.commit()
        task.clock = published(self.current)
        task.clock[task.index] = 1
        task.time = self.current.time
        position = len(self.tasks)
        while position and self.tasks[position - 1].ancestry > task.ancestry:
            position -= 1
        self.tasks.insert(position, task)

    def run_first_part(self, task: Task, start: Callable[[], None]) -> None:
        """Starts the thread of a new task and lets it run up to its first visible operation."""
        me = self.current
        task.returns_to = me
        self.current = task
        try:
            start()
        except RuntimeError:  # there are too many threads
            self.current = me
            self.tasks.remove(task)
            raise
        (me.host or me).lock.acquire()

    def end(self, task: Task) -> None:
        task.ended = True
        task.operation = task.ready = task.refresh = task.why = None
        self.tasks.remove(task)

    def enter_section(self, family: str, known: dict[int, int]) -> None:
        """The running task takes a lock that is no choice point: one that it holds already has to be.

        `known`: what the one before knew when it gave the lock back.
        """
        learn_under_lock(self.current, family, known, self.carried)
        sections = self.current.sections
        if sections:
            self._show_sections(sections)
        if self.current.host is not None and self.is_mixed:
            self._show_sections([family])
        sections.append(family)

    def _show_sections(self, families: list[str]) -> None:
        if self.show is not None and len(self.tasks) > 1:
            self.show(tuple(families))

    # ---- visible operations ---------------------------------------------------------------------

    def visible(
        self,
        kind: str,
        thing: str,
        footprint: tuple[Access, ...],
        at: str | None = None,
        ready: Ready | None = None,
        timeout: Any = None,
        why: Callable[[], dict[str, Any]] | None = None,
        refresh: Callable[[], Operation] | None = None,
        sleep: Any = None,
    ) -> bool:
        """Stops here until the scheduler lets the operation be done; False: its time is up instead."""
        task = self.current
        if kind == "end":
            task.keeps = None
        if task.sections:
            self._show_sections(task.sections)
        is_in_call = bool(task.calls) and self.in_calls is not None
        if is_in_call and self.in_calls is not None:
            footprint = (*footprint, *self.in_calls(self, task, False))
        every: tuple[Access, ...] = task.always
        if task.daemon and (kind != "end" or self.has_last_words):
            every = (*every, Access(EXIT, False))
        if task.loop:  # in the middle of its turn: until it ends no other task of that loop can go on
            self.halted.add(task.loop)
            every = (*every, Access(task.loop, True))
            self.add(Access(task.loop, True))
        footprint = (*footprint, *every)
        if timeout is not None or sleep is not None:
            self.has_timers = True
            if self.early_timeouts and timeout is not None:
                self.assumed[EARLY] = None
        at = place_of(sys._getframe()) if at is None else at
        waits = ready is not None and not (self.early_timeouts and timeout is not None)
        task.operation = new_tuple(Operation, (kind, thing, footprint, at, waits))
        task.ready = ready
        task.refresh = refresh
        task.why = why
        task.timed_out = False
        task.deadline = None if timeout is None else task.time + max(_seconds(timeout), 0.0)
        task.wakes_at = None if sleep is None else task.time + _seconds(sleep)
        if task.returns_to is None:
            self.flush()
        task.called_from = users_line(sys._getframe())
        task.trail.arrive(task, self, task.operation)
        if self.alike is not None:
            self.alike.arrive(self, task)
        self.pass_on(task)
        while self.current is not task and self.current.act is not None:  # else one of the same event loop
            self._interrupt(task, self.current)
        self._every = every
        if is_in_call and self.in_calls is not None:
            self.in_calls(self, task, True)
        return not task.timed_out

    def _interrupt(self, task: Task, signal: Task) -> None:
        """A signal has come to the thread in which a task stands still: its handler runs there.

        Afterwards the task waits for what it waited for, unless the handler raises.
        """
        ready, deadline, wakes_at = task.ready, task.deadline, task.wakes_at
        task.ready, task.deadline, task.wakes_at = _never, None, None
        act = signal.act
        assert act is not None, "it is a signal"
        try:
            act()
        except BaseException:
            self._end_signal(task, signal)
            task.operation = task.ready = task.refresh = task.why = None
            self.visible("handled", signal.name, (Access(signal.name, False),))
            raise
        self._end_signal(task, signal)
        task.ready, task.deadline, task.wakes_at = ready, deadline, wakes_at
        if task.operation is not None:
            footprint = (*task.operation.footprint, Access(signal.name, False))
            task.operation = task.operation._replace(footprint=footprint)
        self.pass_on(task)

    def _end_signal(self, task: Task, signal: Task) -> None:
        self.add(Access(signal.name, True))
        self.end(signal)
        self.current = task

    def pass_on(self, task: Task) -> None:
        """The running task has put down its operation; returns when it is to be done."""
        parent = task.returns_to
        if parent is not None:
            task.returns_to = None
            self.current = parent
            (parent.host or parent).lock.release()
            task.lock.acquire()
            return
        chosen = self.choose()
        if chosen is not task:
            self.hand_to(chosen)
            (task.host or task).lock.acquire()

    def leave(self) -> None:
        """The running task ends: the baton goes on and does not come back."""
        self.hand_to(self.choose())

    def hand_to(self, chosen: Task) -> None:
        self.current = chosen
        (chosen.host or chosen).lock.release()

    def happen(self, label: str, operation: Operation, act: Callable[[], None], ready: Ready | None) -> Task:
        """Something of the world, which may come at any moment at which it is ready: a task of one step."""
        task = self.new_task(label, daemon=True)
        task.act = act
        self.admit(task)
        self.add(Access(task.name, True))
        touched = (*operation.footprint, Access(task.name, True), Access(EXIT, False))
        task.operation = operation._replace(footprint=touched)
        task.ready = ready
        return task

    def withdraw(self, task: Task) -> None:
        """What was about to happen will not happen."""
        self.add(Access(task.name, True))
        self.end(task)

    def choose(self) -> Task:
        """The task that goes on, with its operation begun; libraries that we use meanwhile tell nothing."""
        self.quiet += 1
        try:
            chosen = self._who_goes_on()
            while chosen.act is not None and chosen.host is None:
                self._act(chosen, chosen.act)
                chosen = self._who_goes_on()
            return chosen
        finally:
            self.quiet -= 1

    def _act(self, task: Task, act: Callable[[], None]) -> None:
        """Does what is the world's; whoever asks who goes on does it."""
        before, self.current = self.current, task
        act()
        self.current = before
        self.end(task)

    def _who_goes_on(self) -> Task:
        self.flush()
        enabled = self._enabled_tasks()
        early: list[Task] = []
        if self.has_timers:
            enabled, early = self._in_time(enabled)
        enabled = self._without_endless_turns(self._without_endless_daemons(enabled))
        if not enabled:
            self.finish(*self.stuck(self))
        if len(self.steps) % ROUNDS == 0 and self.look_for_rounds is not None:
            self.look_for_rounds(self)
        if len(self.steps) >= self.limit:
            self.uncontrolled[f"an execution of more than {self.limit:,} steps"] = "--steps N allows more"
            self.finish(Outcome.CUT_OFF, None)
        for task in self.tasks:
            if task.refresh is not None and task.operation is not None and task.trail.changed is None:
                now = _refreshed(task.refresh(), task.operation, task)
                task.operation = now if self.alike is None else self.alike.plain(now)
        pending = {task.name: task.operation for task in self.tasks if task.operation is not None}
        if self.timed:
            self._tell_times(pending, early)
        names = tuple([task.name for task in enabled])
        found = self.scheduler.choose(new_tuple(Choice, (len(self.steps), self._going_on(), names, pending)))
        if found is None:
            self.finish(Outcome.CUT_OFF, None)
        if found not in names:
            self.finish(Outcome.DIVERGED, self._divergence(found, names, pending))
        chosen = enabled[names.index(found)]
        if self.has_timers and is_timed(chosen) and self._begins.get(found, 0.0) > min(self._begins.values()):
            self.assumed[lateness(self.slack)] = None  # somebody comes late
        if self.timed:
            self._moment = moment_of(chosen, self.tasks, self.all, early, self._clocks, self.slack)
        self._begin(chosen, names, pending)
        return chosen

    def _without_endless_daemons(self, enabled: list[Task]) -> list[Task]:
        """The program ends at last when for so many steps nothing but daemons kept it from ending."""
        first = self.all[0]
        ending = first.operation is not None and first.operation.kind == "exit" and first in enabled
        self._overtime = self._overtime + 1 if ending else 0
        if self._overtime <= OVERTIME:
            return enabled
        self.uncontrolled[f"a daemon that goes on for over {OVERTIME} steps when the program may end"] = None
        return [first]

    def _without_endless_turns(self, enabled: list[Task]) -> list[Task]:
        """A task that goes round and round lets others go on at last, as it does in a real loop."""
        if self._in_a_row <= TURNS or len(enabled) < 2:
            return enabled
        self.uncontrolled[f"a task that has over {TURNS:,} turns while others are ready"] = (
            "a task that waits for a change had better wait for an event, or sleep for some time"
        )
        return [task for task in enabled if task.name != self.previous]

    def _enabled_tasks(self) -> list[Task]:
        early = self.early_timeouts
        return [
            task
            for task in self.tasks
            if task.operation is not None
            and (
                (ready := task.ready) is None
                or ready()
                or (early and task.deadline is not None and has_time(task))
            )
        ]

    def enabled_in_time(self) -> list[Task]:
        """Who may go on now."""
        able = self._enabled_tasks()
        return self._in_time(able)[0] if self.has_timers else able

    def _in_time(self, able: list[Task]) -> tuple[list[Task], list[Task]]:
        """Who may go on now, those whose time is up among them; and who has to wait for the time to pass."""
        late = [] if self.early_timeouts else [each for each in self.tasks if is_waiting(each, able)]
        begins = {task.name: begin_of(task, self._clocks) for task in able}
        begins.update((task.name, task.deadline or 0.0) for task in late)
        now = min(begins.values(), default=0.0) + self.slack
        early = [task for task in (*able, *late) if begins[task.name] > now and is_timed(task)]
        self._begins = begins
        if early:
            self.assumed[lateness(self.slack)] = None
            self.repeat = self.repeat or not self.timed
        found = [task for task in (*able, *late) if task not in early]
        found = sorted(found, key=_ancestry) if late else found
        first = min(begins.values(), default=0.0)
        asleep = [task for task in found if task.wakes_at is not None and begins[task.name] > first]
        return [*(task for task in found if task not in asleep), *asleep], early

    def _going_on(self) -> str | None:
        """The task that did the last step, unless it sleeps, by which it gives way to others."""
        previous, begins = self.previous, self._begins
        if not self.has_timers or previous is None or previous not in begins:
            return previous
        return previous if begins[previous] <= min(begins.values()) else None

    def _tell_times(self, pending: dict[str, Operation], early: list[Task]) -> None:
        """Whoever has to wait for the time to pass waits for those who are to go on before."""
        for task in self.tasks:
            operation = task.operation
            if operation is not None and is_timed(task):  # also whoever waits with a time-out
                before = moment_of(task, self.tasks, self.all, early, self._clocks, self.slack).before
                pending[task.name] = operation._replace(footprint=(*operation.footprint, *before))

    def _begin(self, chosen: Task, names: tuple[str, ...], pending: dict[str, Operation]) -> None:
        operation = chosen.operation
        assert operation is not None
        is_again = chosen.host is not None and chosen.name == self.previous
        self._in_a_row = self._in_a_row + 1 if is_again else 0
        if chosen.timed_out or (chosen.ready is not None and chosen.deadline is not None):
            self._time_out(chosen)
        if chosen.wakes_at is not None:
            chosen.time = max(chosen.time, chosen.wakes_at)
            chosen.wakes_at = None
        if self.has_timers:  # what it waited for was not there before: its turn may ask for the time at once
            chosen.time = max(chosen.time, self._begins.get(chosen.name, 0.0))
        self._chosen, self._operation = chosen, operation
        if chosen.timed_out:
            read = tuple([Access(each.thing, False) for each in operation.footprint])
            self._operation = operation._replace(kind="timeout", footprint=read)
        self._enabled, self._pending, self._detail, self._shut = names, pending, None, ()
        self._every = ()
        self.joined = False
        self._since = chosen.clock.get(chosen.index, 0)
        chosen.clock[chosen.index] = self._since + 1
        chosen.operation = chosen.ready = chosen.refresh = chosen.why = None

    def _time_out(self, chosen: Task) -> None:
        """Decides whether a chosen task that waits with a time-out got what it waits for."""
        chosen.timed_out = not (chosen.ready is None or chosen.ready())
        for task in self.tasks:
            if task is not chosen:
                task.timed_out = False
        if chosen.timed_out:
            chosen.time = max(chosen.time, chosen.deadline or 0.0)

    def opened(self, *shut: tuple[str, str]) -> None:
        """Which operations on which things could not have been done just before the running step.

        One that waits with a time-out could have been: its time may have been up.
        """
        self._shut = (*self._shut, *(each for each in shut if not self._waits_with_time(*each)))

    def _waits_with_time(self, kind: str, thing: str) -> bool:
        waiting = (task.operation for task in self.tasks if task.deadline is not None and task.operation)
        return any(each.kind == kind and any(a.thing == thing for a in each.footprint) for each in waiting)

    def did(self, footprint: tuple[Access, ...], detail: Any = None, kind: str | None = None) -> None:
        """The running step turned out to touch just this, and to be of this kind."""
        if self._operation is not None:
            footprint = (*footprint, *self._every)
            told = self._operation._replace(footprint=footprint, kind=kind or self._operation.kind)
            self._operation = told if self.alike is None else self.alike.plain(told)
        if detail is not None:
            self._detail = detail

    def add(self, access: Access) -> None:
        """The running step touches this too."""
        if self.current.host is not None:
            self._turned(access)
        operation = self._operation
        if operation is not None and access not in operation.footprint:
            told = operation._replace(footprint=(*operation.footprint, access))
            self._operation = told if self.alike is None else self.alike.plain(told)
            if self.joined and access in self._operation.footprint:
                self._clocks.join(self._chosen or self.current, access)
                self.late.add(len(self.steps) + self.in_step)

    def lessen(self, changes: tuple[Access, ...]) -> None:
        """The running step might have changed these, and has only read them so far."""
        operation = self._operation
        if operation is not None:
            footprint = [
                Access(each.thing, False) if each in changes else each for each in operation.footprint
            ]
            self._operation = operation._replace(footprint=tuple(footprint))

    def _turned(self, access: Access) -> None:
        """A turn touches this: one that finds unchanged what it read before may be a round that waits."""
        thing, writes = access
        trail = self.current.trail
        if writes:
            self.versions[thing] = self.versions.get(thing, 0) + 1
            trail.effect()
        else:
            trail.reads.append((thing, self.versions.get(thing, 0)))

    @property
    def spun(self) -> tuple[Access, ...]:
        """What the running step read in the loop in which it waited, if it did."""
        operation = self._operation
        if operation is None or operation.kind != SPIN:
            return ()
        return tuple([each for each in operation.footprint if not each.writes])

    def tell(self, detail: Any) -> None:
        """Values for the report of the running step."""
        self._detail = detail

    def mark(self, word: str, value: Any) -> None:
        """Says something of the running step beside its value."""
        self._detail = {**(self._detail or {}), word: value}

    def note(self, moment: dict[str, Any], is_change: bool = False) -> None:
        """Something that happens in the turn of a loop's task; a change of what a specification speaks of.

        What changes more than one such thing goes through states that others must not get between.
        """
        if self.settle is not None:
            self.settle(self)
        if self._detail is None:
            self._detail = {}
            self._changes = 0
        turn = self._detail.setdefault("turn", [])
        if line := users_line(sys._getframe()):
            moment[CALLED_FROM] = line
        if is_change or len(turn) < MOMENTS:
            turn.append(moment)
        if is_change:
            self._changes += 1
            if self._changes == 2:
                self._detail["apart"] = True
                self.add(Access(f"{self.current.loop}.told", True))

    def noted(self, told: dict[str, Any]) -> None:
        """What the last thing that happened in the turn, or else the step, turned out to be."""
        turn = self.marks.get("turn")
        if turn:
            turn[-1].update(told)
        else:
            self._detail = told

    def noted_too(self, told: dict[str, Any]) -> None:
        """Likewise, beside what was noted already."""
        turn = self.marks.get("turn")
        if turn:
            turn[-1].update(told)
        else:
            self._detail = {**(self._detail or {}), **told}

    @property
    def marks(self) -> dict[str, Any]:
        return self._detail or {}

    def settle_labels(self) -> None:
        """Primitives that an attribute holds are called after what holds the object."""
        for name, (owner, attribute) in self.owners.items():
            if owner in self.labels:
                self.labels[name] = f"{self.labels[owner]}.{attribute}"
        for name, condition in self.conditions.items():
            if condition in self.labels:
                self.labels[name] = self.labels[condition]

    # ---- the order ------------------------------------------------------------------------------

    def commit(self) -> None:
        """The footprint of the running step is known: what follows comes after whom it met."""
        if self.joined or self._chosen is None or self._operation is None:
            return
        self.joined = True
        task = self._chosen
        self._clocks.step(task, self._operation.footprint)

    def moment(self) -> tuple[int, int]:
        """What the running step is known by: whoever comes after it has so much of its task in its past."""
        return (self._chosen or self.current).index, self._since

    def past(self) -> dict[int, int]:
        """How many steps of each task the running one comes after, by what it has touched so far."""
        task = self._chosen or self.current
        if self.joined or self._operation is None:
            return task.clock
        return self._clocks.known(task, self._operation.footprint)

    def flush(self) -> None:
        """Closes the running step."""
        if self.settle is not None:
            self.settle(self)
        if not self.joined:
            self.commit()
        chosen, operation = self._chosen, self._operation
        if chosen is None or operation is None:
            return
        told = operation
        if self.timed:
            moment = self._moment
            own = Access(slot_of(chosen, len(chosen.begins)), True)
            told = operation._replace(footprint=(*operation.footprint, *moment.before, own))
            self._shut = (*self._shut, *((kind, own.thing) for kind in moment.shut))
            chosen.begins.append(max([moment.begin, *chosen.begins[-1:]]))
        if self.alike is not None:
            told, self._shut = self.alike.done(chosen, told, self._shut)
            if chosen.daemon and not self.has_last_words:
                self._shut = (*self._shut, UNSEEN_END)
        if chosen.called_from:
            self._detail = {**(self._detail or {}), CALLED_FROM: chosen.called_from}
        done = (chosen.name, told, self._enabled, self._pending, self._detail, self._shut)
        step = new_tuple(Step, done)
        self._chosen = self._operation = None
        self.previous = chosen.name
        plain = chosen.trail.plain(operation)
        if plain.kind not in NEUTRAL or plain.kind == "release":
            for thing, writes in plain.footprint:
                if writes:
                    self.versions[thing] = self.versions.get(thing, 0) + 1
        if chosen.always:  # of what it touches in any case no round is made
            rest = tuple([each for each in operation.footprint if each not in chosen.always])
            operation = operation._replace(footprint=rest)
        chosen.trail.done(operation, self)
        self.steps.append(step)
        self.scheduler.done(step)
        for watcher in self.watchers:
            watcher(step)

    @property
    def is_mixed(self) -> bool:
        """There is more than one thread."""
        return sum(task.host is None for task in self.all) > 1

    @property
    def in_step(self) -> bool:
        return self._operation is not None

    def _divergence(
        self, found: str, names: tuple[str, ...], pending: dict[str, Operation]
    ) -> dict[str, Any]:
        wanted = pending.get(found)
        return {
            "kind": "divergence",
            "message": f"step {len(self.steps) + 1}: task {found} should go on but cannot",
            "task": found,
            "place": wanted.at if wanted else "",
            "enabled": list(names),
        }


def _seconds(given: Any) -> float:
    """A time of the program, which is a float or an integer to every primitive that blocks."""
    if isinstance(given, float):
        return given
    if not hasattr(type(given), "__index__"):
        raise TypeError(f"'{type(given).__name__}' object cannot be interpreted as an integer")
    return float(index(given))


def _refreshed(now: Operation, before: Operation, task: Task) -> Operation:
    """What a task is about to do now, with what every operation touches."""
    every = [
        access for access in before.footprint if access.thing in (EXIT, task.loop) or access in task.always
    ]
    return now._replace(footprint=(*now.footprint, *every), waits=before.waits)


def _ancestry(task: Task) -> tuple[int, ...]:
    return task.ancestry


kernel: Kernel | None = None
"""The execution that runs in this process."""


def start(new: Kernel) -> None:
    global kernel
    kernel = new
