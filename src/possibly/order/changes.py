"""Where what a formula reads changes along each process.

Here belongs finding the events that matter to a formula; what is made of them is in `projection`. A largest
part on one process matters where its truth turns; of any other atom the largest values on one process matter,
each where it changes: `P.done[3] + Q.n` where that entry does, not where the list does. Messages that are
counted matter where they are sent and received.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, count, islice
from operator import is_not

from possibly.logic.predicates.closures import LEAVES
from possibly.logic.predicates.functions import compile_value, is_state, leaves
from possibly.logic.syntax import (
    And,
    Apart,
    AtLeast,
    Iff,
    Implies,
    Leaf,
    Literal,
    Node,
    Not,
    Or,
    Subscript,
    Transit,
)
from possibly.logic.walk import children
from possibly.order.bitmaps import Bits
from possibly.order.predicate import CutPredicates
from possibly.order.state import Chain, Reading, Timeline
from possibly.trace.model import NONE, Trace, Value

Look = Callable[[], None]
"""Called now and then; may raise to stop."""


def kept_positions(
    predicates: CutPredicates, formula: Node, look: Look = lambda: None
) -> dict[int, array[int]]:
    """By process that the formula reads: the positions of its events that change what is read."""
    reader = _Reader(predicates)
    pending, seen = [formula], set[int]()
    while pending:
        node = pending.pop()
        look()
        if not is_state(node) or (reader.is_of_several(node) and isinstance(node, _CONNECTIVES)):
            pending += [part for part in children(node) if id(part) not in seen]
            seen.update(map(id, children(node)))
        else:
            reader.read(node)
    return {process: array("i", _marked(marks)) for process, marks in sorted(reader.kept.items())}


def _marked(marks: bytearray) -> Iterator[int]:
    position = marks.find(1)
    while position >= 0:
        yield position
        position = marks.find(1, position + 1)


_CONNECTIVES = (Not, And, Or, AtLeast, Apart, Implies, Iff)


class _Reader:
    """Gathers where predicates, or what they read, change."""

    def __init__(self, predicates: CutPredicates) -> None:
        self.predicates = predicates
        self.kept: dict[int, bytearray] = {}
        """By process a byte for each count: 1 at the positions that are kept."""

    def is_of_several(self, node: Node) -> bool:
        return len(self.predicates.support(node)) > 1

    def read(self, node: Node) -> None:
        """A predicate that is no connective, or is on one process, or on none."""
        support = self.predicates.support(node)
        for leaf in leaves(node):
            self._mention(leaf)
            if isinstance(leaf, Transit):
                self._follow_messages(leaf)
        if len(support) == 1:
            self._add(support[0], _turns(self.predicates.states(node, support[0])))
        elif support:
            self._follow_values(node)

    def _follow_values(self, node: Node) -> None:
        pending = [node]
        while pending:
            part = pending.pop()
            if isinstance(part, LEAVES):
                self._follow(self.predicates.readings(part))
            elif (entry := self._entry(part)) is not None:
                self._add(*entry)
            elif (timelines := self._on_one_process(part)) is None:
                pending += children(part)
            elif timelines:
                at = sorted({0}.union(*(self.predicates.turns(leaf) for leaf in leaves(part))))
                values = _values(part, [[timeline.values[count] for count in at] for timeline in timelines])
                self._add(timelines[0].process, [at[number] for number in _changes(values)])

    def _entry(self, node: Node) -> tuple[int, list[int]] | None:
        """Process and positions at which an entry of a list changes, if it is one: all of them are asked."""
        match node:
            case Subscript(value, Literal(index)) if isinstance(value, LEAVES) and type(index) is int:
                reading = self.predicates.readings(value)
                if not isinstance(reading, Timeline):
                    return None
                columns = self.predicates.entries(value)
                if columns is not None and 0 <= index < len(columns.values):
                    changes = _changes(columns.values[index])
                    return reading.process, [columns.counts[number] for number in changes]
        return None

    def _on_one_process(self, node: Node) -> list[Timeline] | None:
        """What a value reads, if that is one process alone or nothing."""
        readings = [self.predicates.readings(leaf) for leaf in leaves(node)]
        timelines = [each for each in readings if isinstance(each, Timeline)]
        is_one = len(timelines) == len(readings) and len({each.process for each in timelines}) < 2
        return timelines if is_one else None

    def _mention(self, leaf: Leaf) -> None:
        """Processes that are named are there, whether anything changes in them or not."""
        numbers = self.predicates.lattice.computation.trace.process_number
        names = (
            [leaf.sender, leaf.receiver] if isinstance(leaf, Transit) else [getattr(leaf, "process", None)]
        )
        for name in names:
            if name is not None:
                self._add(numbers[name], ())

    def _add(self, process: int, positions: Iterable[int]) -> None:
        marks = self.kept.get(process)
        if marks is None:
            length = self.predicates.lattice.computation.lengths[process]
            marks = self.kept[process] = bytearray(length + 1)
        for position in positions:
            marks[position] = 1

    def _follow(self, reading: Reading) -> None:
        match reading:
            case Timeline(process, values):
                self._add(process, _changes(values))
            case Chain():
                for process, counts, numbers in reading.reached:
                    pairs = zip(counts, numbers, strict=True)
                    changing = (c for c, n in pairs if differ(*reading.values[n - 1 : n + 1]))
                    self._add(process, changing)

    def _follow_messages(self, leaf: Transit) -> None:
        """Every event that sends or receives such a message, also one that does both and leaves the sum."""
        trace = self.predicates.lattice.computation.trace
        for send, receive in messages_of(trace, leaf):
            self._add(trace.process[send], [trace.position[send]])
            if receive != NONE:
                self._add(trace.process[receive], [trace.position[receive]])


def messages_of(trace: Trace, leaf: Transit) -> Iterator[tuple[int, int]]:
    """The messages that are counted: send and receive, which may be NONE."""
    numbers = trace.process_number
    rows = zip(trace.delivery_send, trace.delivery_receive, trace.delivery_to, strict=True)
    for send, receive, to in rows:
        if leaf.tag is not None and trace.text(trace.tag, send) != leaf.tag:
            continue
        if leaf.sender is None or (
            trace.process[send] == numbers[leaf.sender] and to == numbers[leaf.receiver]
        ):
            yield send, receive


def _turns(states: Bits) -> Iterator[int]:
    """The positions of events that turn the truth."""
    truth, count = states[0], 0
    while (count := states.find(1 - truth, count)) >= 0:
        yield count
        truth = 1 - truth


def _values(node: Node, read: Sequence[Sequence[Value]]) -> list[Value]:
    """A value for each row of what is read; where it cannot be evaluated, one that differs from all."""
    compiled = compile_value(node)
    found: list[Value] = []
    for row in zip(*read, strict=True):
        evaluated = compiled.evaluate(list(row))
        found.append(object() if compiled.faults else evaluated)
        compiled.faults.clear()
    return found


def _changes(values: Sequence[Value]) -> Iterator[int]:
    others = map(is_not, islice(values, 1, None), values)
    for position in compress(count(1), others):
        if differ(values[position - 1], values[position]):
            yield position


_PLAIN = (int, str, bool, float, type(None))


def differ(first: Value, second: Value) -> bool:
    """Whether a predicate may tell the two apart. Containers are one object each where they are equal."""
    if first is second:
        return False
    return type(first) is not type(second) or type(first) not in _PLAIN or first != second
