"""Which cuts of a run have the same global state.

Here belongs the state as far as a trace shows it: all variables, the messages in transit by channel and
type, and of each process where it is: kind, label, function and place of its last event, whom it let
begin, and whether it is at its end. A program whose state this is can repeat what lies between two cuts of
one state without end (Sen's thesis, section 9.2.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from possibly.logic.syntax import Leaf, Shared, Transit
from possibly.order.lattice import Lattice, Move
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.model import Value


class States:
    """The number of the state at each packed cut; equal states have one number."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        computation = lattice.computation
        readings = Readings(computation)
        self._begun_by = self._beginnings()
        self._local = [list(self._courses(process)) for process in range(len(computation.lengths))]
        shared = sorted(vocabulary(computation.trace).shared)
        facts: list[Leaf] = [*map(Shared, shared), *self._channels()]
        self._common = [readings(leaf) for leaf in facts]
        self._known: dict[object, int] = {}
        self._by_cut: dict[int, int] = {}

    def __call__(self, cut: int) -> int:
        if cut not in self._by_cut:
            counts = self.lattice.unpack(cut)
            local = tuple(course[count] for course, count in zip(self._local, counts, strict=True))
            common = tuple(told(each.value(counts)) for each in self._common)
            self._by_cut[cut] = self._known.setdefault((local, common), len(self._known))
        return self._by_cut[cut]

    def _beginnings(self) -> dict[int, list[int]]:
        """By event the processes that can begin after it: nobody begins twice."""
        computation, found = self.lattice.computation, dict[int, list[int]]()
        for process, events in enumerate(computation.trace.events_of):
            for event in computation.predecessors(events[0]) if len(events) else ():
                found.setdefault(event, []).append(process)
        return found

    def _courses(self, process: int) -> Iterator[int]:
        """The number of the local state for each count of a process."""
        trace, known = self.lattice.computation.trace, dict[object, int]()
        values: dict[object, str] = {}
        values.update((name, told(value)) for name, value in trace.processes[process].init.items())
        events = trace.events_of[process]
        point: object = None
        for count in range(len(events) + 1):
            if count:
                event = events[count - 1]
                values.update((name, told(value)) for name, value in trace.sets(event))
                values.update(((each,), "can begin") for each in self._begun_by.get(event, ()))
                columns = (trace.label, trace.function, trace.place)
                point = (trace.kind[event], *(trace.text(column, event) for column in columns))
            key = frozenset(values.items()), point, count == len(events)
            yield known.setdefault(key, len(known))

    def _channels(self) -> Iterator[Transit]:
        """One for each pair of processes and type of message, and one for all messages together."""
        trace = self.lattice.computation.trace
        names = [process.name for process in trace.processes]
        found = {
            (trace.process[send], to, trace.text(trace.tag, send))
            for send, to in zip(trace.delivery_send, trace.delivery_to, strict=True)
            if to >= 0
        }
        for sender, receiver, tag in sorted(found, key=str):
            yield Transit(names[sender], names[receiver], tag)
        yield Transit()


def told(value: Value) -> str:
    """A value that can be compared: 1, 1.0 and true are three."""
    return f"{type(value).__name__} {value!r}"


def repeated_state(lattice: Lattice, path: Sequence[Move], start: int = 0) -> tuple[int, int] | None:
    """Numbers of executed steps i < j, from `start` on, after which the states are equal."""
    states, seen, cut = States(lattice), dict[int, int](), lattice.initial
    for count in range(len(path) + 1):
        if count:
            cut += path[count - 1].delta
        if count < start:
            continue
        if (first := seen.setdefault(states(cut), count)) != count:
            return first, count
    return None
