"""The polynomial engine: ctl answered from slices, without visiting the lattice.

Here belongs which question about slices answers which operator at the initial cut, and the path that shows
it (Sen's thesis, chapter 6, with the corrections noted at each function):

    EF, AG, EG and any nesting of them    Algo 6.1, on the alternatives of `slicing`
    E[p U q], p conjunctive               Algo 6.3, theorem 6.17; q may be any union of lean slices
    A[p U q], p and q disjunctive         remark 6.20
    AF, p conjunctive                     `intervals`, hence EG of a disjunctive p by duality
    EX, EX[P], AX                         the successors of the initial cut, looked up in the slices

A formula outside these classes gets no answer here (None), never a guess.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

from possibly.detection.finding import ALWAYS, ENDS_FALSE, ENDS_TRUE, NEVER, Finding, Path, Shows
from possibly.detection.slices.slicing import Alternatives, Slicing
from possibly.logic.depth import deep
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.computation import Arcs, Cut, Place
from possibly.order.lattice import Move
from possibly.order.slice import Slice, unimplied
from possibly.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from possibly.detection.slices.together import Meeting

SMALL = 4_000
"""Events times processes up to which the path with the fewest changes is searched for."""


LONG = 50_000
"""Events of a path beyond which it is given in the recorded order, not with few changes of process."""

MOST_MEETINGS = 1000
"""Of more pairs of processes that can meet, the nearest of so many is shown."""


MOST_UNKNOWN = 20
"""Parts of a formula outside the classes of slices after which the others are no longer asked for."""


LONG_WITH_JOINT = 5_000
"""Steps of a run with joint events beyond which clocks in Python cost more than a projection."""


class Sliced:
    """Answers formulas at the initial cut of one computation, or says that it cannot."""

    def __init__(self, slicing: Slicing, leaves_pairs: bool = False) -> None:
        self.slicing = slicing
        self.lattice = slicing.lattice
        self.computation = slicing.computation
        self.leaves_pairs = leaves_pairs
        """Whether pairs of processes are left to the projection where the compiled pass cannot answer."""

    def decide(self, formula: Node) -> Finding | None:
        with deep():
            return self._decide(formula)

    def _decide(self, formula: Node) -> Finding | None:
        if is_state(formula):
            return Finding(self.slicing.predicates(formula)(self.lattice.initial))
        match formula:
            case Not(operand):
                found = self._decide(operand)
                return None if found is None else Finding(not found.value, found.path, found.shows)
            case And(operands):
                return self._first(operands, decides=False)
            case Or(operands):
                return self._first(operands, decides=True)
            case Implies(left, right):
                return self._first((Not(left), right), decides=True)
            case Iff(left, right):
                first, second = self._decide(left), self._decide(right)
                return None if first is None or second is None else Finding(first.value == second.value)
            case Temporal():
                return self._temporal(formula)
        return None

    def _first(self, parts: Sequence[Node], decides: bool) -> Finding | None:
        """A part with the deciding value decides even if others are not known; many such are left at that."""
        unknown = 0
        for part in parts:
            found = self._decide(part)
            if found is not None and found.value == decides:
                return found
            unknown += found is None
            if unknown > MOST_UNKNOWN:
                return None
        return None if unknown else Finding(not decides)

    def _temporal(self, formula: Temporal) -> Finding | None:
        operand = formula.operands[0]
        match formula.operator, operand:
            case "EF", Temporal("EX", (reached,), None):
                return self._after_a_step(reached, True, Shows(ENDS_TRUE, operand))
            case "AG", Temporal("AX", (reached,), None):
                return self._after_a_step(reached, False, Shows(ENDS_FALSE, operand))
        match formula.operator:
            case "EF":
                shows = Shows(ENDS_TRUE, operand)
                found = self._nearest(self.slicing.alternatives(operand), True, shows)
                return found or self._of_pairs(operand, True, shows)
            case "AG":
                shows = Shows(ENDS_FALSE, operand)
                found = self._nearest(self.slicing.alternatives(operand, False), False, shows)
                return found or self._of_pairs(operand, False, shows)
            case "EG":
                return self._observation(operand, True)
            case "AF":
                return self._observation(operand, False)
            case "EU":
                return self._until(*formula.operands)
            case "AU":
                return self._always_until(*formula.operands)
        return self._next(formula)

    # ---- EF and AG ------------------------------------------------------------------------------

    def _nearest(self, parts: Alternatives | None, value: bool, shows: Shows) -> Finding | None:
        """The least cut of one of the slices, the one with the fewest events."""
        if parts is None:
            return None
        cuts = []
        for part in parts:
            self.slicing.look()
            cuts += [part.least] if part.least is not None else []
        if not cuts:
            return Finding(not value)
        return Finding(value, self.path_to(cuts), shows)

    def _after_a_step(self, reached: Node, value: bool, shows: Shows) -> Finding | None:
        """EF(EX p) and AG(AX p): every cut but the initial one is reached by a step, so p decides there."""
        parts = self.slicing.alternatives(reached, value)
        if parts is None:
            return None
        found = self._nearest([each for part in parts for each in self._begun(part)], value, shows)
        return found if found is None or found.path is None else replace(found, path=found.path[:-1])

    def _begun(self, part: Slice) -> Iterator[Slice]:
        """The cuts of a slice without the initial one."""
        if part.least != self.computation.initial:
            yield part
            return
        for process, length in enumerate(self.computation.lengths):
            if length:
                low = list(part.low)
                low[process] = max(low[process], 1)
                yield replace(part, low=self.computation.closed(low))

    def _of_pairs(self, operand: Node, value: bool, shows: Shows) -> Finding | None:
        """Many pairs of processes, such as mutual exclusion among hundreds, are answered all at once."""
        from possibly.detection.slices.together import apart_in, beside, is_in_one_pass, pairs_of, together

        apart = apart_in(self.slicing.predicates, operand, value)
        if apart is not None:
            return self._meeting(beside(self.computation, *apart, self.slicing.look), value, shows)
        pairs = pairs_of(self.slicing.predicates, operand, value)
        if pairs is None:
            return None
        if self.leaves_pairs and not self._is_short and not is_in_one_pass(self.computation):
            return None
        states, wanted = pairs
        found = [
            meeting
            for meeting in together(self.computation, states, self.slicing.look)
            if (meeting.one[0], meeting.other[0]) in wanted
        ]
        return self._meeting(found, value, shows)

    @property
    def _is_short(self) -> bool:
        """Whether clocks in Python, if they are needed for joint events, cost less than a projection."""
        return not self.computation.joint or len(self.computation) <= LONG_WITH_JOINT

    def _meeting(self, found: Sequence[Meeting], value: bool, shows: Shows) -> Finding:
        if not found:
            return Finding(not value)
        return Finding(value, self.path_to([it.cut(self.computation) for it in found[:MOST_MEETINGS]]), shows)

    def path_to(self, cuts: Sequence[Cut]) -> Path:
        """The shortest path to one of the cuts, with the fewest changes if that is quick to find."""
        fewest = min(map(sum, cuts))
        nearest = [cut for cut in cuts if sum(cut) == fewest]
        if self.computation.joint and len(cuts) > 1:
            paths = [self._extended(self.computation.initial, cut) for cut in cuts]
            least = min(map(len, paths))
            nearest = [cut for cut, path in zip(cuts, paths, strict=True) if len(path) == least]
        if fewest * len(cuts[0]) <= SMALL:
            from possibly.detection.witness import free_path

            return free_path(self.lattice, [self.lattice.pack(cut) for cut in nearest])
        return self._extended(self.computation.initial, nearest[0])

    def _extended(self, start: Cut, target: Cut) -> Path:
        if sum(target) - sum(start) > LONG and not self.computation.joint:
            return self._as_recorded(start, target)
        path = self._extension(start, target)
        assert path is not None, "the order of a computation has no cycle"
        return path

    def _extension(self, start: Cut, target: Cut, more: Arcs | None = None) -> Path | None:
        # Searches for paths are imported when there is one to show.
        from possibly.detection.slices.extension import extension

        return extension(self.lattice, start, target, more, self.slicing.look)

    def _as_recorded(self, start: Cut, target: Cut) -> Path:
        """The same in the order of the lines: nobody follows the turns of a path that long."""
        left, skipped = [b - a for a, b in zip(start, target, strict=True)], list(start)
        found, missing = array("i"), sum(left)
        for event, process in enumerate(self.computation.trace.process):
            if skipped[process]:
                skipped[process] -= 1
            elif left[process]:
                left[process] -= 1
                missing -= 1
                found.append(event)
                if not missing:
                    break
        return self.lattice.walk(found)

    # ---- EG and AF ------------------------------------------------------------------------------

    def _observation(self, operand: Node, exists: bool) -> Finding | None:
        """EG p (exists), or AF p as the opposite of EG !p."""
        shows = Shows(ALWAYS if exists else NEVER, operand, to_the_end=True)
        parts = self.slicing.alternatives(operand, exists)
        if parts is not None and len(parts) < 2:
            path = self.observation_in(parts[0]) if parts else None
            return _shown(path, exists, shows)
        return self._definitely(self.slicing.alternatives(operand, not exists), exists, shows)

    def observation_in(self, part: Slice, start: Cut | None = None) -> Path | None:
        """A path from a cut (the initial one) to the final one inside the slice; None if there is none."""
        start = self.computation.initial if start is None else start
        if not part.contains(start) or not part.contains(self.computation.final):
            return None
        if any(states.find(0, start[process]) >= 0 for process, states in part.allowed.items()):
            return None
        path = self._extension(start, self.computation.final, Arcs(len(start), _needs(part)))
        if path is None or start != self.computation.initial:
            return path
        return self._fewest(part) or path

    def _fewest(self, part: Slice) -> Path | None:
        """The same with the fewest changes of process, if that is quick to find."""
        if len(self.computation) * len(self.computation.lengths) > SMALL:
            return None
        unpack = self.lattice.unpack

        def successors(cut: int) -> Iterator[tuple[Move, int]]:
            following = ((move, cut + move.delta) for move in self.lattice.moves(cut))
            return ((move, cut) for move, cut in following if part.contains(unpack(cut)))

        from possibly.detection.witness import constrained_path

        return constrained_path(self.lattice.initial, successors, self.lattice.final.__eq__)

    def _definitely(self, parts: Alternatives | None, exists: bool, shows: Shows) -> Finding | None:
        """AF of a conjunction of local predicates, given by its slice; EG of its negation is the opposite."""
        if parts is None or len(parts) > 1:
            return None
        if parts and (parts[0].edges or parts[0].low != self.computation.initial):
            return None
        if not parts:
            return _shown(self._extended(self.computation.initial, self.computation.final), exists, shows)
        if parts[0].high != self.computation.final:
            return None
        from possibly.detection.slices.intervals import overlap

        found, apart = overlap(self.computation, parts[0].allowed, self.slicing.look)
        if found is not None:
            return Finding(not exists)
        path = self._avoiding(parts[0], apart)
        return None if path is None else Finding(exists, path, shows)

    def _avoiding(self, part: Slice, apart: Iterable[tuple[Place, Place]]) -> Path | None:
        """An observation that passes no cut of the slice, by keeping intervals apart; checked cut by cut."""
        arcs = Arcs(len(self.computation.lengths), ((f, e) for e, f in apart))
        path = self._extension(self.computation.initial, self.computation.final, arcs)
        if path is None:
            return None
        cut = list(self.computation.initial)
        inside = sum(not states[0] for states in part.allowed.values())
        if not inside:
            return None
        for move in path:
            for process in move.processes:
                states = part.allowed.get(process)
                if states is not None:
                    inside += states[cut[process]] - states[cut[process] + 1]
                cut[process] += 1
            if not inside:
                return None
        return path

    # ---- until ----------------------------------------------------------------------------------

    def _until(self, first: Node, second: Node) -> Finding | None:
        goals = self.slicing.alternatives(second)
        meanwhile = self.slicing.slice_of(first)
        if goals is None or meanwhile is None or not self._is_conjunctive(first):
            return None
        paths = [path for goal in goals if (path := self._way(meanwhile, goal)) is not None]
        if not paths:
            return Finding(False)
        return Finding(True, min(paths, key=len), Shows(ENDS_TRUE, second))

    def _is_conjunctive(self, node: Node) -> bool:
        """A conjunction of predicates on one chain each, so that its negation is observer-independent."""
        match node:
            case And(operands):
                return all(map(self._is_conjunctive, operands))
            case Not(Or(operands)):
                return all(self._is_conjunctive(Not(part)) for part in operands)
            case Not(Implies(left, right)):
                return self._is_conjunctive(left) and self._is_conjunctive(Not(right))
            case Not(Not(operand)):
                return self._is_conjunctive(operand)
        return is_state(node) and self.slicing.is_on_one_chain(node)

    def _way(self, meanwhile: Slice, goal: Slice) -> Path | None:
        """A path to the least cut of the goal on which `meanwhile` holds before its end.

        Algo 6.3 with the correction that the last event must be maximal in that cut; if the cut is initial
        the path is empty.
        """
        target = goal.least
        if target is None:
            return None
        if target == self.computation.initial:
            return ()
        for step in self._maximal(target):
            before = list(target)
            for event in self.computation.events(step):
                before[self.computation.trace.process[event]] -= 1
            if self._holds_below(meanwhile, before):
                path = self.path_to([tuple(before)])
                return self.lattice.joined(path, (self.lattice.move_of(step),))
        return None

    def _maximal(self, cut: Cut) -> Iterator[int]:
        """The steps of a cut that no other step of it needs."""
        packed = self.lattice.pack(cut)
        for move, _ in self.lattice.predecessors(packed):
            yield move.step

    def _holds_below(self, part: Slice, cut: Sequence[int]) -> bool:
        """Whether every cut inside this one belongs to the slice of a conjunctive predicate."""
        if part.void or any(part.low):
            return False
        if any(count > high for count, high in zip(cut, part.high, strict=True)):
            return False
        if any(states.find(0, 0, cut[process] + 1) >= 0 for process, states in part.allowed.items()):
            return False
        inside = ((e, f) for e, f in part.edges if cut[f[0]] >= f[1])
        return next(unimplied(self.computation, inside), None) is None

    def _always_until(self, first: Node, second: Node) -> Finding | None:
        """A[p U q] fails iff EG !q, or E[!q U !p & !q]."""
        neither = And((Not(first), Not(second)))
        prefix = self._until(Not(second), neither)
        if prefix is None:
            return None
        if prefix.value:
            return Finding(False, prefix.path, Shows(ENDS_FALSE, Or((first, second))))
        whole = self._observation(Not(second), True)
        if whole is None:
            return None
        return Finding(False, whole.path, Shows(NEVER, second, True)) if whole.value else Finding(True)

    # ---- next -----------------------------------------------------------------------------------

    def _next(self, formula: Temporal) -> Finding | None:
        operand, exists = formula.operands[0], formula.operator == "EX"
        wanted = self.slicing.alternatives(operand, exists)
        unwanted = self.slicing.alternatives(operand, not exists) if wanted is None else None
        if wanted is None and unwanted is None:
            return None
        numbers = self.computation.trace.process_number
        number = None if formula.process is None else numbers[formula.process]
        for move in self.lattice.moves(self.lattice.initial):
            if number is not None and number not in move.processes:
                continue
            cut = self.lattice.unpack(self.lattice.initial + move.delta)
            is_in = any(part.contains(cut) for part in (wanted if wanted is not None else unwanted) or ())
            if is_in == (wanted is not None):
                return Finding(exists, (move,), Shows(ENDS_TRUE if exists else ENDS_FALSE, operand))
        return Finding(not exists)


def _shown(path: Path | None, exists: bool, shows: Shows) -> Finding:
    """EG is shown by an observation, AF refuted by one."""
    return Finding(not exists) if path is None else Finding(exists, path, shows)


def _needs(part: Slice) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    return ((f, e) for e, f in part.edges)
