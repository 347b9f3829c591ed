"""What variables, channels and program points hold at a cut.

Here belongs reading a trace's values by cut: `Readings` looks up any fact a predicate reads, for cuts in
any order; `RunningState` follows one path and tells what each step changes.

Theory of operation. A fact of one process (a local variable, a label, the call stack) is a *timeline*:
its value for each count of that process. A shared variable in causal order is a *chain*: its writes are
totally ordered, a cut contains a prefix of them, and how far it goes is the furthest that any writing
process has come. The number of messages in transit is a *sum* over processes of sends minus receives.
In sync order a shared variable can be read only if its writes are ordered all the same.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence

from possibly.errors import FormulaError, TraceError
from possibly.logic.predicates.functions import MISSING
from possibly.logic.syntax import At, Done, Leaf, Local, Shared, Stack, Transit
from possibly.order.computation import Computation
from possibly.records import dataclass
from possibly.trace.model import NONE, Trace, Value

Counts = Sequence[int]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A fact of one process: its value for each count of executed events."""

    process: int
    values: Sequence[Value]

    @property
    def support(self) -> tuple[int, ...]:
        return (self.process,)

    def value(self, cut: Counts) -> Value:
        return self.values[cut[self.process]]


@dataclass(frozen=True, slots=True)
class Chain:
    """A shared variable: the values along its writes, and how far each writing process has come."""

    values: Sequence[Value]
    """The initial value (or MISSING), then one a write."""
    reached: tuple[tuple[int, Sequence[int], Sequence[int]], ...]
    """(process, counts at which it writes, number of that write in the chain)."""

    @property
    def support(self) -> tuple[int, ...]:
        return tuple(process for process, _, _ in self.reached)

    def value(self, cut: Counts) -> Value:
        last = 0
        for process, counts, numbers in self.reached:
            done = bisect_right(counts, cut[process])
            if done and numbers[done - 1] > last:
                last = numbers[done - 1]
        return self.values[last]


@dataclass(frozen=True, slots=True)
class Sum:
    """Messages in transit: for each process its sends minus its receives, by count."""

    parts: tuple[tuple[int, Sequence[int]], ...]

    @property
    def support(self) -> tuple[int, ...]:
        return tuple(process for process, _ in self.parts)

    def value(self, cut: Counts) -> int:
        return sum(net[cut[process]] for process, net in self.parts)


Reading = Timeline | Chain | Sum


class Readings:
    """Looks up the facts that predicates read, each prepared once."""

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self._known: dict[Leaf, Reading] = {}

    def __call__(self, leaf: Leaf) -> Reading:
        if leaf not in self._known:
            self._known[leaf] = self._prepare(leaf)
        return self._known[leaf]

    def _prepare(self, leaf: Leaf) -> Reading:
        trace, numbers = self.computation.trace, self.computation.trace.process_number
        match leaf:
            case Local(process, variable):
                return Timeline(numbers[process], _local(trace, numbers[process], variable))
            case Shared(variable):
                return _chain(self.computation, leaf)
            case Transit(None, None, tag):
                return _transit(trace, None, None, tag)
            case Transit(sender, receiver, tag):
                return _transit(trace, numbers[sender], numbers[receiver], tag)
            case At(process, label):
                return Timeline(numbers[process], _at(trace, numbers[process], label))
            case Stack(observer, process, function):
                return Timeline(numbers[process], _stack(trace, numbers[process], observer, function))
            case Done(process):
                length = self.computation.lengths[numbers[process]]
                return Timeline(numbers[process], [False] * length + [True])


def _local(trace: Trace, process: int, variable: str) -> Sequence[Value]:
    now = trace.processes[process].init.get(variable, MISSING)
    length = trace.lengths[process]
    number = trace.course_numbers.get((process, variable))
    if number is None:
        return [now] * (length + 1)
    course = trace.courses[process, number]
    numbers = set(course.number) - {NONE}
    if any(not 0 <= found < len(trace.values) for found in numbers):
        raise TraceError("the columnar trace is damaged: a course is malformed", file=trace.file)
    known = {found: trace.values[found] for found in numbers} | {NONE: now}
    if course.position is None:
        return [now, *map(known.__getitem__, course.number)]
    values, at = [], 0
    for position, found in zip(course.position, course.number, strict=True):
        values += [now] * (position - at)
        at, now = position, known[found]
    return values + [now] * (length + 1 - at)


