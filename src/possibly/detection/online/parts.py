"""Operators that are followed on-line beside EF and EG: next, until, and AF of conjunctions.

Here belongs one class an operator; `online` puts them together.

    EX(p)       a step that nothing is needed for leads from the initial cut to a cut where p is evaluated at
                once. True is final: the step stays. AX is its dual
    E[p U q]    p a conjunction of predicates on one chain each: decided by J, the least cut with q, and the
                cuts below it (Sen's thesis, Algo 6.3, with the correction that the last event is maximal in
                J). J is final as soon as it is known and all events in it have arrived, so the answer is
                final then, either way; a disjunction q has one J for each of its alternatives. It is false
                so far while there is no J
    AF(p)       p a conjunction of predicates on one process each: by intervals (Garg and Waldecker,
                "Detection of strong unstable predicates in distributed programs"), which arrive. An interval
                that has not ended ends with the run so far, so true may become false; it is final once no
                condition rests on an interval that may still end. Dropped intervals never come back, so an
                event costs what comparing the ends of its intervals costs. EG of a disjunction is its dual
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from possibly.detection.online.follow import Following, LocalTruth, refuse_unordered
from possibly.detection.online.search import Rising
from possibly.detection.online.standing import ByStep, Moment, Standing
from possibly.detection.online.terms import Alternative, ChannelTerm, LocalTerm, SharedTerm, alternatives
from possibly.errors import FormulaError
from possibly.logic.predicates.functions import MISSING, Predicate, compile_predicate
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, At, Done, Leaf, Local, Node, Shared, Stack, Transit
from possibly.order.computation import Place
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Line, Step
from possibly.trace.model import Value

# ---- next -------------------------------------------------------------------------------------------


class Next(ByStep):
    """EX(p), or EX[P](p): whether one step leads from the initial cut to a cut with p."""

    size = 0

    def __init__(self, growing: Growing, predicate: Node, process: str | None = None) -> None:
        self._growing = growing
        self._predicate: Predicate = compile_predicate(predicate)
        self._process = process
        self.moment: Moment | None = None
        for leaf in self._predicate.leaves:
            if isinstance(leaf, Done | Transit):
                raise FormulaError(f"{unparse(leaf)} cannot be followed on-line inside EX or AX")
            if isinstance(leaf, Shared):
                refuse_unordered(growing, leaf.variable)

    def take(self, step: Step) -> None:
        if self.moment is not None or not _is_first(step):
            return
        owners = {line.fields["p"]: line for line in step}
        if self._process is not None and self._process not in owners:
            return
        if self._predicate.evaluate([self._value(leaf, owners, step) for leaf in self._predicate.leaves]):
            cut = dict.fromkeys(self._growing.processes, 0) | dict.fromkeys(owners, 1)
            self.moment = Moment(cut, step[-1].name, self._growing.taken)

    def _value(self, leaf: Leaf, owners: dict[str, Line], step: Step) -> Value:
        match leaf:
            case Local(process, variable):
                before = self._growing.initial.get(process, {}).get(variable, MISSING)
                return (
                    owners[process].fields.get("set", {}).get(variable, before)
                    if process in owners
                    else before
                )
            case Shared(variable):
                written = [line.fields["write"] for line in step if variable in line.fields.get("write", ())]
                return written[-1][variable] if written else self._growing.shared.get(variable, MISSING)
            case At(process, label):
                return process in owners and owners[process].fields.get("label") == label
            case Stack(observer, process, function) if process in owners and observer != "term":
                fields = owners[process].fields
                return fields.get("kind") == "enter" and fields["fn"] == function
        return False

    @property
    def standing(self) -> Standing:
        return Standing(self.moment is not None, self.moment is not None, self.moment)

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(self._predicate.faults)


def _is_first(step: Step) -> bool:
    """Whether the step leads from the initial cut."""
    places = {line.place for line in step}
    return all(line.position == 1 and places.issuperset(line.needs) for line in step)


# ---- until ------------------------------------------------------------------------------------------


class _Meanwhile:
    """Where a conjunction is first false, on each chain."""

    def __init__(self, growing: Growing, alternative: Alternative) -> None:
        self.holds_at_first = True
        self._locals: dict[int, list[LocalTruth]] = {}
        self._shared: list[tuple[str, Predicate]] = []
        self._ends: dict[int, int] = {}
        """By process: the first position that no cut may contain."""
        for term in alternative:
            match term:
                case LocalTerm(process, node):
                    truth = LocalTruth(growing, process, node)
                    self._locals.setdefault(growing.number(process), []).append(truth)
                    self.holds_at_first &= truth.now
                case SharedTerm(variable, node):
                    refuse_unordered(growing, variable)
                    predicate = compile_predicate(node)
                    self._shared.append((variable, predicate))
                    self.holds_at_first &= predicate.evaluate([growing.shared.get(variable, MISSING)])

    def take(self, step: Step) -> None:
        for line in step:
            truths = [truth.after(line) for truth in self._locals.get(line.process, ())]
            if not all(truths):
                self._end(line.place)
        for variable, predicate in self._shared:
            # Two writes of one step are never seen apart: only the last one counts.
            written = [line for line in step if variable in line.fields.get("write", ())]
            for line in written[-1:]:
                if not predicate.evaluate([line.fields["write"][variable]]):
                    self._end(line.place)

    def _end(self, place: Place) -> None:
        self._ends.setdefault(*place)

    def holds_below(self, cut: Sequence[int]) -> bool:
        """Whether it is true at every cut inside this one."""
        return self.holds_at_first and all(cut[process] < end for process, end in self._ends.items())

    @property
    def faults(self) -> list[str]:
        predicates = [truth.predicate for truths in self._locals.values() for truth in truths]
        predicates += [predicate for _, predicate in self._shared]
        return [fault for predicate in predicates for fault in predicate.faults]


class Until(ByStep):
    """E[p U q]."""

    def __init__(self, growing: Growing, first: Node, second: Node) -> None:
        found = alternatives(first)
        if len(found) > 1 or any(isinstance(term, ChannelTerm) for part in found for term in part):
            raise FormulaError(
                f"an until that waits through {unparse(first)} cannot be followed on-line",
                hint="it can through conjunctions of predicates on one process or shared variable each",
            )
        self._growing = growing
        self._meanwhile = _Meanwhile(growing, found[0]) if found else None
        self._goals: list[tuple[Following, Rising]] = []
        self._needed_by: dict[Place, list[Place]] = {}
        self._partners: dict[Place, list[Place]] = {}
        self.moment: Moment | None = None
        self._value = False
        for alternative in alternatives(second):
            following = Following(growing, alternative)
            rising = following.ground.rising()
            rising.settle()
            self._goals.append((following, rising))
        self._look(None)
        if self._meanwhile is None or not self._meanwhile.holds_at_first:
            self._decide(self._value, None, None)

    def take(self, step: Step) -> None:
        if self.moment is not None:
            return
        if self._meanwhile is not None:
            self._meanwhile.take(step)
        places = [line.place for line in step]
        for line in step:
            if len(places) > 1:
                self._partners[line.place] = places
            for need in line.needs:
                if need not in places:
                    self._needed_by.setdefault(need, []).append(line.place)
        for following, _ in self._goals:
            following.take(step)
            following.ground.woken.clear()
        self._look(step)

    def _look(self, step: Step | None) -> None:
        """Alternatives whose least cut is known are decided."""
        for goal in [goal for goal in self._goals if goal[1].is_settled]:
            self._goals.remove(goal)
            cut = goal[1].now
            if self._is_reached(cut):
                self._decide(True, dict(zip(self._growing.processes, cut, strict=False)), step)
                return
        if not self._goals:
            self._decide(False, None, step)

    def _decide(self, value: bool, cut: dict[str, int] | None, step: Step | None) -> None:
        if self.moment is None:
            self._value = value
            self.moment = Moment(cut, step[-1].name if step else None, self._growing.taken)
            self._goals.clear()
            self._needed_by.clear()
            self._partners.clear()

    def _is_reached(self, cut: Sequence[int]) -> bool:
        if not any(cut):
            return True
        if self._meanwhile is None:
            return False
        for process, position in enumerate(cut):
            before = list(cut)
            if (
                position
                and self._without((process, position), before)
                and self._meanwhile.holds_below(before)
            ):
                return True
        return False

    def _without(self, place: Place, cut: list[int]) -> bool:
        """Take the step of this event out of the cut; whether no other event of the cut needs it."""
        lines = self._partners.get(place, [place])
        if any(cut[process] != position for process, position in lines):
            return False
        for process, _ in lines:
            cut[process] -= 1
        needing = (other for line in lines for other in self._needed_by.get(line, ()))
        return all(cut[process] < position for process, position in needing)

    @property
    def standing(self) -> Standing:
        return Standing(self._value, self.moment is not None, self.moment)

    @property
    def size(self) -> int:
        goals = sum(following.ground.size for following, _ in self._goals)
        return goals + len(self._needed_by) + len(self._partners)

    @property
    def faults(self) -> tuple[str, ...]:
        found = [] if self._meanwhile is None else self._meanwhile.faults
        return tuple(dict.fromkeys([*found, *(fault for goal, _ in self._goals for fault in goal.faults)]))


# ---- AF of a conjunction ----------------------------------------------------------------------------


class Clocks:
    """Vector clocks of the events so far; events that learn nothing new share one."""

    def __init__(self) -> None:
        self._known: list[list[tuple[int, ...]]] = []
        """By process and position; the own entry is not kept."""

    def take(self, step: Step) -> None:
        for line in step:
            while len(self._known) <= max([line.process, *(process for process, _ in line.needs)]):
                self._known.append([])
        places = {line.place for line in step}
        own = {line.process: line.position for line in step}
        sources = {(line.process, line.position - 1) for line in step if line.position > 1}
        sources |= {need for line in step for need in line.needs if need not in places}
        if len(step) == 1 and not step[0].needs:
            before = self._known[step[0].process]
            before.append(before[-1] if before else ())
            return
        found = [0] * len(self._known)
        for process, position in sources:
            for other, count in enumerate(self._known[process][position - 1]):
                found[other] = max(found[other], count)
            found[process] = max(found[process], position)
        for process, position in own.items():
            found[process] = position
        for process in own:
            self._known[process].append(tuple(found))

    @property
    def size(self) -> int:
        return sum(map(len, self._known))

    def counts(self, place: Place) -> tuple[int, ...]:
        """How many events of each process the least cut with that event has; position 0 is before all."""
        process, position = place
        known = self._known[process][position - 1] if position else ()
        found = [*known, *[0] * (process + 1 - len(known))]
        found[process] = position
        return tuple(found)

    def knows(self, place: Place, other: Place) -> bool:
        """Whether the event at `place` has the other one, of another process, in its past or its step."""
        known = self._known[place[0]][place[1] - 1]
        return other[0] < len(known) and known[other[0]] >= other[1]


@dataclass(slots=True)
class _Interval:
    lo: int
    """The position that begins it; 0: before all events."""
    hi: int | None = None
    """The position that ends it; None: it has not ended."""
    with_hi: frozenset[Place] = frozenset()
    """The lines of the step that ends it."""


def is_conjunction_of_locals(found: Sequence[Alternative]) -> bool:
    """Whether the alternatives are at most one, which reads processes only."""
    return len(found) < 2 and all(isinstance(term, LocalTerm) for part in found for term in part)


class Definitely(ByStep):
    """AF(p) of a conjunction of predicates on one process each."""

    def __init__(self, growing: Growing, predicate: Node) -> None:
        found = alternatives(predicate)
        assert is_conjunction_of_locals(found), "others are refused before"
        self._growing = growing
        self._is_void = not found
        self._clocks = Clocks()
        self._truths: dict[int, LocalTruth] = {}
        self._queues: dict[int, deque[_Interval]] = {}
        self._lengths: dict[int, int] = {}
        self.moment: Moment | None = None
        self._bind(found[0] if found else ())
        self._look(None)

    def _bind(self, alternative: Alternative) -> None:
        nodes: dict[str, list[Node]] = {}
        for term in alternative:
            assert isinstance(term, LocalTerm)
            nodes.setdefault(term.process, []).append(term.node)
        for process, parts in nodes.items():
            number = self._growing.number(process)
            truth = LocalTruth(self._growing, process, And(tuple(parts)) if len(parts) > 1 else parts[0])
            self._truths[number] = truth
            self._queues[number] = deque([_Interval(0)] if truth.now else [])

    def take(self, step: Step) -> None:
        if self.moment is not None:
            return
        self._clocks.take(step)
        places = frozenset(line.place for line in step)
        for line in step:
            self._lengths[line.process] = line.position
            truth = self._truths.get(line.process)
            if truth is None:
                continue
            before, now = truth.now, truth.after(line)
            queue = self._queues[line.process]
            if now and not before:
                queue.append(_Interval(line.position))
            elif before and not now and queue and queue[-1].hi is None:
                queue[-1].hi, queue[-1].with_hi = line.position, places
        self._look(step)

    def _look(self, step: Step | None) -> None:
        """Drop what can be over before another begins; final if nothing rests on an interval's future."""
        while any(self._drop(one, other) for one in self._queues for other in self._queues):
            pass  # each round drops one, so all together cost what there is to drop
        if self._value and all(self._is_certain(one, two) for one in self._queues for two in self._queues):
            self.moment = Moment(None, step[-1].name if step else None, self._growing.taken)

    def _drop(self, one: int, other: int) -> bool:
        """Whether the first interval of `other` was dropped, as it can end before that of `one` begins."""
        if one == other or not self._queues[one] or not self._queues[other]:
            return False
        begins, ends = self._queues[one][0], self._queues[other][0]
        if not begins.lo or ends.hi is None:
            return False
        lo = one, begins.lo
        if lo not in ends.with_hi and self._clocks.knows((other, ends.hi), lo):
            return False
        self._queues[other].popleft()
        return True

    def _is_certain(self, one: int, other: int) -> bool:
        """Whether the first interval of `one` has begun before that of `other` ends, whenever it does."""
        begins, ends = self._queues[one][0], self._queues[other][0]
        if one == other or not begins.lo or ends.hi is not None:
            return True
        length = self._lengths.get(other, 0)
        return bool(length) and self._clocks.knows((other, length), (one, begins.lo))

    @property
    def size(self) -> int:
        return self._clocks.size + sum(map(len, self._queues.values()))

    @property
    def _value(self) -> bool:
        return not self._is_void and all(self._queues.values())

    @property
    def standing(self) -> Standing:
        return Standing(self._value, self.moment is not None, self.moment)

    @property
    def faults(self) -> tuple[str, ...]:
        predicates = [truth.predicate for truth in self._truths.values()]
        return tuple(dict.fromkeys(fault for predicate in predicates for fault in predicate.faults))
