"""Expressions as Petri nets.

Here belongs the construction of appendix I of Modeling Concurrency in Parallel Debugging (figure I-1):
every part has an entry and an exit place; `;` joins them by a silent transition, `+` offers both, `*`
returns to one place, `&` splits and joins. Events that stand on both sides of an `&` are combined into
transitions with the inputs and outputs of both (section 4.4). `@` spawns copies from a place that keeps
its token; if something follows, the transition that goes on tests that the place which counts the copies
under way is empty: the zero test of an extended net. Variables and counts are not part of a net; the
machine has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from possibly.logic.paths.compiled import Compiled, Kind

Marking = tuple[int, ...]
"""How many tokens each place holds."""


@dataclass(frozen=True, slots=True)
class NetTransition:
    label: str | None
    """None is silent: a split, a join, a choice."""
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    empty: tuple[int, ...] = ()
    """Places that must be empty: zero tests."""


@dataclass(frozen=True, slots=True)
class Net:
    """Places are 0, 1, ...; a run leads from the initial to the final marking."""

    places: int
    transitions: tuple[NetTransition, ...]
    initial: Marking
    final: Marking

    @property
    def has_zero_tests(self) -> bool:
        return any(each.empty for each in self.transitions)

    def enabled(self, marking: Marking) -> Iterator[NetTransition]:
        for each in self.transitions:
            is_fed = all(marking[place] >= each.inputs.count(place) for place in each.inputs)
            if is_fed and not any(marking[place] for place in each.empty):
                yield each

    def fired(self, marking: Marking, transition: NetTransition) -> Marking:
        tokens = list(marking)
        for place in transition.inputs:
            tokens[place] -= 1
        for place in transition.outputs:
            tokens[place] += 1
        return tuple(tokens)

    def bound(self, most: int = 10_000) -> int | None:
        """The k of a k-safe net: most tokens a place ever holds; None if not known within `most` markings."""
        found = self.bounds(most)
        return None if found is None else max(found, default=0)

    def bounds(self, most: int = 10_000) -> Marking | None:
        """Most tokens that each place ever holds; None if not known within `most` markings."""
        seen, pending = {self.initial}, [self.initial]
        while pending:
            marking = pending.pop()
            for each in self.enabled(marking):
                following = self.fired(marking, each)
                if following not in seen:
                    if len(seen) == most:
                        return None
                    seen.add(following)
                    pending.append(following)
        return tuple(map(max, zip(*seen, strict=True)))


def net(expression: Compiled) -> Net:
    """The net of an expression."""
    builder = _Builder(expression)
    entry, leave = builder.part(expression.root)
    initial = [0] * builder.places
    final = [0] * builder.places
    initial[entry] += 1
    final[leave] += 1
    return Net(builder.places, tuple(builder.transitions), tuple(initial), tuple(final))


class _Builder:
    def __init__(self, expression: Compiled) -> None:
        self.parts = expression.parts
        self.names = [atom.text for atom in expression.symbols]
        self.places = 0
        self.transitions: list[NetTransition] = []
        self.symbols: list[int] = []
        """The symbol of each transition, -1 for silent ones."""

    def place(self) -> int:
        self.places += 1
        return self.places - 1

    def add(self, symbol: int, inputs: tuple[int, ...], outputs: tuple[int, ...], *empty: int) -> None:
        label = self.names[symbol] if symbol >= 0 else None
        self.transitions.append(NetTransition(label, inputs, outputs, empty))
        self.symbols.append(symbol)

    def part(self, number: int) -> tuple[int, int]:
        """The entry and the exit place of a part."""
        part = self.parts[number]
        match part.kind:
            case Kind.EVENT:
                entry, leave = self.place(), self.place()
                self.add(part.symbol, (entry,), (leave,))
                return entry, leave
            case Kind.SEQUENCE:
                first, second = self.part(part.left), self.part(part.right)
                self.add(-1, (first[1],), (second[0],))
                return first[0], second[1]
            case Kind.CHOICE:
                return self._choice(part.left, part.right)
            case Kind.TOGETHER:
                return self._together(part.left, part.right, part.shared)
            case Kind.REPEAT | Kind.COUNT:
                return self._repeated(part.left)
            case Kind.MANY:
                return self._copies(part.left, part.remembers)
            case _:
                return self.part(part.left)

    def _choice(self, left: int, right: int) -> tuple[int, int]:
        entry, leave = self.place(), self.place()
        for number in (left, right):
            first, last = self.part(number)
            self.add(-1, (entry,), (first,))
            self.add(-1, (last,), (leave,))
        return entry, leave

    def _repeated(self, body: int) -> tuple[int, int]:
        entry, between, leave = self.place(), self.place(), self.place()
        first, last = self.part(body)
        self.add(-1, (entry,), (between,))
        self.add(-1, (between,), (first,))
        self.add(-1, (last,), (between,))
        self.add(-1, (between,), (leave,))
        return entry, leave

    def _together(self, left: int, right: int, shared: int) -> tuple[int, int]:
        entry, leave = self.place(), self.place()
        start = len(self.transitions)
        one = self.part(left)
        middle = len(self.transitions)
        two = self.part(right)
        self._combine(start, middle, shared)
        self.add(-1, (entry,), (one[0], two[0]))
        self.add(-1, (one[1], two[1]), (leave,))
        return entry, leave

    def _combine(self, start: int, middle: int, shared: int) -> None:
        """Each pair of transitions of one shared symbol, one of either side, becomes one transition."""
        rows = list(zip(self.transitions, self.symbols, strict=True))

        def is_shared(symbol: int) -> bool:
            return symbol >= 0 and bool(shared >> symbol & 1)

        kept = rows[:start] + [row for row in rows[start:] if not is_shared(row[1])]
        self.transitions, self.symbols = [row[0] for row in kept], [row[1] for row in kept]
        for one, symbol in rows[start:middle]:
            for two, other in rows[middle:]:
                if symbol == other and is_shared(symbol):
                    self.add(symbol, one.inputs + two.inputs, one.outputs + two.outputs)

    def _copies(self, body: int, is_followed: bool) -> tuple[int, int]:
        entry, open_, leave, counted = self.place(), self.place(), self.place(), self.place()
        first, last = self.part(body)
        self.add(-1, (entry,), (open_,))
        self.add(-1, (open_,), (open_, first, counted))
        self.add(-1, (last, counted), ())
        self.add(-1, (open_,), (leave,), *((counted,) if is_followed else ()))
        return entry, leave
