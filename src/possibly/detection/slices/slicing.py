"""Formulas as slices: every cut that satisfies a formula, as a union of few lean slices.

Here belongs the way from a formula to slices, from the inside out (Sen's thesis, Algo 5.5), and nothing
that visits cuts.

Theory of operation. A formula is turned into *alternatives*: lean slices whose union is exactly its set of
cuts. A predicate on one chain is one slice, a channel within bounds is one, a conjunction is the product of
alternatives and a disjunction their sum. The temporal operators act on lean slices:

    EF(s)      all cuts inside the greatest cut of s                    (Algo 5.1)
    AG(s)      all cuts from one cut on: it contains e for every edge (e, f) that the trace does not imply,
               and lies past the last forbidden state of each process   (Algo 5.2)
    EG(s)      the cuts of s that contain every strongly connected component of more than one step,
               forbidden states included, which are such components     (Algo 5.3)
    EX[j](s)   s with process j shifted by one                          (Algo 5.4)

EF and EX[j] distribute over alternatives, EX is the union of all EX[j]; AG and EG need a single one.
Departures from the thesis: slices are kept sparse (see `order.slice`) instead of as tables of events x
processes; a union is kept as a list instead of being closed to a sublattice, so it stays exact; and the
complement of "all cuts inside G" or "from L on" is a union again, one alternative a process, which gives
nested EF and AG with negation (the logic BTL of Ogale and Garg, "Detecting temporal logic predicates on
distributed computations"). Where a formula has too many alternatives, or a part that is no union of lean
slices, there is no answer here (None) and other engines take over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from possibly.logic.depth import deep
from possibly.logic.predicates.functions import compile_predicate, is_state
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or, Shared, Temporal, Transit
from possibly.logic.walk import children
from possibly.order.bitmaps import Bits
from possibly.order.computation import Computation, Cut
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Edge, Slice, conjunction, nothing, unimplied, whole
from possibly.order.state import Chain, Readings
from possibly.records import replace
from possibly.trace.model import NONE

MOST_ALTERNATIVES = 256

LOOK_EVERY = 1 << 14
"""Messages between two looks at the limits."""
SMALL = 64
"""Nodes of a formula up to which equal ones are sliced once; beyond, each is known by its identity."""

Alternatives = list[Slice]
"""Lean slices whose union is the set of cuts; None in their place: not known."""


class Slicing:
    """Makes and keeps the alternatives of the formulas of one computation."""

    def __init__(
        self, lattice: Lattice, predicates: CutPredicates, look: Callable[[], None] = lambda: None
    ) -> None:
        self.lattice = lattice
        self.look = look
        """Called now and then in long work; raises when a limit is passed."""
        self.computation: Computation = lattice.computation
        self.predicates = predicates
        self.readings: Readings = predicates.readings
        self._known: dict[tuple[Node | int, bool], Alternatives | None] = {}
        self._large: list[Node] = []
        """Those known by their identity, which is theirs as long as they are kept."""

    def alternatives(self, formula: Node, positive: bool = True) -> Alternatives | None:
        """The cuts that satisfy the formula (or, if not positive, its negation)."""
        key = self._key(formula), positive
        if key not in self._known:
            self.look()
            with deep():
                self._known[key] = self._limited(self._make(formula, positive))
        return self._known[key]

    def _key(self, formula: Node) -> Node | int:
        """To hash a large formula takes as long as to slice it again from its parts, which are kept."""
        if _is_small(formula):
            return formula
        if (id(formula), True) not in self._known and (id(formula), False) not in self._known:
            self._large.append(formula)
        return id(formula)

    def _limited(self, found: Alternatives | None) -> Alternatives | None:
        if found is None:
            return None
        kept = [part for part in found if not part.void]
        return kept if len(kept) <= MOST_ALTERNATIVES else None

    def slice_of(self, formula: Node) -> Slice | None:
        """The one lean slice of the formula, if it has one."""
        found = self.alternatives(formula)
        if found is None or len(found) > 1:
            return None
        return found[0] if found else nothing(self.computation)

    def is_on_one_chain(self, node: Node) -> bool:
        """Whether a predicate reads one process, or one shared variable, or nothing."""
        if len(self.predicates.support(node)) < 2:
            return True
        leaves = compile_predicate(node).leaves
        return len(leaves) == 1 and isinstance(leaves[0], Shared)

    # ---- formulas -------------------------------------------------------------------------------

    def _make(self, formula: Node, positive: bool) -> Alternatives | None:
        if isinstance(formula, And if positive else Or):
            local, rest = self._local_parts(formula.operands, positive)
            if len(local) > 1:
                return self._all([self._at(local), *(self.alternatives(part, positive) for part in rest)])
        if is_state(formula):
            atomic = self._atomic(formula, positive)
            if atomic is not None:
                return atomic
        match formula:
            case Not(operand):
                return self.alternatives(operand, not positive)
            case And(operands) | Or(operands):
                parts = [self.alternatives(part, positive) for part in operands]
                return self._all(parts) if isinstance(formula, And) == positive else self._any(parts)
            case Implies(left, right):
                parts = [self.alternatives(left, not positive), self.alternatives(right, positive)]
                return self._any(parts) if positive else self._all(parts)
            case Iff(left, right):
                both = [self.alternatives(left), self.alternatives(right, positive)]
                neither = [self.alternatives(left, False), self.alternatives(right, not positive)]
                return self._any([self._all(both), self._all(neither)])
            case Temporal():
                return self._temporal(formula, positive)
        return None

    def _local_parts(self, parts: Sequence[Node], positive: bool) -> tuple[dict[int, Bits], list[Node]]:
        """The states that the plain comparisons among the conjuncts allow, by process, and the others."""
        allowed: dict[int, Bits] = {}
        rest = []
        for part in parts:
            plain = self.predicates.plain(part)
            if plain is None:
                rest.append(part)
                continue
            process, states = plain
            states = states if positive else states.negated()
            allowed[process] = states.both(allowed[process]) if process in allowed else states
        return allowed, rest

    def _at(self, allowed: dict[int, Bits]) -> Alternatives:
        """The cuts with every process in an allowed state."""
        if not all(states.any() for states in allowed.values()):
            return []
        return [replace(whole(self.computation), allowed=allowed)]

    def _any(self, parts: Sequence[Alternatives | None]) -> Alternatives | None:
        found: Alternatives = []
        for part in parts:
            if part is None:
                return None
            found += part
        return found

    def _all(self, parts: Sequence[Alternatives | None]) -> Alternatives | None:
        if any(part is None for part in parts):
            return None
        # What has but one alternative is combined in one go: a conjunction may have thousands of parts.
        single = [part[0] for part in parts if part is not None and len(part) == 1]
        found: Alternatives = [conjunction([whole(self.computation), *single])]
        for part in parts:
            if part is None or len(found) * len(part) > MOST_ALTERNATIVES:
                return None
            if len(part) != 1:
                found = [conjunction([first, second]) for first in found for second in part]
        return found

    def _temporal(self, formula: Temporal, positive: bool) -> Alternatives | None:
        operator, operand = formula.operator, formula.operands[0]
        match operator, positive:
            case ("EF", True) | ("AG", False):
                return self.possible(self.alternatives(operand, positive))
            case ("AG", True) | ("EF", False):
                return self._invariant(self.alternatives(operand, positive), operand, not positive)
            case ("EG", True) | ("AF", False):
                return self.controllable(self.alternatives(operand, positive))
            case ("EG", False) | ("AF", True):
                return self._complement(self.controllable(self.alternatives(operand, not positive)))
            case ("EX", True) | ("AX", False):
                return self._next(self.alternatives(operand, positive), formula.process)
        return None

    # ---- operators on slices --------------------------------------------------------------------

    def possible(self, parts: Alternatives | None) -> Alternatives | None:
        if parts is None:
            return None
        tops = {part.greatest for part in parts if part.greatest is not None}
        kept = [top for top in tops if not any(top != other and _is_below(top, other) for other in tops)]
        return [replace(whole(self.computation), high=top) for top in kept]

    def _invariant(self, parts: Alternatives | None, operand: Node, positive: bool) -> Alternatives | None:
        """AG of one slice; else the complement of EF of the opposite."""
        if parts is not None and len(parts) < 2:
            return self.invariant_of(parts)
        return self._complement(self.possible(self.alternatives(operand, positive)))

    def invariant_of(self, parts: Alternatives) -> Alternatives:
        """AG of a single slice: empty, or everything from one cut on."""
        if not parts or not parts[0].contains(self.computation.final):
            return []
        part = parts[0]
        low = list(part.low)
        for process, states in part.allowed.items():
            low[process] = max(low[process], states.rfind(0) + 1)
        beyond = (edge for edge in part.edges if edge[0][1] > low[edge[0][0]])
        for (process, position), _ in unimplied(self.computation, beyond):
            low[process] = max(low[process], position)
        return self._upward(low)

    def _upward(self, low: Sequence[int]) -> Alternatives:
        return [replace(whole(self.computation), low=self.computation.closed(low))]

    def controllable(self, parts: Alternatives | None) -> Alternatives | None:
        if parts is None or len(parts) > 1:
            return None
        if not parts or not parts[0].contains(self.computation.final):
            return []
        part = parts[0]
        low = list(part.low)
        for process, states in part.allowed.items():
            low[process] = max(low[process], states.rfind(0) + 1)
        if not part.edges:
            return self._upward(low)
        from possibly.order.components import last_of_several_steps

        low = list(map(max, low, last_of_several_steps(part)))
        return [replace(part, low=self.computation.closed(low), allowed={})]

    def _next(self, parts: Alternatives | None, process: str | None) -> Alternatives | None:
        if parts is None or self.computation.joint:
            return None
        numbers = self.computation.trace.process_number
        wanted = range(len(self.computation.lengths)) if process is None else [numbers[process]]
        return [shifted for part in parts for j in wanted if (shifted := self.next_of(part, j)) is not None]

    def next_of(self, part: Slice, j: int) -> Slice | None:
        """The cuts where the next event of process j is enabled and leads into the slice."""
        length = self.computation.lengths[j]
        if not length:
            return None
        low, high = list(part.low), list(part.high)
        low[j], high[j] = max(low[j] - 1, 0), min(high[j], length) - 1
        if high[j] < 0:
            return None
        allowed = dict(part.allowed)
        if j in allowed:
            allowed[j] = Bits.of(allowed[j]).shifted()
        edges: list[Edge] = []
        for (i, x), (k, y) in [*part.edges, *self._receives(j)]:
            x, y = x - (i == j), y - (k == j)
            if not y:
                low[i] = max(low[i], x)
            elif x:
                edges.append(((i, x), (k, y)))
        return Slice(self.computation, tuple(low), tuple(high), allowed, tuple(edges))

    def _receives(self, j: int) -> Iterator[Edge]:
        """The trace's own edges into process j: they must hold of the next cut too."""
        for position, end in self.computation.needed.of(j):
            yield end, (j, position)

    def _complement(self, parts: Alternatives | None) -> Alternatives | None:
        """The cuts in none of the slices, each of which is bounded on one side alone."""
        if parts is None or any(part.edges or part.allowed for part in parts):
            return None
        return self._all([list(self._outside(part)) for part in parts])

    def _outside(self, part: Slice) -> Iterator[Slice]:
        everything = whole(self.computation)
        for process, (low, high) in enumerate(zip(part.low, part.high, strict=True)):
            if low > 0:
                lowered = _with(everything.high, process, low - 1)
                yield replace(everything, high=lowered)
            if high < everything.high[process]:
                raised = _with(everything.low, process, high + 1)
                yield replace(everything, low=raised)

    # ---- predicates -----------------------------------------------------------------------------

    def _atomic(self, node: Node, positive: bool) -> Alternatives | None:
        """The alternatives of a predicate on one chain or one channel; None if it is on more."""
        support = self.predicates.support(node)
        if not support:
            return [whole(self.computation)] if self.predicates(node)(0) == positive else []
        if len(support) == 1:
            states = self.predicates.states(node, support[0])
            states = states if positive else states.negated()
            return [replace(whole(self.computation), allowed={support[0]: states})] if states.any() else []
        predicate = compile_predicate(node)
        if len(predicate.leaves) != 1:
            return None
        match predicate.leaves[0]:
            case Shared():
                return self._on_chain(node, positive)
            case Transit(None):
                return self._when_empty(node, positive)
            case Transit():
                return self._on_channel(node, positive)
        return None

    def _on_chain(self, node: Node, positive: bool) -> Alternatives:
        """A shared variable: its writes are a chain, a forbidden state an edge from the next write back."""
        predicate = self.predicates.compiled(node)
        chain = self.readings(predicate.leaves[0])
        assert isinstance(chain, Chain)
        writes = {number: (process, count) for process, counts, numbers in chain.reached
                  for count, number in zip(counts, numbers, strict=True)}  # fmt: skip
        states = [predicate.evaluate([value]) == positive for value in chain.values]
        # Two writes of one step are never seen apart: the state between them does not occur.
        last = len(states) - 1
        low, high = list(self.computation.initial), list(self.computation.final)
        edges: list[Edge] = []
        for state, is_allowed in enumerate(states):
            if is_allowed:
                continue
            here, following = writes.get(state), writes.get(state + 1)
            if here is None and following is None:
                return []
            if here is None:
                process, count = following or (0, 0)
                low[process] = max(low[process], count)
            elif state == last:
                high[here[0]] = min(high[here[0]], here[1] - 1)
            elif following is not None and here != following:
                edges.append((following, here))
        return [Slice(self.computation, tuple(low), tuple(high), edges=tuple(edges))]

    def _on_channel(self, node: Node, positive: bool) -> Alternatives:
        """One channel: each run of numbers of messages for which it is true gives lower and upper edges."""
        predicate = self.predicates.compiled(node)
        leaf = predicate.leaves[0]
        assert isinstance(leaf, Transit)
        sends, receives = self._ends(leaf)
        truths = [predicate.evaluate([count]) == positive for count in range(len(sends) + 1)]
        return [self._between(sends, receives, *run) for run in _runs(truths)]

    def _ends(self, leaf: Transit) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        trace, numbers = self.computation.trace, self.computation.trace.process_number
        rows = zip(trace.delivery_send, trace.delivery_receive, trace.delivery_to, strict=True)
        sends, receives = [], []
        for send, receive, to in rows:
            if trace.process[send] != numbers[leaf.sender] or to != numbers[leaf.receiver]:
                continue
            if leaf.tag is None or trace.text(trace.tag, send) == leaf.tag:
                sends.append(self.computation.place(send))
                receives += [self.computation.place(receive)] if receive != NONE else []
        return sends, sorted(receives)

    def _between(
        self, sends: Sequence[tuple[int, int]], receives: Sequence[tuple[int, int]], least: int, most: int
    ) -> Slice:
        """Send number r + most needs r receives done first; receive r needs r + least sends."""
        low, high = list(self.computation.initial), list(self.computation.final)
        edges: list[Edge] = []
        for number, send in enumerate(sends[most:]):
            if number < len(receives):
                edges.append((receives[number], send))
            else:
                high[send[0]] = min(high[send[0]], send[1] - 1)
        if least:
            first = sends[least - 1]
            low[first[0]] = max(low[first[0]], first[1])
            for number, receive in enumerate(receives, start=1):
                if number + least <= len(sends):
                    edges.append((sends[number + least - 1], receive))
                else:
                    high[receive[0]] = min(high[receive[0]], receive[1] - 1)
        return Slice(self.computation, tuple(low), tuple(high), edges=tuple(edges))

    def _deliveries(self) -> Iterator[tuple[int, int]]:
        """Each send with its receive, or NONE; with a look at the limits now and then."""
        trace = self.computation.trace
        for number, pair in enumerate(zip(trace.delivery_send, trace.delivery_receive, strict=True)):
            if not number % LOOK_EVERY:
                self.look()
            yield pair

    def _when_empty(self, node: Node, positive: bool) -> Alternatives | None:
        """The whole system: regular only as "no message is in transit" (bounds on the total are not)."""
        predicate = self.predicates.compiled(node)
        leaf = predicate.leaves[0]
        assert isinstance(leaf, Transit)
        trace, place = self.computation.trace, self.computation.place
        most = len(trace.delivery_send)
        truths = bytes([predicate.evaluate([count]) == positive for count in range(most + 1)])
        if 1 in truths[1:]:
            return None if 0 in truths else [whole(self.computation)]
        if not truths[0]:
            return []
        high, edges = list(self.computation.final), []
        for send, receive in self._deliveries():
            if leaf.tag is not None and trace.text(trace.tag, send) != leaf.tag:
                continue
            process, position = place(send)
            if receive == NONE:
                high[process] = min(high[process], position - 1)
            else:
                edges.append((place(receive), (process, position)))
        return [replace(whole(self.computation), high=tuple(high), edges=tuple(edges))]


def _is_small(formula: Node) -> bool:
    """Whether it has few nodes; no more are looked at than it takes to know."""
    found = [formula]
    for node in found:
        found.extend(children(node)[:SMALL])
        if len(found) > SMALL:
            return False
    return True


def _runs(truths: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """First and last index of each stretch of truths."""
    start = None
    for index, truth in enumerate([*truths, False]):
        if truth and start is None:
            start = index
        elif not truth and start is not None:
            yield start, index - 1
            start = None


def _is_below(first: Cut, second: Cut) -> bool:
    return all(a <= b for a, b in zip(first, second, strict=True))


def _with(cut: Cut, process: int, count: int) -> Cut:
    return (*cut[:process], count, *cut[process + 1 :])
