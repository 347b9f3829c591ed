"""Recorded runs as lines that arrive one by one, and the definitions executed on what has arrived."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from random import Random
from typing import Any

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.slices.slicing import Slicing
from possibly.logic.syntax import Node
from possibly.order.computation import Computation, Cut, Place, meet
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import ONLINE_FIELDS, Step
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Slice
from possibly.order.state import Readings
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

Fields = dict[str, Any]


def growing_like(trace: Trace, order: str = "causal") -> Growing:
    """No event yet, but the header of the trace."""
    return Growing([(process.name, process.init) for process in trace.processes], trace.shared, order)


def lines_of(trace: Trace, random: Random, *, addressed: bool = True) -> list[Fields]:
    """The lines of a trace with what arriving lines need; `addressed`: every send names its receivers."""
    parties: dict[str, list[str]] = {}
    events = [trace.event(number) for number in range(len(trace))]
    for event in events:
        if event.meet is not None:
            parties.setdefault(event.meet, []).append(event.process)
    found: list[Fields] = []
    for event in events:
        fields: Fields = {"p": event.process, "kind": event.kind, "set": dict(event.set)}
        fields |= {"write": dict(event.write), "read": list(event.read), "after": list(event.after)}
        fields |= {key: getattr(event, key) for key in ("msg", "tag", "fn", "label") if getattr(event, key)}
        if event.kind == "send":
            names = [process.name for process in trace.processes]
            if addressed or (len(event.to) == 1 and random.random() < 0.5):
                fields["to"] = list(event.to) or [random.choice(names)]
            elif len(event.to) > 1:
                fields["to"] = list(event.to)
        if event.meet is not None:
            fields |= {"meet": event.meet, "parties": parties[event.meet]}
        default = f"{event.process}:{event.position}"
        fields |= {"id": event.name} if event.name != default else {}
        is_named = event.name == default and random.random() < 0.5
        fields |= {"id": default} if is_named else {"k": event.position}
        found.append(fields)
    return found


class SoFar:
    """The lines taken in so far, as a trace with its own lattice; follows a growing computation."""

    def __init__(self, growing: Growing) -> None:
        self.growing = growing
        self.taken: list[Fields] = []
        growing.follow(self._take)

    def _take(self, step: Step) -> None:
        for line in step:
            self.taken.append({key: value for key, value in line.fields.items() if key not in ONLINE_FIELDS})
        for name in ("trace", "computation", "lattice", "predicates", "plain", "cuts"):
            self.__dict__.pop(name, None)

    @cached_property
    def trace(self) -> Trace:
        builder = TraceBuilder()
        builder.header(list(self.growing.initial.items()), self.growing.shared)
        for fields in self.taken:
            builder.add_fields(fields)
        return builder.finish()

    @cached_property
    def computation(self) -> Computation:
        return Computation(self.trace, self.growing.order)

    @cached_property
    def lattice(self) -> Lattice:
        return Lattice(self.computation)

    @cached_property
    def predicates(self) -> CutPredicates:
        return CutPredicates(self.lattice, Readings(self.computation))

    @cached_property
    def plain(self) -> Exhaustive:
        return Exhaustive(self.lattice, self.predicates, Budget())

    @cached_property
    def cuts(self) -> list[Cut]:
        return [self.lattice.unpack(cut) for cut in self.lattice.depth_first()]

    def holds(self, formula: Node) -> bool:
        return self.plain.at(formula, self.lattice.initial)

    def satisfying(self, predicate: Node) -> set[Cut]:
        holds = self.predicates(predicate)
        return {cut for cut in self.cuts if holds(self.lattice.pack(cut))}

    def slices(self, predicate: Node) -> list[Slice] | None:
        return Slicing(self.lattice, self.predicates).alternatives(predicate)

    def places(self) -> Iterator[Place]:
        for process, length in enumerate(self.computation.lengths):
            for position in range(1, length + 1):
                yield process, position


def least_with(cuts: set[Cut], place: Place) -> Cut | None:
    """J(e) by its definition: the intersection of all cuts that contain e."""
    found: Cut | None = None
    for cut in cuts:
        if cut[place[0]] >= place[1]:
            found = cut if found is None else meet(found, cut)
    return found
