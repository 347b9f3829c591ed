"""The temporal debugger on a live program: states are schedules, executed again under control.

A transition is one step of one task: a synchronisation, or an access to memory that tasks race for. What a
state shows comes from the trace of an execution that leads to it: the shared variables written so far, the
last labelled place of each task, who has ended; `outcome` is there when nothing can go on: "finished",
"failed", "deadlock" or "livelock". One execution tells of all the states along its way, and what it told is
kept for the states met last; for others the program is executed again.

What counts as a choice is found before the first state: some executions at random show which memory is raced
for. What is found later changes the states: they are forgotten, and the session begins again.
"""

from __future__ import annotations

import itertools
import os
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from possibly.control.causality import Causality
from possibly.control.execution import Access, Execution, Operation, Outcome, Scheduler, Step, Task
from possibly.control.temporal.live import Follow, Schedule, Wander, least
from possibly.control.temporal.search import Path
from possibly.control.temporal.system import ChangedError, Move, Reading, State, System
from possibly.errors import FormulaError, PossiblyError
from possibly.logic.bind import Vocabulary
from possibly.logic.predicates.functions import MISSING
from possibly.logic.syntax import At, Done, Leaf, Local, Node, Shared
from possibly.logic.walk import nodes
from possibly.session.debugging.classes import REPEATS, Asked, Changes, Classes, ClassSystem, Way, asked_by
from possibly.session.debugging.temporal import Opener, Opening
from possibly.session.exploring.traces import trace_of
from possibly.trace.place import place_in

KEPT = 20_000
"""States whose facts are kept."""
FURTHER = 30
"""Steps that an execution goes on beyond the state asked for."""
TRIALS, QUIET = 40, 8
"""Executions that look for races before the session: at most, and without anything new."""
MOST_FURTHER = 10_000
"""Steps of an execution to its end, at most."""
EXECUTED = 1_000
"""Steps of a program, about, that are executed between two pauses of a search by states."""
GUESSES = 12
"""Executions at random that are looked at first where the search by states takes long."""
OUTCOME = "outcome"


class TaskMove(NamedTuple):
    """A step of a task."""

    name: str
    processes: tuple[str, ...]
    text: str
    task: Task


class Facts(NamedTuple):
    """What is known of a state."""

    enabled: tuple[Task, ...]
    pending: Mapping[Task, Operation]
    names: Mapping[Task, str]
    variables: Mapping[str, Any]
    places: Mapping[str, tuple[str, str]]
    """Label and source place of the last event of each task."""
    ended: frozenset[str]
    things: Mapping[str, str]
    """The names that users know things by."""


