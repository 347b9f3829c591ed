"""A model: packed states and their successors.

Theory of operation. A state is one integer: a bit field a slot, and one a process that says on which edge of
its flow graph it is. What a process does next depends only on its edge and on the slots that the next node
reads. So the outcomes of an edge are kept by the bits of those slots, as pairs of masks: the successor is
`state & keep | put`. A closure of the syntax tree runs only for bits that were not met before; successors
of a state cost a look-up and two operations on integers each.

A statement that cannot be executed (an index outside, a false `assert`) makes its process fail: it goes to
an edge of failure and stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from possibly.models.domains import domains
from possibly.models.flow import FlowGraph, Node
from possibly.models.operations import nested
from possibly.models.slots import NOTHING, Failure, Place, Slot, Value, Values

LONGEST_BLOCK = 10_000
"""Nodes that an atomic block may execute in one transition."""
KEPT = 200_000
"""Outcomes that an edge remembers."""
FAILED = "failed"
"""The label of a process whose statement could not be executed."""


class Transition(NamedTuple):
    """One step of one process."""

    process: str
    label: str
    """The label, or the line, of the last node that it executes."""
    text: str
    alternative: int = 0
    """Which of several outcomes of the same statement."""
    line: int = 0
    failure: str | None = None

    @property
    def name(self) -> str:
        return f"{self.process}:{self.label}" + (f"#{self.alternative}" if self.alternative else "")

    @property
    def processes(self) -> tuple[str, ...]:
        return (self.process,)


Effect = tuple[Transition, int, int]
"""A transition, what it keeps of a state, and what it puts in."""


class Edge:
    """Where a process is: what it executed last, and what it executes next."""

    __slots__ = ("failed", "known", "last", "mask", "next", "number", "reads")

    def __init__(self, number: int, last: Node | None, following: Node | None, failed: bool) -> None:
        self.number = number
        self.last = last
        self.next = following
        """None: nothing, the process has ended or failed."""
        self.failed = failed
        self.reads: tuple[int, ...] = ()
        self.mask = 0
        self.known: dict[int, tuple[Effect, ...]] = {}


class Process:
    """A flow graph with its edges numbered, and the bit field of the number."""

    def __init__(self, graph: FlowGraph) -> None:
        self.graph = graph
        self.name = graph.process
        self.edges: list[Edge] = []
        self.numbers: dict[tuple[Node | None, Node | None, bool], Edge] = {}
        self._add(None, graph.start.target, False)
        for node in graph.nodes:
            for leaving in node.exits:
                self._add(node, leaving.target, False)
            self._add(node, None, True)
        self.shift = 0
        self.mask = (1 << (len(self.edges) - 1).bit_length()) - 1

    def _add(self, last: Node | None, following: Node | None, failed: bool) -> None:
        key = last, following, failed
        if key not in self.numbers:
            self.numbers[key] = Edge(len(self.edges), *key)
            self.edges.append(self.numbers[key])

    def edge(self, state: int) -> Edge:
        return self.edges[state >> self.shift & self.mask]


class Reading(NamedTuple):
    """A fact of a state, and the bits it depends on."""

    mask: int
    value: Callable[[int], Value]


class Run(NamedTuple):
    """What one transition does: the values it assigns, and the edge it ends on."""

    writes: Mapping[int, Value]
    edge: Edge
    last: Node
    failure: str | None


class Model:
    """The system that a model file describes."""

    def __init__(
        self,
        file: str,
        graphs: Sequence[FlowGraph],
        slots: Sequence[Slot],
        shared: Mapping[str, Place],
        local: Mapping[str, Mapping[str, Place]],
        constants: Mapping[str, Value],
    ) -> None:
        self.file = file
        self.processes = [Process(graph) for graph in graphs]
        self.by_name = {process.name: process for process in self.processes}
        self.slots = slots
        self.shared = shared
        self.locals = local
        self.constants = constants
        self.bits = self._laid_out()
        self._all = (1 << self.bits) - 1
        self._fast = [(process.shift, process.mask, process.edges, process) for process in self.processes]
        self.initial = self._put({number: slot.initial for number, slot in enumerate(slots)})

    def _laid_out(self) -> int:
        at = 0
        for process in self.processes:
            process.shift = at
            at += process.mask.bit_length()
        nodes = [node for process in self.processes for node in process.graph.nodes]
        for slot, domain in zip(self.slots, domains(self.slots, nodes), strict=True):
            at = slot.place(at, domain)
        for process in self.processes:
            blocks = _block_reads(process.graph.nodes)
            for edge in process.edges:
                if edge.next is not None:
                    reads = edge.next.reads if edge.next.block is None else blocks[edge.next.block]
                    edge.reads = tuple(sorted(reads))
                    edge.mask = self._mask(reads)
        return at

    def _mask(self, slots: Iterable[int]) -> int:
        return sum(self.slots[slot].mask << self.slots[slot].shift for slot in slots)

    def _put(self, values: Mapping[int, Value]) -> int:
        return sum(self.slots[slot].number(value) << self.slots[slot].shift for slot, value in values.items())

    # ---- successors -----------------------------------------------------------------------------

    def successors(self, state: int) -> list[tuple[Transition, int]]:
        """Every transition that is enabled, with the state it leads to; processes in their order."""
        found = []
        for shift, mask, edges, process in self._fast:
            edge = edges[state >> shift & mask]
            effects = edge.known.get(state & edge.mask)
            if effects is None:
                effects = self.effects(process, edge, state)
            for transition, keep, put in effects:
                found.append((transition, state & keep | put))
        return found

    def effects(self, process: Process, edge: Edge, state: int) -> tuple[Effect, ...]:
        """The outcomes of an edge, executed once for all states that agree on what it reads."""
        values: Values = [NOTHING] * len(self.slots)
        for slot in edge.reads:
            values[slot] = self.slots[slot].value(state)
        runs = [] if edge.next is None else list(_runs(process, edge.next, values))
        found = {self._effect(process, run): run for run in runs}
        effects = tuple(
            [
                (_transition(process.name, run, number), keep, put)
                for number, ((keep, put), run) in enumerate(found.items())
            ]
        )
        if len(edge.known) >= KEPT:
            edge.known.clear()
        edge.known[state & edge.mask] = effects
        return effects

    def _effect(self, process: Process, run: Run) -> tuple[int, int]:
        changed = self._mask(run.writes) | process.mask << process.shift
        return self._all ^ changed, self._put(run.writes) | run.edge.number << process.shift

    # ---- facts ----------------------------------------------------------------------------------

    def variable(self, process: str | None, name: str) -> Reading:
        """The value of a variable; arrays, channels and tuples are lists."""
        if process is None and name in self.constants:
            value = _listed(self.constants[name])
            return Reading(0, lambda state: value)
        place = (self.shared if process is None else self.locals[process])[name]
        slots = [self.slots[number] for number in place.slots]
        if not place.sizes:
            (slot,) = slots
            return Reading(self._mask(place.slots), lambda state: _listed(slot.value(state)))
        return Reading(
            self._mask(place.slots),
            lambda state: _listed(nested([slot.value(state) for slot in slots], place.sizes)),
        )

    def changed(self, state: int, process: str | None, name: str, value: Value) -> int | None:
        """The state with another value of a variable; None if that cannot have it there."""
        place = (self.shared if process is None else self.locals.get(process, {})).get(name)
        if place is None or place.sizes or place.capacity:
            return None
        slot = self.slots[place.first]
        if not slot.takes(value):
            return None
        return state & ~(slot.mask << slot.shift) | slot.number(value) << slot.shift

    def element(self, name: str, indices: Sequence[int]) -> Reading | None:
        """One element of a shared array; None if it has none there."""
        place = self.shared.get(name)
        if place is None or not indices or len(indices) != len(place.sizes):
            return None
        number = 0
        for index, size in zip(indices, place.sizes, strict=True):
            if not 0 <= index < size:
                return None
            number = number * size + index
        slot = self.slots[place.slots[number]]
        return Reading(slot.mask << slot.shift, lambda state: _listed(slot.value(state)))

    def on_edge(self, process: str, holds: Callable[[Edge], bool]) -> Reading:
        """A fact of where a process is."""
        found = self.by_name[process]
        table = [holds(edge) for edge in found.edges]
        shift, mask = found.shift, found.mask
        return Reading(mask << shift, lambda state: table[state >> shift & mask])

    @property
    def labels(self) -> frozenset[str]:
        nodes = [node for process in self.processes for node in process.graph.nodes]
        return frozenset(label for node in nodes for label in node.labels) | {FAILED}

    @property
    def functions(self) -> frozenset[str]:
        nodes = [node for process in self.processes for node in process.graph.nodes]
        return frozenset(name for node in nodes for name in node.functions)

    def self_check(self, state: int) -> None:
        """The invariant of a packed state: every field numbers a value, or an edge, that there is."""
        assert 0 <= state <= self._all
        for slot in self.slots:
            assert state >> slot.shift & slot.mask < len(slot.values), slot.name
        for process in self.processes:
            assert state >> process.shift & process.mask < len(process.edges), process.name


def _block_reads(nodes: Iterable[Node]) -> dict[int, frozenset[int]]:
    found: dict[int, frozenset[int]] = {}
    for node in nodes:
        if node.block is not None:
            found[node.block] = found.get(node.block, frozenset()) | node.reads
    return found


def _runs(process: Process, first: Node, values: Values) -> Iterator[Run]:
    """Every way to execute a node, or the rest of its atomic block, to the end."""
    pending: list[tuple[Node, dict[int, Value]]] = [(first, {})]
    executed = 0
    while pending:
        node, writes = pending.pop()
        now = values.copy()
        for slot, value in writes.items():
            now[slot] = value
        executed += 1
        try:
            if executed > LONGEST_BLOCK:
                raise Failure(f"an atomic block does not end within {LONGEST_BLOCK:,} statements")
            outcomes = node.act(now)
        except Failure as failure:
            yield Run(writes, process.numbers[node, None, True], node, str(failure))
            if executed > LONGEST_BLOCK:
                return
            continue
        inside = []
        for outcome in outcomes:
            leaving = node.exits[outcome.exit]
            after = {**writes, **dict(outcome.writes), **dict.fromkeys(leaving.clears, NOTHING)}
            following = leaving.target
            goes_on = node.block is not None and not leaving.leaves
            if goes_on and following is not None and following.block == node.block:
                inside.append((following, after))
            else:
                yield Run(after, process.numbers[node, following, False], node, None)
        pending.extend(reversed(inside))


def _transition(process: str, run: Run, alternative: int) -> Transition:
    return Transition(process, run.last.name, run.last.text, alternative, run.last.line, run.failure)


def _listed(value: Value) -> Value:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value
