"""AG and EF of what one process says of its state and of the next step: `AG(P.try -> EX[P](P.cs))`.

Law. Let the formula read process P alone, and let e be the next event of P after its first s ones. Where P
has executed s events, `EX[P](p)` is true at the cuts in which all that e needs has happened, if p is true in
the state after e, and false at all others. There is a cut of the first kind for every s, the least of them N.
There is one of the second kind iff e needs an event of another process that is not in the past of the s-th
one: then the least cut L with s events of P is such a one. `EX(p)` is true where `EX[P](p)` is, and where p
is true and another process can go on, which it can at every cut with s events of P but the greatest one, G;
and there P can, if it has an event left. `AX(p)` is `!EX(!p)`. So what a state of P and these three cuts say
answers for all cuts, in linear time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from possibly.detection.finding import ENDS_FALSE, ENDS_TRUE, Finding, Shows
from possibly.detection.slices.extension import extension
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Iff, Implies, Literal, Node, Not, Or, Temporal
from possibly.order.changes import Look
from possibly.order.computation import Cut, join
from possibly.order.knowledge import Knowledge
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates

Said = Callable[[Node], bool]


class Steps:
    """Asked about one run, without joint events."""

    def __init__(self, lattice: Lattice, predicates: CutPredicates, look: Look) -> None:
        self.lattice = lattice
        self.computation = lattice.computation
        self.predicates = predicates
        self._look = look

    def decide(self, formula: Node) -> Finding | None:
        """None: it is no such formula."""
        match formula:
            case Temporal("AG" | "EF" as operator, (body,)) if not self.computation.joint:
                process = self._process(list(_parts(body)))
                return None if process is None else self._decided(process, body, operator == "EF")
        return None

    def _process(self, parts: list[Node]) -> int | None:
        """The one process that all parts read, some of them by a step of its own."""
        numbers = self.computation.trace.process_number
        found: set[int] = set()
        has_step = False
        for part in parts:
            match part:
                case Temporal("EX" | "AX", (operand,), process) if is_state(operand):
                    has_step = True
                    found.update(self.predicates.support(operand))
                    if process is not None:
                        found.add(numbers[process])
                case Temporal():
                    return None
                case _ if is_state(part):
                    found.update(self.predicates.support(part))
                case _:
                    return None
        return found.pop() if has_step and len(found) == 1 else None

    def _decided(self, process: int, body: Node, wanted: bool) -> Finding:
        for count in range(self.computation.lengths[process] + 1):
            if not count % 1024:
                self._look()
            cut = self._cut(process, count, body, wanted)
            if cut is not None:
                path = extension(self.lattice, self.computation.initial, cut, look=self._look)
                return Finding(wanted, path, Shows(ENDS_TRUE if wanted else ENDS_FALSE, body))
        return Finding(not wanted)

    def _cut(self, process: int, count: int, body: Node, wanted: bool) -> Cut | None:
        """A cut with so many events of the process at which the body has the truth that decides."""

        def decides(can_move: bool, others_can: bool) -> bool:
            return self._value(body, process, count, can_move, others_can) == wanted

        needed = self._needed(process, count)
        past = self._knowledge.past(process, count)
        if needed is None:
            if decides(can_move=False, others_can=True) and past != self.computation.final:
                return past
            return self.computation.final if decides(can_move=False, others_can=False) else None
        is_waiting = any(more > known for more, known in zip(needed, past, strict=True))
        if is_waiting and decides(can_move=False, others_can=True):
            return past
        if decides(can_move=True, others_can=True):
            least = join(past, needed)
            if decides(can_move=True, others_can=False) or least != self._greatest(process, count):
                return least
        return self._greatest(process, count) if decides(can_move=True, others_can=False) else None

    def _greatest(self, process: int, count: int) -> Cut:
        """The cut with so many events of the process after which nobody else can go on."""
        return tuple(self._knowledge.all_ignorant(process, count))

    def _needed(self, process: int, count: int) -> Cut | None:
        """What the next event needs of the others; None: there is none."""
        if count == self.computation.lengths[process]:
            return None
        needed = list(self._knowledge.past(process, count + 1))
        needed[process] = count
        return tuple(needed)

    @cached_property
    def _knowledge(self) -> Knowledge:
        return Knowledge(self.computation, self._look)

    def _value(self, body: Node, process: int, count: int, can_move: bool, others_can: bool) -> bool:
        def said(part: Node) -> bool:
            if not isinstance(part, Temporal):
                return self._at(part, process, count)
            is_wanted = part.operator == "EX"
            others = part.process is None and others_can
            return is_wanted == (
                (can_move and self._at(part.operands[0], process, count + 1) == is_wanted)
                or (others and self._at(part.operands[0], process, count) == is_wanted)
            )

        return _truth(body, said)

    def _at(self, predicate: Node, process: int, count: int) -> bool:
        if isinstance(predicate, Literal):
            return bool(predicate.value)
        return bool(self.predicates.states(predicate, process)[count])


def _parts(node: Node) -> Iterator[Node]:
    """The largest predicates and temporal formulas that connectives join."""
    match node:
        case Temporal():
            yield node
        case And(operands) | Or(operands) if not is_state(node):
            for each in operands:
                yield from _parts(each)
        case Not(operand) if not is_state(node):
            yield from _parts(operand)
        case Implies(left, right) | Iff(left, right) if not is_state(node):
            yield from _parts(left)
            yield from _parts(right)
        case _:
            yield node


def _truth(node: Node, said: Said) -> bool:
    if is_state(node) or isinstance(node, Temporal):
        return said(node)
    match node:
        case And(operands):
            return all(_truth(each, said) for each in operands)
        case Or(operands):
            return any(_truth(each, said) for each in operands)
        case Not(operand):
            return not _truth(operand, said)
        case Implies(left, right):
            return not _truth(left, said) or _truth(right, said)
        case Iff(left, right):
            return _truth(left, said) == _truth(right, said)
    raise ValueError(f"{type(node).__name__} is no connective")
