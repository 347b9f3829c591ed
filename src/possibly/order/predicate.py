"""State predicates as fast functions of a packed cut.

Here belongs turning a bound predicate and a computation into lookups. A part that depends on one process
alone becomes a bitmap of its truth by count, made once; connectives combine such lookups; what remains
(sums over processes, channels, shared variables) is evaluated from its readings with the answers kept by
the values read, since a run has few distinct values and many cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from possibly.errors import TraceError
from possibly.logic.bind import Declaration
from possibly.logic.predicates.functions import MISSING, Predicate, compile_predicate, leaves
from possibly.logic.syntax import (
    And,
    Apart,
    At,
    AtLeast,
    Compare,
    Done,
    Iff,
    Implies,
    Leaf,
    Literal,
    Local,
    Node,
    Not,
    Or,
    Stack,
)
from possibly.order.bitmaps import UNKNOWN, Bits, packed
from possibly.order.lattice import Lattice
from possibly.order.state import Chain, Reading, Readings, Sum, Timeline
from possibly.records import dataclass
from possibly.trace.model import Trace, Value

Holds = Callable[[int], bool]
"""Whether a predicate is true at a packed cut."""

KEPT_ANSWERS = 200_000
"""How many answers of one predicate are remembered."""

KEPT_TRUTHS = 1 << 26
"""How many truths by value are remembered, of all forms of predicates together."""


MOST_ENTRIES = 1 << 22
"""Entries of a list times its turns up to which all are looked at in one go."""


@dataclass(frozen=True, slots=True)
class Entries:
    """A list entry by entry: the counts at which it may be another one, and what each entry is there."""

    counts: list[int]
    values: list[tuple[Value, ...]]


def _entries(counts: list[int], lists: list[Value]) -> Entries | None:
    lengths = {len(each) for each in lists if type(each) is list}
    if len(lengths) != 1 or len(lists) * (length := lengths.pop()) > MOST_ENTRIES:
        return None
    # Where it is no list, an entry is like none before or after.
    rows = (each if type(each) is list else [object()] * length for each in lists)
    return Entries(counts, list(zip(*rows, strict=True)))


class CutPredicates:
    """Makes and keeps the functions for the predicates of one lattice; collects their faults.

    `declared` are the classes that the user vouches for, by predicate.
    """

    def __init__(
        self, lattice: Lattice, readings: Readings, declared: Mapping[Node, Declaration] | None = None
    ) -> None:
        self.lattice = lattice
        self.readings = readings
        self.declared: Mapping[Node, Declaration] = declared or {}
        self._known: dict[Node, Holds] = {}
        self._compiled: list[Predicate] = []
        self._states: dict[Node, Bits] = {}
        self._turns: dict[Leaf, list[int]] = {}
        self._entries: dict[Leaf, Entries | None] = {}
        self._plain: dict[Form, dict[int, Bits | None]] = {}
        """By the form of a predicate on one variable, and by process."""
        self._templates: dict[Form, _Template | None] = {}
        """By form: its truths by value, for whatever process."""
        self._supports: dict[Node, tuple[int, ...]] = {}

    def __call__(self, node: Node) -> Holds:
        if node not in self._known:
            self._known[node] = self._make(node)
        return self._known[node]

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be evaluated somewhere, and so counted as false there."""
        return tuple(dict.fromkeys(fault for predicate in self._compiled for fault in predicate.faults))

    def report_faults_to(self, other: CutPredicates) -> None:
        """What cannot be evaluated here is from now on listed there."""
        self._compiled = other._compiled

    def support(self, node: Node) -> tuple[int, ...]:
        """The processes whose counts the predicate depends on."""
        if node not in self._supports:
            found = {process for leaf in leaves(node) for process in self._processes(leaf)}
            self._supports[node] = tuple(sorted(found))
        return self._supports[node]

    def _processes(self, leaf: Leaf) -> tuple[int, ...]:
        if isinstance(leaf, Local | At | Stack | Done):
            return (self.lattice.computation.trace.process_number[leaf.process],)
        return self.readings(leaf).support

    def turns(self, leaf: Leaf) -> list[int]:
        """The counts at which a fact of one process has another value than before, or an equal one anew."""
        if leaf not in self._turns:
            reading = self.readings(leaf)
            assert isinstance(reading, Timeline), "a fact of one process"
            values = reading.values
            pairs = zip(values, islice(values, 1, None), strict=False)
            self._turns[leaf] = [count for count, (old, new) in enumerate(pairs, 1) if old is not new]
        return self._turns[leaf]

    def entries(self, leaf: Leaf) -> Entries | None:
        """A fact of one process entry by entry, where it is a list, always of one length; None elsewhere."""
        if leaf not in self._entries:
            reading = self.readings(leaf)
            assert isinstance(reading, Timeline), "a fact of one process"
            counts = [0, *self.turns(leaf)]
            self._entries[leaf] = _entries(counts, [reading.values[count] for count in counts])
        return self._entries[leaf]

    def table(self, node: Node, process: int) -> bytearray:
        """The truth of a predicate that depends on this process alone, a byte a count."""
        return bytearray(self.states(node, process).truths())

    def states(self, node: Node, process: int) -> Bits:
        """The same, a bit a count."""
        plain = self.plain(node)
        if plain is not None:
            return plain[1]
        if node not in self._states:
            self._states[node] = self._tabulated(node, process)
        return self._states[node]

    def plain(self, node: Node) -> tuple[int, Bits] | None:
        """Process and states of a comparison of one local variable with a constant; None for all others.

        One table of truths by value serves all processes, and no value is looked at twice: formulas over
        thousands of processes are made of such comparisons.
        """
        form, local = _form(node)
        if form is None or local is None:
            return None
        process = self.lattice.computation.trace.process_number[local.process]
        known = self._plain.get(form)
        if known is None:
            known = self._plain[form] = {}
        if process not in known:
            known[process] = self._by_form(node, form, process)
        found = known[process]
        return None if found is None else (process, found)

    def _by_form(self, node: Node, form: Form, process: int) -> Bits | None:
        if form not in self._templates:
            if (len(self._templates) + 1) * len(self.lattice.computation.trace.values) > KEPT_TRUTHS:
                self._templates.clear()
            self._templates[form] = _Template(compile_predicate(node), self.lattice.computation.trace)
        template = self._templates[form]
        if template is None:
            return None
        found = template.states(process, form[0])
        if template.predicate.faults:
            # A fault names the process: from now on each process has a predicate of its own.
            self._templates[form] = None
            return None
        return found

    def _tabulated(self, node: Node, process: int) -> Bits:
        predicate = compile_predicate(node)
        self._compiled.append(predicate)
        trace = self.lattice.computation.trace
        match predicate.leaves:
            case (Local(_, variable),):
                return _Template(predicate, trace).states(process, variable)
        readings = [self.readings(leaf) for leaf in predicate.leaves]
        if len(readings) == 1 and isinstance(readings[0], Timeline):
            return _along(readings[0].values, predicate)
        counts = [0] * len(self.lattice.computation.lengths)
        # A run has few distinct values, and each is one object of the trace's table: evaluate once for each.
        # The values are kept with the answer, so that no other object can get their identity meanwhile.
        known: dict[tuple[int, ...], tuple[bool, list[Value]]] = {}
        found = bytearray()
        for count in range(self.lattice.computation.lengths[process] + 1):
            counts[process] = count
            values = [reading.value(counts) for reading in readings]
            key = tuple(map(id, values))
            if key not in known:
                known[key] = (predicate.evaluate(values), values)
            found.append(known[key][0])
        return Bits.from_truths(bytes(found))

    def compiled(self, node: Node) -> Predicate:
        """The predicate as a function of the values it reads; its faults are collected here."""
        return self._compile(node)[0]

    def followed(self, node: Node) -> Followed:
        """The predicate along a path, re-evaluated where a step changes what it reads."""
        predicate, readings = self._compile(node)
        return Followed(predicate, readings, len(self.lattice.computation.lengths))

    def _compile(self, node: Node) -> tuple[Predicate, list[Reading]]:
        predicate = compile_predicate(node)
        self._compiled.append(predicate)
        return predicate, [self.readings(leaf) for leaf in predicate.leaves]

    def _make(self, node: Node) -> Holds:
        support = self.support(node)
        if not support:
            truth = bool(self._compile_and_evaluate(node, 0))
            return lambda cut: truth
        if len(support) == 1:
            return self._lookup(self.states(node, support[0]).truths(), support[0])
        match node:
            case Not(operand):
                inner = self(operand)
                return lambda cut: not inner(cut)
            case And(operands):
                return _every([self(part) for part in operands])
            case Or(operands):
                return _some([self(part) for part in operands])
            case AtLeast(least, operands):
                return _at_least(least, [self(part) for part in operands])
            case Apart(operands):
                return _apart([self(part) for part in operands])
            case Implies(left, right):
                return _some([self(Not(left)), self(right)])
            case Iff(left, right):
                first, second = self(left), self(right)
                return lambda cut: first(cut) == second(cut)
        return self._evaluated(node)

    def _compile_and_evaluate(self, node: Node, cut: int) -> bool:
        predicate, readings = self._compile(node)
        counts = self.lattice.unpack(cut)
        return predicate.evaluate([reading.value(counts) for reading in readings])

    def _lookup(self, table: bytes, process: int) -> Holds:
        shift, mask = self.lattice.shifts[process], self.lattice.masks[process]
        return lambda cut: table[cut >> shift & mask] == 1

    def _evaluated(self, node: Node) -> Holds:
        predicate, readings = self._compile(node)
        look = [_packed(reading, self.lattice) for reading in readings]
        answers: dict[tuple[object, ...], bool] = {}

        def holds(cut: int) -> bool:
            values = [value(cut) for value in look]
            # Equal numbers of different types compare alike in every predicate, except as operands of
            # a type error: the type is part of the key. Containers have no hash; they are not kept.
            key = (*values, *map(type, values))
            try:
                if key in answers:
                    return answers[key]
            except TypeError:
                return predicate.evaluate(values)
            if len(answers) >= KEPT_ANSWERS:
                answers.clear()
            answers[key] = answer = predicate.evaluate(values)
            return answer

        return holds


