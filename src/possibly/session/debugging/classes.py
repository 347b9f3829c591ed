"""All orders of one execution as a system to step through.

An execution stands for every execution that differs from it in the order of independent steps only. A
temporal step through any of these is a way through the cuts of its happened-before order. So a search that
executes each class once (`control.schedulers.dpor`) and looks at the cuts of each has looked at every
step there is, with far fewer executions than states.

A formula without X, N, Y and Z cannot tell how often a state is repeated: then only steps matter that
change what it reads, and the others are left out of the cuts. "Temporal debugging for concurrent systems"
names partial-order reduction as what such a search wants; the reduction here is that of classes, and after
it that of the steps that are seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from possibly.control.causality import Causality, members
from possibly.control.execution import Execution, Scheduler, Step
from possibly.control.joining.both import Both
from possibly.control.schedulers.dpor import Dpor
from possibly.control.temporal.live import After, Schedule
from possibly.control.temporal.system import STUCK, ChangedError, Reading, State
from possibly.errors import FormulaError, PossiblyError
from possibly.logic.bind import Vocabulary
from possibly.logic.predicates.functions import MISSING
from possibly.logic.syntax import At, Done, Leaf, Local, Node, Shared, Temporal
from possibly.logic.walk import nodes
from possibly.session.exploring.traces import StepEvents

REPEATS = 3
"""How often an execution that cannot be learnt from is made again."""
AHEAD = 4
"""Executions that are on their way while one is looked at."""
COUNTING = frozenset("XNYZ")
"""Operators that tell how often a state is repeated."""
ENDING = frozenset([STUCK, "outcome"])
"""What only the end of an execution decides."""


class Change(NamedTuple):
    """What a step changes of what formulas can read."""

    process: str
    variables: Mapping[str, Any]
    """MISSING: nobody has seen the value."""
    label: str
    at: str
    ends: bool


class Changes:
    """What the steps of one execution after another change; those that two have in common are told once."""

    def __init__(self) -> None:
        self._names: object = None
        self._schedule: Schedule = ()
        self._known: list[Change] = []
        self.unseen: dict[str, None] = {}
        """Variables that were written without telling their values."""

    def of(self, execution: Execution) -> tuple[Change, ...]:
        events = StepEvents(execution)
        same = _common(self._schedule, execution.schedule) if events.names == self._names else 0
        fresh = [self._change(events, step) for step in execution.steps[same:]]
        self._names, self._schedule = events.names, execution.schedule
        self._known = [*self._known[:same], *fresh]
        return tuple(self._known)

    def _change(self, events: StepEvents, step: Step) -> Change:
        process, fields = events.fields(step)
        writes = fields.get("write", {})
        unseen = [] if _tells(step) else [name for name, value in writes.items() if value is None]
        self.unseen.update(dict.fromkeys(unseen))
        variables = {**writes, **dict.fromkeys(unseen, MISSING)}
        ends = step.operation.kind == "end"
        return Change(process, variables, fields.get("label", ""), fields.get("at", ""), ends)


def _tells(step: Step) -> bool:
    """Whether a step tells the values that it writes; the turn of an event loop's task may not."""
    return isinstance(step.detail, dict) and ("value" in step.detail or "whole" in step.detail)


def _common(one: Schedule, other: Schedule) -> int:
    size = min(len(one), len(other))
    return next((number for number in range(size) if one[number] != other[number]), size)


class Way(NamedTuple):
    """A class of executions beyond a state."""

    steps: tuple[Step, ...]
    begin: int
    """The number of the first step beyond the state."""
    changes: tuple[Change, ...]
    """Of all steps."""
    initial: Mapping[str, Any]
    """Values before the first step."""
    outcome: str | None
    """How it ends; None: it was cut off."""
    is_at: Callable[[tuple[str, str] | None, str], bool]
    """Whether a label names a place."""


