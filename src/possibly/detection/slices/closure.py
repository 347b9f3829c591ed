"""The slice of any predicate: the smallest sublattice that contains its cuts.

Here belongs the way from cuts, or from lean slices, to one slice. Four ways, the first that applies:

1. The predicate is a union of lean slices (`slicing`): their disjunction is exact.
2. The lattice has at most `FEW_CUTS` cuts; the formula may be any, AF, AX and until among them. The least cut
   of the sublattice that contains an event is the meet of all satisfying cuts that contain it (thesis,
   theorem 4.5), found by visiting them all.
3. Its atoms take few values, so that it is a union of lean slices after all (`by_values`); or there are few
   cuts of what it reads (`by_projection`); or the predicate has a class for which EF can be tested between
   two cuts (`by_test`). Exact on long runs too.
4. Otherwise an approximate slice (`wider`): it contains every satisfying cut, and perhaps more than needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.slices.by_projection import slice_by_projection
from possibly.detection.slices.by_test import slice_by_test
from possibly.detection.slices.by_values import ByValues
from possibly.detection.slices.containing import wider_slice
from possibly.detection.slices.slicing import Alternatives, Slicing
from possibly.logic.syntax import Node
from possibly.order.computation import Computation, Cut, join, meet
from possibly.order.slice import Edge, Slice, conjunction, disjunction, nothing
from possibly.records import replace

FEW_CUTS = 20_000
"""Cuts up to which all are visited, to slice or to see whether a slice is lean."""


def slice_of(slicing: Slicing, formula: Node) -> Slice:
    """The slice of a formula, exact if that can be had."""
    return sliced(slicing, formula)[0]


def sliced(slicing: Slicing, formula: Node) -> tuple[Slice, str]:
    """The slice of a formula, and which way it was made."""
    parts = slicing.alternatives(formula)
    if parts is not None:
        return _united(slicing, parts), f"the union of {_counted(parts)}"
    visited = _by_visiting(slicing, formula)
    if visited is not None:
        return visited, f"from its cuts, all visited: the run has at most {FEW_CUTS:,}"
    parts = ByValues(slicing.lattice, slicing.predicates).alternatives(formula)
    if parts is not None:
        return _united(slicing, parts), f"the union of {_counted(parts)}, one for each combination of values"
    projected = slice_by_projection(slicing, formula)
    if projected is not None:
        way = "from the cuts of what it reads, all visited: there are few"
        return _with_lean(*projected), way
    tested = slice_by_test(slicing, formula)
    if tested is not None:
        return tested, "from tests whether it holds anywhere between two cuts, as its class allows"
    return wider_slice(
        slicing, formula
    ), "from those of its parts that have slices: perhaps wider than needed"


def _counted(parts: Alternatives) -> str:
    return "one slice" if len(parts) == 1 else f"{len(parts)} slices"


def joined_slices(parts: Sequence[Slice], word: str) -> Slice:
    """The smallest slice for all (`and`) or any (`or`) of the predicates of these slices, by edges alone.

    Of conjunctions it is exact if the slices are lean, of disjunctions if they are exact themselves.
    """
    if word == "and":
        is_lean = all(part.lean is True for part in parts)
        return replace(conjunction(parts), lean=True if is_lean else None, exact=is_lean)
    kept = [part for part in parts if not part.is_empty]
    if len(kept) < 2:
        return kept[0] if kept else parts[0]
    return replace(disjunction(kept), lean=None, exact=all(part.exact for part in kept))


def _united(slicing: Slicing, alternatives: Alternatives) -> Slice:
    parts = [part for part in alternatives if not part.is_empty]
    if len(parts) < 2:
        return parts[0] if parts else nothing(slicing.computation)
    return _with_lean(disjunction(parts), lambda cut: any(part.contains(cut) for part in parts))


def _with_lean(found: Slice, satisfies: Callable[[Cut], bool]) -> Slice:
    """One cut that does not satisfy the formula tells; that there is none, only a look at all of them."""
    seen = 0
    for cut in islice(found.cuts(), FEW_CUTS + 1):
        if not satisfies(cut):
            return replace(found, lean=False)
        seen += 1
    return found if seen > FEW_CUTS else replace(found, lean=True)


def _by_visiting(slicing: Slicing, formula: Node) -> Slice | None:
    lattice = slicing.lattice
    cuts = list(islice(lattice.depth_first(), FEW_CUTS + 1))
    if len(cuts) > FEW_CUTS:
        return None
    plain = Exhaustive(lattice, slicing.predicates, Budget())
    satisfying = {lattice.unpack(cut) for cut in cuts if plain.at(formula, cut)}
    if not satisfying:
        return nothing(slicing.computation)
    return _with_lean(sublattice(slicing.computation, satisfying), satisfying.__contains__)


def sublattice(computation: Computation, cuts: Iterable[Cut]) -> Slice:
    """The smallest slice that contains these cuts, of which there is at least one."""
    found = list(cuts)
    low, high = found[0], found[0]
    for cut in found[1:]:
        low, high = meet(low, cut), join(high, cut)
    edges = tuple(_edges(computation, found, low, high))
    return Slice(computation, low, high, edges=edges, lean=None)


def _edges(computation: Computation, cuts: list[Cut], low: Cut, high: Cut) -> Iterator[Edge]:
    """For each event the least cut that contains it, told as edges where it grows beyond the trace's own."""
    for process in range(len(low)):
        least: dict[int, Cut] = {}
        for cut in cuts:
            count = cut[process]
            least[count] = meet(least[count], cut) if count in least else cut
        following: Cut | None = None
        for count in range(high[process], low[process], -1):
            here = least.get(count)
            following = here if following is None else following if here is None else meet(here, following)
            least[count] = following or low
        before = low
        for count in range(low[process] + 1, high[process] + 1):
            own = computation.clock(computation.at(process, count))
            for other, number in enumerate(least[count]):
                if number > max(before[other], own[other]):
                    yield (other, number), (process, count)
            before = least[count]