class Followed:
    """The truth of a predicate along a path from the initial cut, by what each step changes."""

    def __init__(self, predicate: Predicate, readings: Sequence[Reading], processes: int) -> None:
        self._predicate = predicate
        self._counts = [0] * processes
        self._values = [reading.value(self._counts) for reading in readings]
        self._changes: dict[int, list[tuple[int, Callable[[int], Value]]]] = {}
        """By process which values its steps can change, and how they are read from its count."""
        for number, reading in enumerate(readings):
            for process, read in self._read_by(number, reading):
                self._changes.setdefault(process, []).append((number, read))
        self.truth = predicate.evaluate(self._values)

    def _read_by(self, number: int, reading: Reading) -> Iterator[tuple[int, Callable[[int], Value]]]:
        match reading:
            case Timeline(process, values):
                yield process, values.__getitem__
            case Sum(parts):
                for process, net in parts:
                    yield process, partial(self._added, number, net)
            case Chain():
                for process in reading.support:
                    yield process, lambda _: reading.value(self._counts)

    def _added(self, number: int, net: Sequence[int], count: int) -> Value:
        return self._values[number] + net[count] - net[count - 1]

    def move(self, processes: Sequence[int]) -> bool:
        """Whether it is true after a step of these processes."""
        has_changed = False
        for process in processes:
            self._counts[process] += 1
        for process in processes:
            for number, read in self._changes.get(process, ()):
                value = read(self._counts[process])
                if value is not self._values[number]:
                    self._values[number], has_changed = value, True
        if has_changed:
            self.truth = self._predicate.evaluate(self._values)
        return self.truth


