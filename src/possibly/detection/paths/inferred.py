"""An expression from a run: the smallest that folding finds, as a specification to start from.

Here belongs the way from what was seen to what may be meant. The order of the chosen events falls into parts
one after the other, or beside each other, as far as it can; parts one after the other that are alike become a
`*`, parts beside each other that are alike an `@` (or, in a class without it, an `&` of distinct events). An
order that falls into neither needs events that synchronise by their names, and is refused. The result
says more than the run: `a; b; a; b` becomes `(a; b)*`. The run itself fits it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Listed
from itertools import accumulate, pairwise

from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.projection import Projected, projection
from possibly.detection.paths.turns import with_turns
from possibly.errors import PossiblyError
from possibly.logic.depth import deep
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.syntax import Atom, Control, Many, Path, Repeat, Sequence, Together, path_text
from possibly.logic.source import Source
from possibly.order.computation import Computation
from possibly.trace.model import NONE, Trace

MOST_EVENTS = 5_000
"""Events whose order is taken apart."""
CLASSES = ("sequential", "safe", "general", "extended")
"""Those in which an expression may be wanted, from the smallest."""


def names_of(trace: Trace) -> tuple[str, ...]:
    """What the events of a run are called: their labels, else the functions they enter, else their kinds."""
    for column in (trace.label, trace.function, trace.kind):
        names = {trace.strings[number] for number in column or () if number != NONE}
        if names:
            return tuple(sorted(names))
    return ()


def inferred(computation: Computation, names: Listed[str], kind: str = "extended") -> str:
    """The expression, as a text."""
    tree = compiled(parse_path(Source(" + ".join(names)), {}))
    events = list(projection(Meaning(tree, with_turns(computation, tree))))
    if not events:
        raise PossiblyError("no event of the run has one of these names", hint=f"names: {', '.join(names)}")
    if len(events) > MOST_EVENTS:
        raise PossiblyError(
            f"{len(events):,} events are too many to find an expression", hint="choose some with --events"
        )
    with deep():
        return path_text(_Run(events, [atom.event for atom in tree.symbols], kind).path())


class _Run:
    """The order of the events, by their numbers in the run."""

    def __init__(self, events: list[Projected], symbols: Listed[object], kind: str) -> None:
        self.kind = kind
        number_of = {event.step: number for number, event in enumerate(events)}
        self.atoms: list[Path] = []
        self.past: list[int] = []
        """For each event a bit for each event before it."""
        self.near: list[list[int]] = []
        """The events directly before and after each."""
        for event in events:
            control = symbols[event.symbols[0]]
            assert isinstance(control, Control)
            self.atoms.append(Atom(control))
            before = [number_of[step] for step in event.predecessors]
            past = 0
            for other in before:
                past |= self.past[other] | 1 << other
                self.near[other].append(len(self.past))
            self.past.append(past)
            self.near.append(before)

    def path(self) -> Path:
        return self._path(list(range(len(self.atoms))), self.kind in ("general", "extended"))

    def _path(self, events: list[int], has_copies: bool) -> Path:
        """`has_copies`: whether an `@` may stand here."""
        if len(events) == 1:
            return self.atoms[events[0]]
        after = self._after(events)
        if len(after) > 1:
            return _joined(
                Sequence, folded([self._path(part, has_copies and self.kind == "extended") for part in after])
            )
        beside = self._beside(events)
        if len(beside) == 1:
            raise PossiblyError(
                "the order of these events cannot be written with ; and & alone",
                hint="choose others with --events",
            )
        if self.kind == "sequential":
            one, two = (path_text(self.atoms[part[0]]) for part in beside[:2])
            raise PossiblyError(
                f"not sequential: nothing orders an event {one} and an event {two}", hint="--class general"
            )
        return self._together([self._path(part, has_copies) for part in beside], has_copies)

    def _after(self, events: list[int]) -> list[list[int]]:
        """The parts that come one after the other: those before a cut are in the past of all behind it."""
        inside = sum(1 << event for event in events)
        ranked = sorted(events, key=lambda event: (self.past[event] & inside).bit_count())
        before = list(accumulate((1 << event for event in ranked), int.__or__, initial=0))
        low, cuts = len(ranked), [len(ranked)]
        for place in range(len(ranked) - 1, 0, -1):
            while low and before[low] & ~self.past[ranked[place]]:
                low -= 1
            low = min(low, place)
            if low == place:
                cuts.append(place)
        cuts.append(0)
        return [ranked[first:last] for last, first in pairwise(cuts)][::-1]

    def _beside(self, events: list[int]) -> list[list[int]]:
        """The parts that nothing orders."""
        left, found = set(events), list[list[int]]()
        for event in sorted(events):
            if event in left:
                left.discard(event)
                part = [event]
                for one in part:
                    fresh = [other for other in self.near[one] if other in left]
                    left.difference_update(fresh)
                    part += dict.fromkeys(fresh)
                found.append(sorted(part))
        return found

    def _together(self, parts: list[Path], has_copies: bool) -> Path:
        if has_copies:
            parts = alike(parts)
            if len(parts) == 1:
                return parts[0]
        names: list[Control] = [name for part in parts for name in set(_names(part))]
        shared = {name for name in names if names.count(name) > 1}
        return _joined(Together, [_distinct(part, shared) for part in parts])


def folded(parts: list[Path]) -> list[Path]:
    """Parts one after the other, with what is repeated as a `*`: short rounds first."""
    length = 1
    while length <= len(parts) // 2:
        shorter = _folded_by(parts, length)
        length = 1 if len(shorter) < len(parts) else length + 1
        parts = shorter
    return parts


def _folded_by(parts: list[Path], length: int) -> list[Path]:
    found: list[Path] = []
    at = 0
    while at < len(parts):
        rounds = 1
        body = parts[at : at + length]
        while parts[at + rounds * length : at + (rounds + 1) * length] == body:
            rounds += 1
        if rounds > 1:
            found.append(_starred(_joined(Sequence, body)))
            at += rounds * length
        else:
            found.append(parts[at])
            at += 1
    return found


def _starred(body: Path) -> Path:
    return body if isinstance(body, Repeat) else Repeat(body)


def alike(parts: list[Path]) -> list[Path]:
    """Parts beside each other, with those that are alike as an `@`; `A` and `A*` are alike."""
    starred = {part.body for part in parts if isinstance(part, Repeat)}
    general = [Repeat(part) if part in starred else part for part in parts]
    return [Many(part) if general.count(part) > 1 else part for part in dict.fromkeys(general)]


def _names(path: Path) -> list[Control]:
    match path:
        case Atom(event):
            return [event] if isinstance(event, Control) else []
        case Repeat(body) | Many(body):
            return _names(body)
        case _:
            return [*_names(path.left), *_names(path.right)]


def _distinct(path: Path, names: set[Control]) -> Path:
    """The events of these names synchronise with nothing."""
    match path:
        case Atom(event):
            return Atom(event, distinct=True) if event in names else path
        case Repeat(body):
            return Repeat(_distinct(body, names))
        case Many(body):
            return Many(_distinct(body, names))
        case _:
            return type(path)(_distinct(path.left, names), _distinct(path.right, names))


def _joined(operator: Callable[[Path, Path], Path], parts: Listed[Path]) -> Path:
    *others, found = parts
    for part in reversed(others):
        found = operator(part, found)
    return found
