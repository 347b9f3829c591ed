"""What a run says of one process at a time: predicates that it never satisfies, values that it ever has.

Here belongs what `logic.sifting` asks, so that a quantifier over many processes is written out for those that
can matter. A predicate that cannot be evaluated somewhere is never said to be false throughout: the fault is
to be told where the predicate stands.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.logic.predicates.functions import leaves
from possibly.logic.syntax import Local, Node
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.trace.model import NONE, Trace, Value


class RunFacts:
    """Facts of one run, found out when they are asked for."""

    def __init__(self, lattice: Lattice, readings: Readings) -> None:
        self._trace: Trace = lattice.computation.trace
        self._predicates = CutPredicates(lattice, readings)

    def never(self, predicate: Node) -> bool:
        """Whether it reads local variables of one process alone, and is false in all its states."""
        read = leaves(predicate)
        if not read or not all(isinstance(leaf, Local) for leaf in read):
            return False
        support, before = self._predicates.support(predicate), len(self._predicates.faults)
        if len(support) != 1:
            return False
        is_never = not self._predicates.states(predicate, support[0]).any()
        return is_never and len(self._predicates.faults) == before

    def values(self, process: str, variable: str) -> Iterator[Value]:
        """Every value that a local variable ever has."""
        trace, number = self._trace, self._trace.process_number[process]
        if variable in trace.processes[number].init:
            yield trace.processes[number].init[variable]
        name = trace.course_numbers.get((number, variable))
        if name is not None:
            values = set(trace.courses[number, name].number)
            yield from (trace.values[each] for each in values if each != NONE)