def _along(values: Sequence[Value], predicate: Predicate) -> Bits:
    """The truth of a predicate of one value along a timeline, each distinct object evaluated once."""
    distinct = {id(value): value for value in values}
    truth = {number: predicate.evaluate([value]) for number, value in distinct.items()}
    return Bits.from_truths(bytes(map(truth.__getitem__, map(id, values))))


Form = tuple[str, object, object]
"""A predicate of one local variable, without its process: the variable, the operator, the constant."""


def _form(node: Node) -> tuple[Form, Local] | tuple[None, None]:
    if type(node) is Local:
        return (node.variable, "", None), node
    if type(node) is Compare and len(node.operators) == 1:
        left, right = node.operands
        if type(left) is Local and type(right) is Literal:
            return (left.variable, node.operators[0], (type(right.value), right.value)), left
    return None, None


class _Template:
    """A predicate of one local variable: its truth by value number, evaluated where it is first met."""

    def __init__(self, predicate: Predicate, trace: Trace) -> None:
        self.predicate = predicate
        self.trace = trace
        self.truth = bytearray([UNKNOWN]) * len(trace.values)
        self._first: list[tuple[Value, bool]] = []
        """The last initial value, with its truth: most processes begin alike."""

    def _of_first(self, value: Value) -> bool:
        if not self._first or self._first[0][0] is not value:
            self._first = [(value, self.predicate.evaluate([value]))]
        return self._first[0][1]

    def states(self, process: int, variable: str) -> Bits:
        trace, length = self.trace, self.trace.lengths[process]
        first = self._of_first(trace.processes[process].init.get(variable, MISSING))
        number = trace.course_numbers.get((process, variable))
        if number is None:
            return Bits.from_truths(bytes([first]) * (length + 1))
        try:
            return packed(trace.courses[process, number], length, self.truth, first, self._evaluate)
        except IndexError:
            raise TraceError(
                "the columnar trace is damaged: a course is malformed", file=trace.file
            ) from None

    def _evaluate(self, number: int) -> bool:
        return self.predicate.evaluate([self.trace.values[number]])


