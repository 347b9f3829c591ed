"""Operators over predicates of a known class, by evaluating the predicate at few cuts.

Here belongs what follows from a class alone, whatever the predicate reads, derived or declared:

    stable                  EF, AF at the final cut; AG, EG at the initial one        (thesis, section 6.7)
    co-stable               the other way round
    observer-independent    EF, AF on the observed order, or any other one order
    linear                  EG backward, one satisfying predecessor after another     (Algo 6.4)
                            AG at the final and the meet-irreducible cuts             (Algo 6.5)
    post-linear             EG forward, AG at the initial and the join-irreducible cuts

A declaration is relied on, and the answer says so (`assumed`). A predicate that slices can express never
comes here. Observer independence is used at the initial cut only. Paths are not always the shortest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from possibly.detection.finding import ALWAYS, ENDS_FALSE, ENDS_TRUE, NEVER, Finding, Path, Shows
from possibly.detection.limits import Budget
from possibly.detection.slices.extension import extension
from possibly.logic.bind import Declaration
from possibly.logic.predicates.classes import Classification, classify
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import Node, Not, Temporal
from possibly.order.computation import Cut
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import CutPredicates, Holds
from possibly.records import replace

Declared = Mapping[Node, Declaration]


class Oracle:
    """Answers EF, AF, EG and AG of one state predicate from its classes."""

    def __init__(
        self, lattice: Lattice, predicates: CutPredicates, budget: Budget, declared: Declared
    ) -> None:
        self.lattice = lattice
        self.predicates = predicates
        self.budget = budget
        self.declared = declared

    def decide(self, formula: Node) -> Finding | None:
        match formula:
            case Not(operand):
                found = self.decide(operand)
                return None if found is None else replace(found, value=not found.value)
            case Temporal("EF" | "AF" | "EG" | "AG" as operator, (operand,)) if is_state(operand):
                found = self._decide(operator, operand, classify(operand, self.declared))
                if found is not None:
                    return found
                return self._dual(operator, operand)
        return None

    def _dual(self, operator: str, operand: Node) -> Finding | None:
        """EF p is !AG !p, and so on: the negation may be of a class that p is not of."""
        opposite = {"EF": "AG", "AG": "EF", "EG": "AF", "AF": "EG"}[operator]
        negation = Not(operand)
        found = self._decide(opposite, negation, classify(negation, self.declared))
        if found is None:
            return None
        shows = None if found.path is None else self._shows(operator, operand)
        return replace(found, value=not found.value, shows=shows)

    def _decide(self, operator: str, operand: Node, its: Classification) -> Finding | None:
        names = (name for name in ORDER if name in its.classes and (name, operator) in RULES)
        name = next(names, None)
        if name is None:
            return None
        path = RULES[name, operator](self, self._counted(self.predicates(operand)))
        exists = operator[0] == "E"
        if path is None:
            return Finding(not exists, assumed=its.assumed)
        return Finding(exists, path, self._shows(operator, operand), assumed=its.assumed)

    def _shows(self, operator: str, operand: Node) -> Shows:
        how = {"EF": ENDS_TRUE, "AG": ENDS_FALSE, "EG": ALWAYS, "AF": NEVER}[operator]
        return Shows(how, operand, to_the_end=operator in ("EG", "AF"))

    def _counted(self, holds: Holds) -> Holds:
        def counted(cut: int) -> bool:
            self.budget.visit()
            return holds(cut)

        return counted

    # ---- one rule each: the path that shows it, or None --------------------------------------------

    def whole(self) -> Path:
        return self._to(self.lattice.computation.final)

    def _to(self, cut: Cut) -> Path:
        path = extension(self.lattice, self.lattice.computation.initial, cut, look=self.budget.look)
        assert path is not None, "the order of a computation has no cycle"
        return path

    def at_final(self, holds: Holds, wanted: bool, entire: bool) -> Path | None:
        """An observation, or the way to the final cut, if the predicate has that value there."""
        return self.whole() if holds(self.lattice.final) == wanted else None

    def at_initial(self, holds: Holds, wanted: bool, entire: bool) -> Path | None:
        if holds(self.lattice.initial) != wanted:
            return None
        return self.whole() if entire else ()

    def on_observed(self, holds: Holds) -> Path | None:
        """The way along the observed order to the first cut where it is true."""
        path: list[Move] = []
        cut = self.lattice.initial
        for step in self.lattice.computation.steps:
            if holds(cut):
                return tuple(path)
            move = self.lattice.move_of(step)
            path.append(move)
            cut += move.delta
        return tuple(path) if holds(cut) else None

    def never_observed(self, holds: Holds) -> Path | None:
        if self.on_observed(holds) is not None:
            return None
        return tuple(map(self.lattice.move_of, self.lattice.computation.steps))

    def backward(self, holds: Holds) -> Path | None:
        """From the final cut back, to any predecessor that satisfies it (Algo 6.4)."""
        cut, path = self.lattice.final, []
        if not holds(cut):
            return None
        while cut != self.lattice.initial:
            steps = ((move, before) for move, before in self.lattice.predecessors(cut) if holds(before))
            found = next(steps, None)
            if found is None:
                return None
            move, cut = found
            path.append(move)
        return tuple(reversed(path))

    def forward(self, holds: Holds) -> Path | None:
        cut = self.lattice.initial
        path: list[Move] = []
        if not holds(cut):
            return None
        while cut != self.lattice.final:
            move = next((m for m in self.lattice.moves(cut) if holds(cut + m.delta)), None)
            if move is None:
                return None
            cut += move.delta
            path.append(move)
        return tuple(path)

    def failing(self, holds: Holds, cuts: Iterable[Cut]) -> Path | None:
        """The shortest way to one of the cuts where it fails (Algo 6.5)."""
        broken = [cut for cut in cuts if not holds(self.lattice.pack(cut))]
        return self._to(min(broken, key=sum)) if broken else None

    def meets(self) -> Iterator[Cut]:
        yield self.lattice.computation.final
        yield from (cut for _, cut in self.lattice.computation.meet_irreducible())

    def joins(self) -> Iterator[Cut]:
        yield self.lattice.computation.initial
        yield from (cut for _, cut in self.lattice.computation.join_irreducible())


ORDER = ("stable", "co-stable", "observer-independent", "linear", "post-linear")
"""Which class is used first where several have a rule."""

Rule = Callable[[Oracle, Holds], Path | None]

RULES: Mapping[tuple[str, str], Rule] = {
    ("stable", "EF"): lambda o, holds: o.at_final(holds, True, False),
    ("stable", "AF"): lambda o, holds: o.at_final(holds, False, True),
    ("stable", "EG"): lambda o, holds: o.at_initial(holds, True, True),
    ("stable", "AG"): lambda o, holds: o.at_initial(holds, False, False),
    ("co-stable", "EF"): lambda o, holds: o.at_initial(holds, True, False),
    ("co-stable", "AF"): lambda o, holds: o.at_initial(holds, False, True),
    ("co-stable", "EG"): lambda o, holds: o.at_final(holds, True, True),
    ("co-stable", "AG"): lambda o, holds: o.at_final(holds, False, False),
    ("observer-independent", "EF"): lambda o, holds: o.on_observed(holds),
    ("observer-independent", "AF"): lambda o, holds: o.never_observed(holds),
    ("linear", "EG"): lambda o, holds: o.backward(holds),
    ("linear", "AG"): lambda o, holds: o.failing(holds, o.meets()),
    ("post-linear", "EG"): lambda o, holds: o.forward(holds),
    ("post-linear", "AG"): lambda o, holds: o.failing(holds, o.joins()),
}
"""For each class and operator the path that shows EF and EG, or refutes AG and AF; None if there is none."""