class Asked(NamedTuple):
    """What a formula reads."""

    leaves: tuple[Leaf, ...]
    counts: bool
    """It tells how often a state is repeated."""

    is_reached: bool
    """It says that some state is reached, and nothing of the way there."""

    def reads(self, change: Change) -> bool:
        return self.counts or any(_touches(leaf, change) for leaf in self.leaves)

    @property
    def reads_the_end(self) -> bool:
        return any(isinstance(leaf, Shared) and leaf.variable in ENDING for leaf in self.leaves)

    @property
    def may_join(self) -> bool:
        """Whether ways to equal states need not be told apart.

        Every class of executions is a way through the graph of states, each of whose steps was executed
        (`control.joining.graph`). So a state is met that is known by one variable alone, whose writes are
        ordered in all of a class, or by the end alone; of more the parts might be met on different ways.
        """
        names = {leaf.variable if isinstance(leaf, Shared) else "" for leaf in self.leaves}
        return self.is_reached and "" not in names and (len(names) == 1 or names <= ENDING)


def asked_by(formula: Node, leaves: Sequence[Leaf]) -> Asked:
    temporal = [node for node in nodes(formula) if isinstance(node, Temporal)]
    counts = any(node.operator in COUNTING for node in temporal)
    return Asked(tuple(leaves), counts, len(temporal) == 1 and formula is temporal[0] and _is_reach(formula))


def _is_reach(formula: Node) -> bool:
    return isinstance(formula, Temporal) and formula.operator == "F" and formula.process is None


def _touches(leaf: Leaf, change: Change) -> bool:
    match leaf:
        case Shared(name):
            return name in change.variables
        case At(process, _):
            return bool(process == change.process)
        case Done(process):
            return process == change.process and change.ends
    return False


class WayMove(NamedTuple):
    """A step that is seen; the last one of all may be the end."""

    name: str
    processes: tuple[str, ...]
    text: str = ""