def _at(trace: Trace, process: int, label: str) -> Sequence[bool]:
    return [False, *(trace.text(trace.label, event) == label for event in trace.events_of[process])]


def _stack(trace: Trace, process: int, observer: str, function: str) -> Sequence[bool]:
    """Frey's stack: `enter` pushes START, the next event makes it IN, `exit` makes it TERM, the next pops."""
    holds: Mapping[str, Callable[[list[tuple[str, str]]], bool]] = {
        "inside": lambda stack: any(name == function for _, name in stack),
        "start": lambda stack: ("START", function) in stack,
        "term": lambda stack: ("TERM", function) in stack,
    }
    stack: list[tuple[str, str]] = []
    found = [False]
    for event in trace.events_of[process]:
        if stack and stack[-1][0] == "TERM":
            stack.pop()
        if stack and stack[-1][0] == "START":
            stack[-1] = ("IN", stack[-1][1])
        kind, name = trace.strings[trace.kind[event]], trace.text(trace.function, event)
        if kind == "enter" and name is not None:
            stack.append(("START", name))
        elif kind == "exit" and name is not None:
            stack[-1] = ("TERM", name)
        found.append(holds[observer](stack))
    return found


def _transit(trace: Trace, sender: int | None, receiver: int | None, tag: str | None) -> Sum:
    """Both ends None: every message; else those of one channel."""
    change: dict[int, array[int]] = {}

    def count(event: int, by: int) -> None:
        process = trace.process[event]
        if process not in change:
            change[process] = array("i", bytes(4 * (len(trace.events_of[process]) + 1)))
        change[process][trace.position[event]] += by

    rows = zip(trace.delivery_send, trace.delivery_receive, trace.delivery_to, strict=True)
    for send, receive, to in rows:
        if tag is not None and trace.text(trace.tag, send) != tag:
            continue
        if sender is not None and (trace.process[send] != sender or to != receiver):
            continue
        count(send, 1)
        if receive != NONE:
            count(receive, -1)
    for net in change.values():
        for position in range(1, len(net)):
            net[position] += net[position - 1]
    return Sum(tuple(sorted(change.items())))


def _chain(computation: Computation, leaf: Shared) -> Chain:
    trace = computation.trace
    values: list[Value] = [trace.shared.get(leaf.variable, MISSING)]
    reached: dict[int, tuple[array[int], array[int]]] = {}
    last: int | None = None
    for event, value in _writes_of(trace, leaf.variable):
        if last is not None and computation.order == "sync" and computation.concurrent(last, event):
            raise FormulaError(
                f"the writes of shared variable {leaf.variable} at {trace.name(last)} and {trace.name(event)}"
                " are not ordered in --order sync, so it has no one value at a cut",
                hint="use --order causal",
            )
        last = event
        counts, numbers = reached.setdefault(trace.process[event], (array("i"), array("i")))
        counts.append(trace.position[event])
        numbers.append(len(values))
        values.append(value)
    return Chain(values, tuple((process, *columns) for process, columns in sorted(reached.items())))


def _writes_of(trace: Trace, variable: str) -> Iterator[tuple[int, Value]]:
    if trace.write_start is None:
        return
    for event in range(len(trace)):
        if trace.write_start[event] != trace.write_start[event + 1]:
            for name, value in trace.writes(event):
                if name == variable:
                    yield event, value


Variable = tuple[str | None, str]
"""Process (None: shared) and name."""


class RunningState:
    """The variables along one path: `execute` each step in turn."""

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        trace = computation.trace
        self.values: dict[Variable, Value] = {(None, name): value for name, value in trace.shared.items()}
        for process in trace.processes:
            self.values.update({(process.name, name): value for name, value in process.init.items()})

    def execute(self, step: int) -> list[tuple[Variable, Value, Value]]:
        """The variables that the step assigns, with the value before (or MISSING) and after."""
        trace = self.computation.trace
        assigned: dict[Variable, Value] = {}
        for event in self.computation.events(step):
            process = trace.processes[trace.process[event]].name
            assigned.update({(process, name): value for name, value in trace.sets(event)})
            assigned.update({(None, name): value for name, value in trace.writes(event)})
        changes = [(name, self.values.get(name, MISSING), value) for name, value in assigned.items()]
        self.values.update(assigned)
        return changes
