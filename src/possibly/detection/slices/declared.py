"""Declared classes, checked where that is cheap: on traces with few cuts.

A user may vouch for the class of a predicate (`let stable dead = ...`); fast engines then rely on it. On a
trace with at most `FEW_CUTS` cuts the definition of the class is executed, and a wrong declaration is an
error that shows the cuts which break it. On larger traces the word of the user stands, and the result
lists it as assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, islice

from possibly.errors import FormulaError
from possibly.logic.bind import Declaration
from possibly.logic.syntax import Node
from possibly.order.computation import Cut, join, meet
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.records import dataclass

FEW_CUTS = 600

Counterexample = str | None


@dataclass(frozen=True, slots=True)
class Sides:
    """The cuts where a predicate holds and those where it does not; negated for the co-classes."""

    lattice: Lattice
    inside: set[Cut]
    outside: set[Cut]
    verb: str = "holds"

    def negated(self) -> Sides:
        return Sides(self.lattice, self.outside, self.inside, "fails" if self.verb == "holds" else "holds")

    def shown(self, cut: Iterable[int]) -> str:
        pairs = zip(self.lattice.computation.processes, cut, strict=True)
        return "{" + ", ".join(f"{process}: {count}" for process, count in pairs) + "}"


Check = Callable[[Sides], Counterexample]
"""How a class is broken, if it is."""


def check_declared(declared: Mapping[Node, Declaration], lattice: Lattice, predicates: CutPredicates) -> None:
    """An error if a declared class is wrong on this trace and the trace is small enough to see it."""
    if not declared:
        return
    cuts = list(islice(lattice.depth_first(), FEW_CUTS + 1))
    if len(cuts) > FEW_CUTS:
        return
    for node, declaration in declared.items():
        holds = predicates(node)
        inside = {lattice.unpack(cut) for cut in cuts if holds(cut)}
        sides = Sides(lattice, inside, {lattice.unpack(cut) for cut in cuts} - inside)
        word = declaration.word
        broken = CHECKS[word.removeprefix("co-")](sides.negated() if word.startswith("co-") else sides)
        if broken is not None:
            raise FormulaError(
                f"let {declaration.let} is declared {declaration.word}, but is not on this trace: {broken}",
                hint="declare another class or none",
            )


def _closed(operation: Callable[[Cut, Cut], Cut], name: str) -> Check:
    def check(sides: Sides) -> Counterexample:
        for first, second in combinations(sorted(sides.inside), 2):
            if operation(first, second) not in sides.inside:
                both = f"{sides.shown(first)} and {sides.shown(second)}"
                return f"it {sides.verb} at {both}, but not at their {name}"
        return None

    return check


def _all_of(*checks: Check) -> Check:
    def check(sides: Sides) -> Counterexample:
        found = (check(sides) for check in checks)
        return next((broken for broken in found if broken is not None), None)

    return check


def _complement(of: Check) -> Check:
    return lambda sides: of(sides.negated())


def _stable(sides: Sides) -> Counterexample:
    for cut in sorted(sides.inside):
        for _, following in sides.lattice.computation.successors(cut):
            if following in sides.outside:
                return f"it {sides.verb} at {sides.shown(cut)}, but no more at {sides.shown(following)}"
    return None


def _observer_independent(sides: Sides) -> Counterexample:
    """Some observation passes a cut with it, and another passes none."""
    if not sides.inside:
        return None
    computation = sides.lattice.computation
    level = {computation.initial} & sides.outside
    for _ in range(len(computation)):
        level = {following for cut in level for _, following in computation.successors(cut)} & sides.outside
    if not level:
        return None
    cut = sides.shown(min(sides.inside))
    return f"an observation passes {cut}, where it {sides.verb}, and another no such cut"


def _anything(sides: Sides) -> Counterexample:
    return None


_LINEAR = _closed(meet, "meet")
_POST_LINEAR = _closed(join, "join")
_REGULAR = _all_of(_LINEAR, _POST_LINEAR)

CHECKS: Mapping[str, Check] = {
    "local": _all_of(_REGULAR, _complement(_REGULAR)),
    "conjunctive": _REGULAR,
    "disjunctive": _complement(_REGULAR),
    "regular": _REGULAR,
    "linear": _LINEAR,
    "post-linear": _POST_LINEAR,
    "stable": _stable,
    "observer-independent": _observer_independent,
    "relational": _anything,
}
"""What is checked for each word; for local, conjunctive and disjunctive what follows from them."""