class LiveSystem:
    """Steps through a program that is executed again and again."""

    def __init__(self, program: Any, name: str, arguments: tuple[str, ...] = ()) -> None:
        self.program = program
        self.name = name
        self.arguments = arguments
        self._own = os.path.abspath(name)
        self.executions = 0
        self.changed: Callable[[], None] = lambda: None
        """Called when no state is one any more."""
        self.uncontrolled: dict[str, None] = {}
        self.unseen: dict[str, None] = {}
        self._facts: OrderedDict[Schedule, Facts] = OrderedDict()
        self._after: OrderedDict[Schedule, Schedule] = OrderedDict()
        """The state that a schedule leads to."""
        self.vocabulary = Vocabulary((), shared=frozenset([OUTCOME]))
        self._find_choices()
        self.visible = frozenset(program.visible)
        self.initial_values = self._values_at_first()
        whole = self._first_execution()
        self.pause_every = max(4, min(64, EXECUTED // max(len(whole.steps), 1)))
        """Pairs between two pauses of a search: each may take an execution."""

    def _find_choices(self) -> None:
        from possibly.control.schedulers.random import RandomWalk

        walk, quiet = RandomWalk(), 0
        for _ in range(TRIALS):
            self.program.execute(walk.plan())
            self.executions += 1
            quiet = 0 if self.program.grown or self.program.repeat else quiet + 1
            if quiet == QUIET:
                return

    def _first_execution(self) -> Execution:
        while True:
            try:
                return self._learnt(Follow((), MOST_FURTHER), ())
            except ChangedError:
                continue

    def _values_at_first(self) -> dict[str, Any]:
        """What the variables that tasks race for hold before there is a second task.

        An execution that watches them by their names tells; it is that of a twin, so that nothing else that
        has such a name becomes a choice.
        """
        from possibly.control.schedulers.random import RandomWalk

        if not self.visible:
            return {}
        twin = self.program.twin()
        twin.watching = {family.rpartition(".")[2].partition("[")[0] for family in self.visible}
        try:
            twin.execute(RandomWalk().plan())
            found: dict[str, Any] = dict(twin.initial)
        finally:
            twin.close()
        self.executions += 1
        return found

    # ---- the port -------------------------------------------------------------------------------

    def initial(self) -> Sequence[State]:
        return [()]

    def successors(self, state: State) -> Iterator[tuple[Move, State]]:
        for task in self._known(state).enabled:
            yield self._move(state, task), self._state((*state, task))

    def _move(self, state: State, task: Task) -> TaskMove:
        facts = self._known(state)
        operation = facts.pending[task]
        process = facts.names.get(task, task)
        name = f"{process}:{self._line(operation.at) or operation.kind}"
        return TaskMove(name, (process,), _described(operation, facts), task)

    def classes(
        self, state: State, formula: Node, leaves: Sequence[Leaf]
    ) -> Generator[ClassSystem, None, bool]:
        """Executions beyond a state as what they stand for, first some at random; whether these are all."""
        asked, changes = asked_by(formula, leaves), Changes()
        for seed in range(GUESSES):
            yield self._class(self._executed(Wander(state, seed)), state, asked, changes)
        twin = self.program.twin()
        classes = Classes(twin, self.visible)
        try:
            executions = classes.run(state, asked.may_join)
            while True:
                try:
                    execution = next(executions)
                except StopIteration as end:
                    return bool(end.value)
                yield self._class(execution, state, asked, changes)
        except ChangedError:
            self._begin_again(twin.visible)
        finally:
            executions.close()
            twin.close()
            self.executions += classes.executions
            self.unseen.update(changes.unseen)

    def _class(self, execution: Execution, state: State, asked: Asked, changes: Changes) -> ClassSystem:
        self._check_same_way(execution, state)
        is_cut = execution.outcome in (Outcome.CUT_OFF, Outcome.DIVERGED)
        outcome = None if is_cut else execution.outcome.value
        initial = self._initial()
        way = Way(execution.steps, len(state), changes.of(execution), initial, outcome, self._is_at)
        return ClassSystem(way, asked, Causality(execution.steps))

    def way(self, schedule: Schedule, state: State) -> Path:
        """The states along a schedule, from one on it."""
        return self._way(self._learnt(Follow(schedule, 1), state), len(state))

    def _way(self, execution: Execution, begin: int) -> Path:
        """An execution from a state on, as states and moves."""
        schedule = execution.schedule
        known = itertools.takewhile(
            self._after.__contains__, (schedule[:n] for n in range(begin, len(schedule) + 1))
        )
        states = [self._after[each] for each in known]
        tasks = schedule[begin : begin + len(states) - 1]
        return Path(tuple(map(self._move, states, tasks)), tuple(states))

    def _line(self, at: str) -> str:
        """A source place, without the file if that is the program's own."""
        file, line = place_in(at)
        return str(line) if line and os.path.abspath(file) == self._own else at

    def reading(self, leaf: Leaf) -> Reading:
        match leaf:
            case Shared(name):
                return Reading(lambda state: self._known(state).variables.get(name, MISSING))
            case At(process, label):
                return Reading(lambda state: self._is_at(self._known(state).places.get(process), label))
            case Done(process):
                return Reading(lambda state: process in self._known(state).ended)
            case Local():
                return Reading(lambda state: MISSING)
        raise FormulaError("a live program has variables, at(task, label) and done(task)")

    def _is_at(self, place: tuple[str, str] | None, label: str) -> bool:
        return place is not None and label in (place[0], place[1], self._line(place[1]))

    def caveats(self, formula: Node | None) -> list[str]:
        """Why an answer "no step" to a formula may leave something out; None: to any."""
        read = (
            None if formula is None else {_last(n.variable) for n in nodes(formula) if isinstance(n, Shared)}
        )
        names = [name for name in self.unseen if read is None or _last(name) in read]
        unseen = [f"what is written to {name} within one step is not seen" for name in names]
        return [*unseen, *[f"not under control: {what}" for what in self.uncontrolled]]

    def schedule(self, state: State) -> str:
        """The way to a state, and on from there to an end, as the text of a schedule."""
        from possibly.session.exploring.replay import schedule_of
        from possibly.trace.schedule import schedule_text

        execution = self._executed(Follow(state, MOST_FURTHER))
        self._check_same_way(execution, state)
        words = (self.name, *self.arguments)
        return schedule_text(schedule_of(execution, self.program, words, execution.failure))

    def close(self) -> None:
        self.program.close()

    def places(self, state: State) -> Mapping[str, str]:
        facts = self._known(state)
        waiting = {facts.names.get(task, task): op for task, op in facts.pending.items()}
        able = {facts.names.get(task, task) for task in facts.enabled}
        found = {}
        for process in self.vocabulary.processes:
            if process in waiting:
                operation = waiting[process]
                verb = "next" if process in able else "waits at"
                place = f"{self._line(operation.at)}: " if operation.at else ""
                found[process] = f"{verb} {place}{_described(operation, facts)}"
            else:
                is_over = process in facts.places or not facts.pending
                found[process] = "ended" if is_over else "not started"
        return found

    def place(self, state: State, process: str) -> str:
        """The source place at which a task stands, or that it came to last."""
        facts = self._known(state)
        for task, operation in facts.pending.items():
            if facts.names.get(task, task) == process and operation.at:
                return operation.at
        return facts.places.get(process, ("", ""))[1]

    # ---- executions -----------------------------------------------------------------------------

    def _known(self, state: Schedule) -> Facts:
        if state not in self._facts:
            self._learn(state, FURTHER)
        self._facts.move_to_end(state)
        return self._facts[state]

    def _state(self, schedule: Schedule) -> Schedule:
        if schedule not in self._after:
            self._learn(schedule, FURTHER)
        return self._after[schedule]

    def _learn(self, schedule: Schedule, further: int) -> None:
        """Executes the program along a schedule and keeps what is seen from its end on."""
        self._learnt(Follow(schedule, further), schedule)

    def _learnt(self, scheduler: Follow, schedule: Schedule) -> Execution:
        """The same with a scheduler that begins with that schedule."""
        execution = self._executed(scheduler)
        self._check_same_way(execution, schedule)
        execution = _each_thing_once(execution)
        initial = self._initial()
        trace = trace_of(execution, initial, self.name)
        self._add_words(execution, trace)
        for number, step in enumerate(execution.steps):
            self.unseen.update(dict.fromkeys(_unseen(step, trace, number)))
        for number, facts in enumerate(_along(execution, trace, initial)):
            if facts is not None and number >= len(schedule):
                self._keep(execution, number, facts)
        return execution

    def _initial(self) -> dict[str, Any]:
        """The values before the first step; an execution tells those that it comes to."""
        self.initial_values.update(self.program.initial)
        return self.initial_values

    def _check_same_way(self, execution: Execution, schedule: Schedule) -> None:
        self.uncontrolled.update(dict.fromkeys(execution.uncontrolled))
        if execution.schedule[: len(schedule)] != schedule:
            raise PossiblyError(
                "the program did not go the same way again: something outside control decides",
                file=self.name,
                hint="; ".join(execution.uncontrolled) or None,
            )

    def _executed(self, scheduler: Scheduler) -> Execution:
        """The program along a schedule; again if the runtime says that it cannot be learnt from."""
        for _ in range(1 + REPEATS):
            execution: Execution = self.program.execute(scheduler)
            self.executions += 1
            if self.program.visible != self.visible:
                self._begin_again(self.program.visible)
            if not self.program.repeat:
                return execution
        raise PossiblyError("the program cannot be executed in the same way again", file=self.name)

    def _begin_again(self, visible: set[str]) -> NoReturn:
        """More memory is raced for than was known, so that schedules have more steps from now on."""
        found = sorted(visible ^ self.visible)
        self.visible, self.program.visible = frozenset(visible), set(visible)
        self._facts.clear()
        self._after.clear()
        self.initial_values = self._values_at_first()
        self.changed()
        what = ", ".join(found)
        raise ChangedError(
            f"now it turns out that tasks race for {what}: the stack is empty, and the program begins again",
            file=self.name,
            hint="repeat the steps",
        )

    def _keep(self, execution: Execution, number: int, facts: Facts) -> None:
        state = least(execution.steps[:number])
        self._facts[state] = facts
        self._after[execution.schedule[:number]] = self._after[state] = state
        while len(self._facts) > KEPT:
            self._facts.popitem(last=False)
        while len(self._after) > 4 * KEPT:
            self._after.popitem(last=False)

    def _add_words(self, execution: Execution, trace: Any) -> None:
        """What formulas may speak of grows with what was seen."""
        from possibly.order.vocabulary import vocabulary

        found, known = vocabulary(trace), self.vocabulary
        at = [step.operation.at for step in execution.steps if step.operation.at]
        lines = frozenset([*at, *map(self._line, at)])
        self.vocabulary = Vocabulary(
            processes=tuple(dict.fromkeys([*known.processes, *found.processes])),
            shared=known.shared | found.shared,
            labels=known.labels | found.labels | lines,
            remedy="no execution so far touches it",
        )


def _last(name: str) -> str:
    """What an object is called differs from place to place; its attribute does not."""
    return name.partition("[")[0].rpartition(".")[2]


def _unseen(step: Step, trace: Any, number: int) -> list[str]:
    """The variables that a step writes without telling their values, as the turn of an event loop's task."""
    told = isinstance(step.detail, dict) and not step.detail.keys().isdisjoint(("value", "whole"))
    return [] if told else [name for name, value in trace.writes(number) if value is None]


def _each_thing_once(execution: Execution) -> Execution:
    """A thing that a step both reads and writes is written: one access a thing says the same."""
    steps = []
    for step in execution.steps:
        writes: dict[str, bool] = {}
        for access in step.operation.footprint:
            writes[access.thing] = writes.get(access.thing, False) or access.writes
        footprint = tuple([Access(thing, written) for thing, written in writes.items()])
        steps.append(step._replace(operation=step.operation._replace(footprint=footprint)))
    return replace(execution, steps=tuple(steps))


def _along(execution: Execution, trace: Any, initial: Mapping[str, Any]) -> Iterator[Facts | None]:
    """The facts before each step and after the last; None where what can go on is not known."""
    from possibly.session.exploring.traces import things_of

    variables: dict[str, Any] = dict(initial)
    places: dict[str, tuple[str, str]] = {}
    ended: frozenset[str] = frozenset()
    names: dict[Task, str] = {}
    for event, step in enumerate(execution.steps):
        names.setdefault(step.task, trace.processes[trace.process[event]].name)
    names = {**execution.names, **names}
    things = things_of(execution)
    for number, step in enumerate(execution.steps):
        yield Facts(step.enabled, step.pending, names, dict(variables), dict(places), ended, things)
        event = trace.event(number)
        variables.update(trace.writes(number))
        for name in _unseen(step, trace, number):
            del variables[name]
        process = trace.processes[trace.process[number]].name
        places[process] = (event.label or "", event.at or "")
        if step.operation.kind == "end":
            ended |= {process}
    if execution.outcome in (Outcome.CUT_OFF, Outcome.DIVERGED):
        yield None
        return
    variables[OUTCOME] = execution.outcome.value
    yield Facts((), execution.pending, names, variables, places, ended, things)


def _described(operation: Operation, facts: Facts) -> str:
    """What a task is about to do, with the line that does it."""
    import linecache

    unnamed = operation.thing if operation.kind in ("read", "write") else ""
    thing = facts.things.get(operation.thing) or facts.names.get(operation.thing, unnamed)
    what = f"{operation.kind} {thing}".rstrip()
    file, line = place_in(operation.at)
    source = linecache.getline(file, line).strip() if line else ""
    return f"{what}: {source}" if source else what


# ---- opening ------------------------------------------------------------------------------------


def _is_program(opening: Opening) -> bool:
    from possibly.models.reader import is_model

    return opening.path.endswith(".py") and not is_model(opening.head)


def _opened(opening: Opening) -> System:
    import ast

    from possibly.control.forking.zygote import script
    from possibly.recorder.watch import watched

    try:
        ast.parse(opening.head)
    except (SyntaxError, ValueError) as error:
        line, message = getattr(error, "lineno", None), getattr(error, "msg", str(error))
        raise PossiblyError(f"not Python: {message}", file=opening.path, line=line) from None
    named = watched(None, opening.watched)
    program = script((opening.path, *opening.arguments), watched=named.names | named.members)
    return LiveSystem(program, opening.path, opening.arguments)


OPENERS = (Opener("live program", _is_program, _opened, follows=True),)