def _every(parts: Sequence[Holds]) -> Holds:
    if len(parts) == 2:
        first, second = parts
        return lambda cut: first(cut) and second(cut)
    return lambda cut: all(part(cut) for part in parts)


def _some(parts: Sequence[Holds]) -> Holds:
    if len(parts) == 2:
        first, second = parts
        return lambda cut: first(cut) or second(cut)
    return lambda cut: any(part(cut) for part in parts)


def _apart(parts: list[Holds]) -> Holds:
    half = len(parts) // 2

    def are_there(cut: int) -> bool:
        ones = [place for place in range(half) if parts[place](cut)]
        return bool(ones) and any(parts[half + place](cut) for place in range(half) if ones != [place])

    return are_there


def _at_least(least: int, parts: Sequence[Holds]) -> Holds:
    def enough(cut: int) -> bool:
        missing = least
        for part in parts:
            if part(cut):
                missing -= 1
                if missing <= 0:
                    return True
        return missing <= 0

    return enough


def _packed(reading: Reading, lattice: Lattice) -> Callable[[int], Value]:
    """The reading as a function of a packed cut."""
    match reading:
        case Timeline(process, values):
            shift, mask = lattice.shifts[process], lattice.masks[process]
            return lambda cut: values[cut >> shift & mask]
        case Sum(parts):
            nets = [(lattice.shifts[p], lattice.masks[p], net) for p, net in parts]
            return lambda cut: sum(net[cut >> shift & mask] for shift, mask, net in nets)
        case Chain():
            return _packed_chain(reading, lattice)


def _packed_chain(chain: Chain, lattice: Lattice) -> Callable[[int], Value]:
    progress = []
    for process, counts, numbers in chain.reached:
        reached = [0] * (lattice.computation.lengths[process] + 1)
        for count, number in zip(counts, numbers, strict=True):
            reached[count] = number
        for count in range(1, len(reached)):
            reached[count] = max(reached[count], reached[count - 1])
        progress.append((lattice.shifts[process], lattice.masks[process], reached))
    values = chain.values
    if not progress:
        return lambda cut: values[0]
    return lambda cut: values[max(reached[cut >> shift & mask] for shift, mask, reached in progress)]