class ClassSystem:
    """The cuts of a class: a state is the set of the seen steps that are done, one bit each."""

    def __init__(self, way: Way, asked: Asked, order: Causality) -> None:
        self.name = "class"
        self.vocabulary = Vocabulary((), shared=frozenset([STUCK]))
        self.way = way
        self._order = order
        self._seen = [n for n in range(way.begin, len(way.steps)) if asked.reads(way.changes[n])]
        self._has_end = way.outcome is not None and asked.reads_the_end
        self._needs = self._projected()
        names = [leaf.variable for leaf in asked.leaves if isinstance(leaf, Shared)]
        self.is_exact = all(map(self._is_ordered, names))
        """In every order of the steps each variable has the value that is told here."""

    def _is_ordered(self, name: str) -> bool:
        """Whether the steps that change a variable, and what is in it, follow each other in every order."""
        writers = [number for number in self._seen if name in self.way.changes[number].variables]
        return all(self._order.past[after] >> before & 1 for before, after in pairwise(writers))

    def _projected(self) -> list[int]:
        """The seen steps that come before each seen step, as bits."""
        bits = {number: bit for bit, number in enumerate(self._seen)}
        mask = sum(1 << number for number in self._seen)
        found = []
        for number in self._seen:
            before = self._order.past[number] & mask & ~(1 << number)
            found.append(sum(1 << bits[each] for each in members(before)))
        return found

    @property
    def start(self) -> State:
        return 0

    def initial(self) -> Sequence[State]:
        return [0]

    def successors(self, state: State) -> Iterator[tuple[WayMove, State]]:
        for bit, needs in enumerate(self._needs):
            if not state >> bit & 1 and not needs & ~state:
                process = self.way.changes[self._seen[bit]].process
                yield WayMove(str(bit), (process,)), state | 1 << bit
        if self._has_end and state == (1 << len(self._seen)) - 1:
            yield WayMove("end", ()), state | 1 << len(self._seen)

    def _done(self, state: State) -> list[int]:
        """The seen steps of a cut, in the order of the execution, and all before the class began."""
        done = [number for bit, number in enumerate(self._seen) if state >> bit & 1]
        return [*range(self.way.begin), *done]

    def _is_end(self, state: State) -> bool:
        return self._has_end and bool(state >> len(self._seen))

    def reading(self, leaf: Leaf) -> Reading:
        match leaf:
            case Shared("stuck"):
                return Reading(self._is_end)
            case Shared("outcome"):
                return Reading(lambda state: self.way.outcome if self._is_end(state) else MISSING)
            case Shared(name):
                return Reading(lambda state: self._value(state, name))
            case At(process, label):
                return Reading(lambda state: self.way.is_at(self._place(state, process), label))
            case Done(process):
                return Reading(lambda state: any(self._changes(state, process, ends=True)))
            case Local():
                return Reading(lambda state: MISSING)
        raise FormulaError("a live program has variables, at(task, label) and done(task)")

    def _value(self, state: State, name: str) -> Any:
        """The steps that write a variable are ordered, so the last one in the execution is the last."""
        for number in reversed(self._done(state)):
            if name in self.way.changes[number].variables:
                return self.way.changes[number].variables[name]
        return self.way.initial.get(name, MISSING)

    def _changes(self, state: State, process: str, ends: bool = False) -> Iterator[Change]:
        """Of one process, the last first."""
        for number in reversed(self._done(state)):
            change = self.way.changes[number]
            if change.process == process and (change.ends or not ends):
                yield change

    def _place(self, state: State, process: str) -> tuple[str, str] | None:
        """Label and source place of the last step of a process."""
        last = next(self._changes(state, process), None)
        return None if last is None else (last.label, last.at)

    def places(self, state: State) -> Mapping[str, str]:
        return {}

    def schedule(self, states: Sequence[State]) -> Schedule:
        """The choices that lead through these cuts, with what must come before each seen step."""
        found = dict.fromkeys(range(self.way.begin))
        for before, after in pairwise(states):
            bit = (after ^ before).bit_length() - 1
            if bit == len(self._seen):
                found.update(dict.fromkeys(range(len(self.way.steps))))
            else:
                found.update(dict.fromkeys(members(self._order.past[self._seen[bit]])))
        return tuple([self.way.steps[number].task for number in found])


class Classes:
    """Executes every class of executions beyond a state once, in processes of their own."""

    def __init__(self, program: Any, visible: frozenset[str]) -> None:
        self.program = program
        self.visible = visible
        self.program.visible = set(visible)
        self.executions = 0

    def run(self, state: Schedule, may_join: bool = False) -> Generator[Execution, None, bool]:
        """Every class, and in the end whether these were all; from the start equal states may be joined."""
        explorer: Dpor | Both = Both() if may_join and not state else Dpor()
        running = deque[Scheduler]()
        try:
            while True:
                while len(running) < AHEAD and (course := explorer.plan()) is not None:
                    running.append(After(state, course) if state else course)
                    self.program.begin(running[-1])
                if not running:
                    return _is_complete(explorer) and bool(self.program.agrees())
                execution = self._ended(running)
                explorer.learn(replace(execution, steps=execution.steps[len(state) :]))
                yield execution
        finally:
            for _ in running:
                self.program.end()

    def _ended(self, running: deque[Scheduler]) -> Execution:
        """The first that is on its way; one that cannot be learnt from is executed again."""
        for _ in range(1 + REPEATS):
            scheduler = running.popleft()
            execution: Execution = self.program.end()
            self.executions += 1
            if self.program.visible != self.visible:
                raise ChangedError("more is raced for than was known")
            if not self.program.repeat:
                return execution
            self.program.begin(scheduler)
            running.append(scheduler)
        raise PossiblyError("the program cannot be executed in the same way again")


def _is_complete(explorer: Dpor | Both) -> bool:
    return explorer.tree.is_complete or (isinstance(explorer, Both) and explorer.is_joined)
