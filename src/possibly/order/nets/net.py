"""State action nets: actions, the local states between them, and what a local state knows.

Here belongs the model of Frey, "Debugging parallel programs using temporal logic specifications", section 3.
An *action* is an event, or all lines of a joint event: a synchronous communication is one action of
several tasks. A *local state* lies between two actions of a task and is named by the task and the number of
its events executed so far. It has a stack (`START`, `IN`, `TERM` of the functions entered) and a set of
values for each visible variable.

Departures. The arcs R of the paper connect states with actions; a message, a lock or the creation of a task
orders two actions of different tasks without a state between them. Such pairs stand in `dependencies`,
and "before" means the transitive closure of both. The tasks of the header begin in the one initial action
that has no event; a task created later begins with its first event. A slice of the net is a cut of the
trace in `sync` order, so slices are never stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from possibly.logic.bind import Vocabulary
from possibly.logic.predicates.functions import MISSING
from possibly.logic.syntax import Local
from possibly.order.computation import Computation
from possibly.order.nets.calls import CallLocals, call_locals
from possibly.order.nets.values import ValueSets, value_sets
from possibly.order.state import Readings, Timeline
from possibly.order.vocabulary import vocabulary
from possibly.trace.model import Trace, Value

Frame = tuple[str, str]
"""START, IN or TERM, and the function."""
Stack = tuple[Frame, ...]
"""The functions in the order of their calls."""

BEGINNING = -1
"""The number of the initial action, which no event belongs to."""


@dataclass(frozen=True, slots=True)
class Action:
    """What happens at once: for each statement the task that executes it and its place in the source."""

    number: int
    """The step of the computation, or BEGINNING."""
    events: tuple[str, ...]
    tasks: tuple[str, ...]
    places: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class LocalState:
    """The local state of a task after `count` of its events."""

    task: str
    count: int
    stack: Stack


class Net:
    """The state action net of a trace. It holds the order; stacks and values are computed when asked for."""

    def __init__(self, trace: Trace, computation: Computation | None = None) -> None:
        self.trace = trace
        self.computation = computation or Computation(trace, "sync")
        self.tasks: tuple[str, ...] = self.computation.processes
        self._readings = Readings(self.computation)
        self._stacks: dict[int, Sequence[Stack]] = {}
        self._shared: dict[str, ValueSets] = {}
        self._local: dict[tuple[int, str], Sequence[Value]] = {}
        self._called: dict[tuple[int, str], CallLocals | None] = {}

    # ---- actions and states -----------------------------------------------------------------------

    def first(self, task: int) -> int:
        """The count of the task's first local state: 0, or 1 where its first event creates it."""
        return 0 if self.trace.processes[task].declared else 1

    def states(self, task: int) -> Iterator[LocalState]:
        stacks = self.stacks(task)
        for count in range(self.first(task), len(stacks)):
            yield LocalState(self.tasks[task], count, stacks[count])

    @property
    def actions(self) -> Iterator[Action]:
        """The initial action, if a task stands in the header, then the steps as observed."""
        begun = tuple(process.name for process in self.trace.processes if process.declared)
        if begun:
            yield Action(BEGINNING, (), begun, (None,) * len(begun))
        for step in self.computation.steps:
            yield self.action(step)

    def action(self, step: int) -> Action:
        trace, events = self.trace, self.computation.events(step)
        return Action(
            step,
            tuple(map(trace.name, events)),
            tuple(self.tasks[trace.process[event]] for event in events),
            tuple(trace.text(trace.place, event) for event in events),
        )

    def preset(self, action: int) -> tuple[tuple[int, int], ...]:
        """The local states, as (task, count), that the action ends."""
        if action == BEGINNING:
            return ()
        places = map(self.computation.place, self.computation.events(action))
        return tuple((task, count - 1) for task, count in places if count > self.first(task))

    def postset(self, action: int) -> tuple[tuple[int, int], ...]:
        """The local states that the action begins."""
        if action == BEGINNING:
            return tuple((task, 0) for task, process in enumerate(self.trace.processes) if process.declared)
        return tuple(map(self.computation.place, self.computation.events(action)))

    def dependencies(self, action: int) -> tuple[int, ...]:
        """The actions of other tasks that have to come first, without a local state between."""
        if action == BEGINNING:
            return ()
        events = self.computation.events(action)
        found = {self.computation.step(p) for event in events for p in self.computation.predecessors(event)}
        return tuple(sorted(found - {action}))

    @property
    def initial_actions(self) -> tuple[int, ...]:
        """The set I: actions that nothing comes before."""
        found = (action.number for action in self.actions)
        return tuple(a for a in found if not self.preset(a) and not self.dependencies(a))

    @cached_property
    def callers(self) -> Mapping[str, str]:
        """For each task that another one created, that task."""
        found = {p.name: p.parent for p in self.trace.processes if p.parent is not None}
        for task, process in enumerate(self.trace.processes):
            if not process.declared and process.parent is None and self.trace.events_of[task]:
                creator = self._creator(self.trace.events_of[task][0])
                if creator is not None:
                    found[process.name] = creator
        return found

    def _creator(self, first: int) -> str | None:
        """The task that spawns the one that begins with this event, as far as its `after` tells."""
        trace = self.trace
        before = list(trace.after(first))
        spawning = [event for event in before if trace.strings[trace.kind[event]] == "spawn"]
        names = {self.tasks[trace.process[event]] for event in spawning or before}
        return names.pop() if len(names) == 1 else None

    # ---- what a local state knows -----------------------------------------------------------------

    def stacks(self, task: int) -> Sequence[Stack]:
        """The stack of a task for each count of its events."""
        if task not in self._stacks:
            self._stacks[task] = list(_stacks(self.trace, task))
        return self._stacks[task]

    @cached_property
    def functions(self) -> frozenset[str]:
        return self.names.functions

    @cached_property
    def names(self) -> Vocabulary:
        return vocabulary(self.trace)

    def shared(self, variable: str) -> ValueSets:
        if variable not in self._shared:
            self._shared[variable] = value_sets(self.computation, variable)
        return self._shared[variable]

    def values(
        self, task: int, count: int, variable: str, only_shared: bool = False
    ) -> tuple[Value, ...] | None:
        """val(variable, s): every value it can have there, or None where it is not visible.

        A bare name is the task's local, if it has a value, else the shared variable. `f.x` belongs to the
        function f: it is visible while f is on the stack, and MISSING is its value before it is set. What
        a recorder tells as both is the local of a call, and ends with it.
        """
        if not only_shared:
            value = self._of_task(task, count, variable)
            if value is not MISSING:
                return (value,)
            if self._is_on_stack(task, count, variable):
                return (MISSING,)
        return self.shared(variable).at(task, count) if variable in self.names.shared else None

    def plain(self, task: int, variable: str) -> Sequence[Value] | None:
        """The one value for each count, of a local that always has one and belongs to no call; else None."""
        if variable.rpartition(".")[0] in self.functions or variable in self._names_in_calls:
            return None
        values = self.locals(task, variable)
        return None if any(value is MISSING for value in values) else values

    def _of_task(self, task: int, count: int, variable: str) -> Value:
        owner = variable.rpartition(".")[0]
        if owner in self.functions and not self._has_frame(task, count, owner):
            return MISSING
        name = variable[len(owner) + 1 :] if owner in self.functions else variable
        calls = self._calls(task, name)
        if calls is None:
            return self.locals(task, variable)[count]
        return calls.innermost(count) if name == variable else calls.of(owner, count)

    def _is_on_stack(self, task: int, count: int, variable: str) -> bool:
        """Whether it is the variable of a function that the task executes."""
        owner = variable.rpartition(".")[0]
        return (
            owner in self.functions
            and variable in self._locals_of_all
            and self._has_frame(task, count, owner)
        )

    def _calls(self, task: int, name: str) -> CallLocals | None:
        """The local of calls that a recorder tells by that name, None if it is not one."""
        if name not in self._names_in_calls:
            return None
        key = task, name
        if key not in self._called:
            self._called[key] = call_locals(self.trace, task, name)
        return self._called[key]

    @cached_property
    def _names_in_calls(self) -> frozenset[str]:
        """Bare names that stand for a local, and behind the name of a function as well."""
        pairs = (variable.rpartition(".") for variable in self._locals_of_all)
        return frozenset(n for owner, _, n in pairs if owner in self.functions and n in self._locals_of_all)

    @cached_property
    def _locals_of_all(self) -> frozenset[str]:
        return frozenset().union(*self.names.locals.values())

    def _has_frame(self, task: int, count: int, function: str) -> bool:
        return any(name == function for _, name in self.stacks(task)[count])

    def locals(self, task: int, variable: str) -> Sequence[Value]:
        """The values of a task's local variable for each count; MISSING where it has none."""
        key = task, variable
        if key not in self._local:
            reading = self._readings(Local(self.tasks[task], variable))
            assert isinstance(reading, Timeline)
            self._local[key] = reading.values
        return self._local[key]

    def visible(self, task: int, count: int) -> dict[str, tuple[Value, ...]]:
        """Every visible variable of a local state with its values, in the order of the names."""
        found = {}
        for variable in sorted(self._locals_of_all | self.names.shared):
            values = self.values(task, count, variable)
            if values is not None and values != (MISSING,):
                found[variable] = values
        return found

    # ---- the properties of section 3 ----------------------------------------------------------------

    def self_check(self) -> None:
        """Properties 1 to 4 of a state action net, for tests; quadratic in its size."""
        actions = [action.number for action in self.actions]
        states = [(task, s.count) for task in range(len(self.tasks)) for s in self.states(task)]
        assert states and actions, "1, 2: states and actions are not empty"
        before = {s: [a for a in actions if s in self.postset(a)] for s in states}
        after = {s: [a for a in actions if s in self.preset(a)] for s in states}
        past: dict[object, set[object]] = {}
        for action in actions:
            past[action] = set()
            for earlier in (*self.preset(action), *self.dependencies(action)):
                assert earlier in past, "3(a): nothing comes before itself"
                past[action] |= past[earlier] | {earlier}
            for state in self.postset(action):
                past[state] = past[action] | {action}
        for state in states:
            assert len(before[state]) == 1, "3(b), 3(d): a state has one action before it"
            assert len(after[state]) <= 1, "3(b): a state has at most one action behind it"
            assert past[state] & set(self.initial_actions), "3(d): an initial action comes before every state"
        for one in states:
            for two in states:
                ordered = one in past[two] or two in past[one]
                assert one == two or ordered or one[0] != two[0], "3(c): states of a task are ordered"
        assert all(self.postset(action) for action in actions), "3(d): every action begins a state"
        assert not any(self.preset(a) for a in self.initial_actions), "4: initial actions end no state"


def _stacks(trace: Trace, task: int) -> Iterator[Stack]:
    """`enter` pushes START, the next event makes it IN, `exit` makes the top TERM, the next event pops it."""
    stack: Stack = ()
    yield stack
    for event in trace.events_of[task]:
        if stack and stack[-1][0] == "TERM":
            stack = stack[:-1]
        if stack and stack[-1][0] == "START":
            stack = (*stack[:-1], ("IN", stack[-1][1]))
        kind, name = trace.strings[trace.kind[event]], trace.text(trace.function, event)
        if kind == "enter" and name is not None:
            stack = (*stack, ("START", name))
        elif kind == "exit" and name is not None:
            stack = (*stack[:-1], ("TERM", name))
        yield stack


def stack_text(stack: Stack) -> str:
    """`/IN.put/START.append`; `/` if no function is entered."""
    return "".join(f"/{phase}.{function}" for phase, function in stack) or "/"
