"""Pairs of tasks under which a formula cannot fail, found for all pairs in one go.

Here belongs what the compiled sieve is handed and tells. A formula about two of a hundred tasks has 9,900
assignments; where it holds, each of them has to be looked at, and there is nothing to see in nearly all. The
sieve (`_passing.c`) looks at the cells that `fibers` looks at, and lets a pair through where it cannot be
sure. Where it was not built every pair is let through: it changes no answer.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from types import ModuleType

from possibly.compiled import built
from possibly.detection.tasks.cells import Stretch
from possibly.detection.tasks.local import UNSATISFIED
from possibly.detection.tasks.parts import ONLY, Term, both, goals_and_bad, value
from possibly.logic.syntax import Node, Temporal
from possibly.logic.tasks.formulas import Says
from possibly.order.knowledge import Knowledge
from possibly.records import dataclass

WORTH = 20
"""Pairs from which on it is worth the while."""
MOST_SAYS = 8
MOST_TERMS = 64
OPERATORS = {"next": 0, "sometime": 1, "always": 1, "until": 2, "before": 2}

TableOf = Callable[[Node, int], bytes]
Pair = tuple[int, int]
Places = Mapping[str, int]


def sieve_for(body: Node, timed: Temporal, says: Sequence[Says], table: TableOf) -> Sieve | None:
    """None: it was not built, or the formula says too much."""
    kernel = built("possibly.detection.tasks._passing")
    if kernel is None or len(set(says)) > MOST_SAYS:
        return None
    found = Sieve(kernel, body, timed, tuple(dict.fromkeys(says)), table)
    return found if max(map(len, goals_and_bad(timed))) <= MOST_TERMS else None


@dataclass(frozen=True, slots=True)
class Sieve:
    """A formula with one temporal operator and two task variables, on a run without joint events."""

    kernel: ModuleType
    body: Node
    timed: Temporal
    says: tuple[Says, ...]
    table: TableOf

    def may_fail(
        self,
        knowledge: Knowledge,
        pairs: Sequence[Pair],
        stretched: Sequence[Mapping[int, Sequence[Stretch]]],
        look: Callable[[], None],
    ) -> bytes:
        """A byte a pair, 0 if the formula cannot fail; `stretched`: by place and task, where it may."""
        tasks = range(len(knowledge.lengths))
        places = {name: place for place, name in enumerate(dict.fromkeys(each.tvar for each in self.says))}
        goals, bad = goals_and_bad(self.timed)
        positions, rows, width = knowledge.packed()
        bounds = [
            [array("i", [pick(each) for each in found.get(task, ())]).tobytes() for task in tasks]
            for found in stretched
            for pick in (_first, _last)
        ]
        same = [one == two for one, two in pairs]  # one task for both: there is no pair to look at
        others = array("i", [task for pair in pairs if pair[0] != pair[1] for task in pair])
        found = iter(
            self.kernel.may_fail(
                array("i", knowledge.lengths),
                positions,
                rows,
                width,
                [
                    (places[each.tvar], [self.table(each.formula, task) for task in tasks])
                    for each in self.says
                ],
                self._failures(),
                OPERATORS[self.timed.operator],
                self._tables(goals, places, tasks),
                self._tables(bad, places, tasks),
                *bounds,
                others,
                look,
            )
        )
        return bytes(1 if is_one else next(found) for is_one in same)

    def _failures(self) -> bytes:
        """For each combination of what is said, the first changing fastest: does it fail without, with."""
        found = bytearray()
        for values in product(range(3), repeat=len(self.says)):
            said = dict(zip(self.says, reversed(values), strict=True))
            for is_true in (False, True):
                truth = value(self.body, said.__getitem__, {id(self.timed): is_true})
                found.append(truth == UNSATISFIED)
        return bytes(found)

    def _tables(
        self, terms: Iterable[Term], places: Places, tasks: Iterable[int]
    ) -> list[tuple[list[bytes] | None, list[bytes] | None]]:
        """By term and place a table for each task; None: all is allowed."""
        return [
            (self._allowed(term, 0, places, tasks), self._allowed(term, 1, places, tasks)) for term in terms
        ]

    def _allowed(self, term: Term, place: int, places: Places, tasks: Iterable[int]) -> list[bytes] | None:
        mine = [(says, wanted) for says, wanted in term.items() if places[says.tvar] == place]
        if not mine:
            return None
        found = []
        for task in tasks:
            tables = [self.table(says.formula, task).translate(ONLY[wanted]) for says, wanted in mine]
            table = tables[0]
            for other in tables[1:]:
                table = both(table, other)
            found.append(table)
        return found


def _first(stretch: Stretch) -> int:
    return stretch.first


def _last(stretch: Stretch) -> int:
    return stretch.last
