"""Nets with finitely many runs as expressions: a `+` of their runs, each written out as an order.

Here belongs the way back from nets (see `from_nets`) where places hold several tokens that were there at the
start, or stay to the end, or are taken two at a time. Then an `&` of places does not do: which of several
equal tokens an event takes cannot be said by events that synchronise by their names. A run says it. A run is
an order in which an event follows those that made the tokens it takes (the processes of "Petri Nets", Reisig,
1985, section 5). An order that falls into parts one after the other, or beside each other, is written with
`;` and `&` and distinct events. Any other needs events that synchronise, so their names must occur once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple

from possibly.logic.paths.nets.net import Net, NetTransition
from possibly.logic.paths.syntax import Atom, Choice, Control, Path, Sequence, Together, path_text

MOST_RUNS = 2_000
"""Beginnings of runs that are looked at before there are too many."""


class Token(NamedTuple):
    place: int
    maker: int
    """The event that put it there; -1: it was there at the start."""
    number: int
    """Of those that one event puts there."""


Events = frozenset[int]
Tokens = tuple[Token, ...]


def expression_of_runs(net: Net) -> Path | None:
    """An expression of the runs; None if there are too many, or one that cannot be written."""
    unfolding = Unfolding(net)
    written: dict[str, Path] = {}
    for run in unfolding.runs():
        path = unfolding.written(sorted(run))
        if path is None:
            return None
        written[path_text(path)] = path
    return _joined(Choice, [written[text] for text in sorted(written)]) if written else None


class Unfolding:
    """Everything that can happen; an event is a number, and the tokens it takes say all of its past."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.labels: list[str] = []
        self.past: list[Events] = []
        self._numbers: dict[tuple[str, Tokens], int] = {}

    def event(self, label: str, taken: Tokens) -> int:
        number = self._numbers.setdefault((label, taken), len(self.labels))
        if number == len(self.labels):
            makers = {token.maker for token in taken if token.maker >= 0}
            self.labels.append(label)
            self.past.append(frozenset(makers).union(*[self.past[maker] for maker in makers]))
        return number

    def runs(self) -> list[Events]:
        """The complete runs; none of them if there are too many."""
        initial = enumerate(self.net.initial)
        start = tuple(Token(place, -1, k) for place, tokens in initial for k in range(tokens))
        seen: set[Events] = {frozenset()}
        pending: list[tuple[Events, Tokens]] = [(frozenset(), start)]
        found: list[Events] = []
        while pending:
            events, tokens = pending.pop()
            if len(seen) > MOST_RUNS:
                return []
            if self._is_final(tokens):
                found.append(events)
            for event, left in self._continued(tokens):
                longer = events | {event}
                if longer not in seen:
                    seen.add(longer)
                    pending.append((longer, left))
        return found

    def _is_final(self, tokens: Tokens) -> bool:
        final = self.net.final
        return all(sum(t.place == place for t in tokens) == count for place, count in enumerate(final))

    def _continued(self, tokens: Tokens) -> Iterator[tuple[int, Tokens]]:
        for each in self.net.transitions:
            for taken in _taken(each, tokens):
                event = self.event(each.label or "", taken)
                made = [
                    Token(place, event, each.outputs[:at].count(place))
                    for at, place in enumerate(each.outputs)
                ]
                yield event, (*(token for token in tokens if token not in taken), *made)

    # ---- an order, written ----------------------------------------------------------------------

    def written(self, events: list[int]) -> Path | None:
        """The order among these events; None if it cannot be written, or there are none."""
        names = [self.labels[event] for event in events]
        return self._order(events, {name for name in names if names.count(name) == 1}) if events else None

    def _order(self, events: list[int], single: set[str]) -> Path | None:
        if len(events) == 1:
            return Atom(Control(self.labels[events[0]]), distinct=True)
        beside = _parts(events, self._is_ordered)
        if len(beside) > 1:
            return _joined(Together, [self._order(part, single) for part in beside])
        after = _parts(events, lambda one, two: not self._is_ordered(one, two))
        if len(after) > 1:
            after.sort(key=lambda part: len(self.past[part[0]].intersection(events)))
            return _joined(Sequence, [self._order(part, single) for part in after])
        return self._synchronised(events) if {self.labels[event] for event in events} <= single else None

    def _is_ordered(self, one: int, two: int) -> bool:
        return one in self.past[two] or two in self.past[one]

    def _synchronised(self, events: list[int]) -> Path | None:
        """An `&` of all pairs of which one comes directly after the other."""
        pairs: list[Path | None] = []
        for two in events:
            past = self.past[two].intersection(events)
            direct = [one for one in sorted(past) if not any(one in self.past[other] for other in past)]
            names = [(self.labels[one], self.labels[two]) for one in direct]
            pairs += [Sequence(Atom(Control(first)), Atom(Control(second))) for first, second in names]
        return _joined(Together, pairs)


def _taken(transition: NetTransition, tokens: Tokens) -> Iterator[Tokens]:
    """The ways to choose its tokens; of those that one event put into a place, the first ones."""
    found: dict[Tokens, None] = {}
    there = [[token for token in tokens if token.place == place] for place in transition.inputs]
    for chosen in product(*there):
        if len(set(chosen)) == len(chosen) and all(_is_next(token, chosen, tokens) for token in chosen):
            found[tuple(sorted(chosen))] = None
    yield from found


def _is_next(token: Token, chosen: Tokens, tokens: Tokens) -> bool:
    alike = [t for t in tokens if t[:2] == token[:2] and t.number < token.number]
    return all(each in chosen for each in alike)


def _joined(operator: Callable[[Path, Path], Path], parts: Iterable[Path | None]) -> Path | None:
    *parts, found = parts
    for part in reversed(parts):
        found = None if found is None or part is None else operator(part, found)
    return found


def _parts(events: list[int], are_connected: Callable[[int, int], bool]) -> list[list[int]]:
    """The connected components."""
    left, found = list(events), list[list[int]]()
    while left:
        part = [left.pop(0)]
        for one in part:
            near = [two for two in left if are_connected(one, two)]
            part += near
            left = [two for two in left if two not in near]
        found.append(part)
    return found
