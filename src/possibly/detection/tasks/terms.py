"""Sets of slices as unions of conjunctions, for the task logic: no lattice at all.

Here belongs the algebra for large runs. A *term* allows each task a set of counts (a table with a byte a
count; tasks that are not in it are free) and stands for the slices with allowed counts: a conjunctive
predicate. Its slices are closed under meet and join, so it has a least and a greatest one, found by raising
or lowering counts until the slice is consistent and allowed: linear in the events passed. What lies strictly
before a term is what lies strictly below its greatest slice, again a union of terms. So formulas without
`until` and `before` are decided in polynomial time for each term; a set that needs too many terms is refused
(`NotCoveredError`), and so are `until` and `before`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from possibly.detection.limits import Budget
from possibly.detection.tasks.cuts import NotCoveredError
from possibly.order.computation import Computation, Cut
from possibly.order.knowledge import Knowledge

MOST_TERMS = 2_000
MOST_BYTES = 200_000_000
"""Size of all tables of one operation."""

Term = Mapping[int, bytes]
Terms = tuple[Term, ...]


class TermSets:
    """The algebra of unions of conjunctive terms over one computation."""

    def __init__(self, computation: Computation, budget: Budget) -> None:
        self.computation = computation
        self.budget = budget
        self._inverse = bytes((1, 0, *range(2, 256)))

    def everything(self) -> Terms:
        return ({},)

    def nothing(self) -> Terms:
        return ()

    def local(self, task: int, table: bytes) -> Terms:
        if 0 not in table:
            return self.everything()
        return ({task: table},) if 1 in table else ()

    def both(self, first: Terms, second: Terms) -> Terms:
        if len(first) * len(second) > MOST_TERMS:
            raise NotCoveredError
        self.budget.look()
        found = (joined(one, two) for one in first for two in second)
        return tuple(term for term in found if self.is_possible(term))

    def either(self, first: Terms, second: Terms) -> Terms:
        if {} in first or {} in second:
            return self.everything()
        return self._limited((*first, *(term for term in second if term not in first)))

    def outside(self, cuts: Terms) -> Terms:
        found = self.everything()
        for term in cuts:
            ways = ({task: table.translate(self._inverse)} for task, table in term.items())
            found = self.both(found, tuple(way for way in ways if 1 in next(iter(way.values()))))
        return found

    def is_empty(self, cuts: Terms) -> bool:
        return not cuts

    def undisturbed(self, goal: Terms, bad: Terms, within: Terms | None) -> Terms:
        raise NotCoveredError

    def _limited(self, terms: Terms) -> Terms:
        if len(terms) > MOST_TERMS:
            raise NotCoveredError
        return terms

    # ---- time ---------------------------------------------------------------------------------------

    def some_next(self, cuts: Terms) -> Terms:
        """One term for each step that leads into the set: its tasks stand just before it."""
        if len(cuts) * len(self.computation) > MOST_TERMS:
            raise NotCoveredError
        self.budget.look()
        found = (self._just_before(term, step) for term in cuts for step in self.computation.steps)
        return tuple(term for term in found if term is not None and self.is_possible(term))

    def _just_before(self, term: Term, step: int) -> Term | None:
        computation = self.computation
        lines = computation.events(step)
        needs: dict[int, int] = {}
        tables = dict(term)
        for event in lines:
            for other in computation.predecessors(event):
                task, count = computation.place(other)
                needs[task] = max(count, needs.get(task, 0))
        for event in lines:
            task, count = computation.place(event)
            if task in term and not term[task][count]:
                return None
            tables[task] = _between(computation.lengths[task], count - 1, count - 1)
            needs.pop(task, None)
        for task, count in needs.items():
            length = computation.lengths[task]
            tables[task] = _joined_table(tables.get(task), _between(length, count, length))
        return tables

    def before(self, cuts: Terms) -> Terms:
        found: list[Term] = []
        for top in self._tops(cuts):
            below = {
                task: _between(length, 0, count)
                for task, (count, length) in self._counts(top)
                if count < length
            }
            for task, (count, length) in self._counts(top):
                if count:
                    found.append({**below, task: _between(length, 0, count - 1)})
            self._check_size(len(found))
        return self._limited(tuple(found))

    def never_before(self, cuts: Terms) -> Terms:
        """For each greatest slice: some task is beyond it, or it is the slice itself."""
        found = self.everything()
        for top in self._tops(cuts):
            ways: list[Term] = [
                {task: _between(length, count + 1, length)}
                for task, (count, length) in self._counts(top)
                if count < length
            ]
            ways.append({task: _between(length, n, n) for task, (n, length) in self._counts(top)})
            self._check_size(2)
            found = self.both(found, tuple(ways))
        return found

    def _check_size(self, terms: int) -> None:
        self.budget.look()
        if terms * len(self.computation.trace) > MOST_BYTES:
            raise NotCoveredError

    def _counts(self, cut: Cut) -> Iterable[tuple[int, tuple[int, int]]]:
        return enumerate(zip(cut, self.computation.lengths, strict=True))

    def _tops(self, cuts: Terms) -> list[Cut]:
        """The greatest slices of the terms, without those below another one."""
        tops = {top for term in cuts if (top := self.greatest(term)) is not None}
        found: list[Cut] = []
        for top in sorted(tops, key=sum, reverse=True):
            if not any(all(a <= b for a, b in zip(top, other, strict=True)) for other in found):
                found.append(top)
        return found

    # ---- bounds -------------------------------------------------------------------------------------

    def is_possible(self, term: Term) -> bool:
        """Whether it has a slice: what its own tasks know of each other decides that."""
        counts = {task: table.find(1) for task, table in term.items()}
        pending = list(counts)
        while pending:
            task = pending.pop()
            if counts[task] < 0:
                return False
            row = self._knowledge.row(task, counts[task])
            for other, count in counts.items():
                if other != task and row[other] > count:
                    counts[other] = term[other].find(1, row[other])
                    if other not in pending:
                        pending.append(other)
        return True

    @cached_property
    def _knowledge(self) -> Knowledge:
        return Knowledge(self.computation, self.budget.look)

    def least(self, term: Term, start: Cut | None = None) -> Cut | None:
        """The least slice of the term, not below `start`; None if it has none."""
        cut: Cut = start or self.computation.initial
        changed = True
        while changed:
            changed = False
            for task, table in term.items():
                count = table.find(1, cut[task])
                if count < 0:
                    return None
                if count > cut[task]:
                    cut = self.computation.closure({task: count}, cut)
                    changed = True
        return cut

    def greatest(self, term: Term) -> Cut | None:
        cut = list(self.computation.final)
        changed = True
        while changed:
            changed = False
            for task, table in term.items():
                count = table.rfind(1, 0, cut[task] + 1)
                if count < 0:
                    return None
                if count < cut[task]:
                    self._lower(cut, task, count)
                    changed = True
        return tuple(cut)

    def _lower(self, cut: list[int], task: int, count: int) -> None:
        """Take out the events of the task beyond the count, and all that need one of them."""
        computation, needed_by = self.computation, self._needed_by
        todo = [(task, count)]
        while todo:
            task, count = todo.pop()
            chain = computation.trace.events_of[task]
            done, cut[task] = cut[task], min(count, cut[task])
            for position in range(count, done):
                for other in needed_by.get(chain[position], ()):
                    there, its_count = computation.place(other)
                    if cut[there] >= its_count:
                        todo.append((there, its_count - 1))

    @cached_property
    def _needed_by(self) -> Mapping[int, list[int]]:
        """For each event the events of other tasks that need it directly."""
        found: dict[int, list[int]] = {}
        for event in range(len(self.computation.trace)):
            for other in self.computation.predecessors(event):
                found.setdefault(other, []).append(event)
        return found


def joined(one: Term, two: Term) -> Term:
    """The conjunction of two terms."""
    if not one or not two:
        return one or two
    return {**one, **{task: _joined_table(one.get(task), table) for task, table in two.items()}}


def _joined_table(one: bytes | None, two: bytes) -> bytes:
    if one is None:
        return two
    both = int.from_bytes(one, "little") & int.from_bytes(two, "little")
    return both.to_bytes(len(two), "little")


def _between(length: int, low: int, high: int) -> bytes:
    """A table of counts 0 to length with the counts from low to high allowed."""
    return bytes(low) + b"\1" * (high - low + 1) + bytes(length - high)


def holds_at(cuts: Terms, cut: Sequence[int]) -> bool:
    """Whether the slice is in the set."""
    return any(all(table[cut[task]] for task, table in term.items()) for term in cuts)
