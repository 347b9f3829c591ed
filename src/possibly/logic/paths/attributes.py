"""Predecessor automata by the attribute grammar, before anything runs.

Here belongs figure 4-8 of Modeling Concurrency in Parallel Debugging: PRED comes down the tree, AUTO and
LAST go up; new_automaton, concat, union, repeat (figure 4-9) and compose (section 4.4) are the functions
below. It is a second way to the automaton that `machine` makes as it is used, nearer to the paper.

Departures. LAST and PRED are not disjunctions: every final state has its own LAST, and what follows is
built once for each, so a transition has one set of predecessors and the automaton is stable from the start.
PRED of a repeated body is what precedes the repetition in the first round and LAST of the body in later
ones, which figure 4-8 leaves out. Events are renamed by their atom and by whether their round is odd or
even: that a name means its latest event (section 4.1) is not enough for `(a & b)*`, where b of the second
round follows a of the first though a of the second came between. A synchronising event has a name on
either side. Where synchronising events stand under an `&` that something follows, LAST would need the
order among its members, which is not known here: such expressions are left to the machine, and so are `@`,
`*n` and variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from possibly.logic.paths.parser import subpaths
from possibly.logic.paths.syntax import (
    Atom,
    Choice,
    Control,
    Many,
    Path,
    Repeat,
    Sequence,
    Together,
    Variable,
)
from possibly.records import replace

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Last:
    """The last events of a part, and whether it was empty: then they are those before it."""

    events: Names
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Arc:
    source: int
    symbol: str
    names: Names
    """The event as others call it, its renaming: one on each side that it synchronises."""
    predecessors: Names
    target: int


@dataclass(frozen=True, slots=True)
class Auto:
    """AUTO: states are numbers, 0 is initial; `final` holds LAST of every final state."""

    states: int
    arcs: tuple[Arc, ...]
    final: dict[int, Last]


def covers(path: Path) -> bool:
    """Whether the grammar applies: safe, no variables, no synchronisation below something that follows."""
    for part in subpaths(path):
        match part:
            case Many() | Repeat(_, str()):
                return False
            case Atom(Control(_, _, given)) if any(isinstance(each, Variable) for each in given or ()):
                return False
            case Sequence(left, right) if _synchronises(left) or _synchronises(right):
                return False
            case Repeat(body) if _synchronises(body):
                return False
    return True


def _synchronises(path: Path) -> bool:
    return any(
        isinstance(part, Together) and _symbols(part.left) & _symbols(part.right) for part in subpaths(path)
    )


def _symbols(path: Path) -> set[str]:
    return {part.symbol for part in subpaths(path) if isinstance(part, Atom)}


def attributed(root: Path) -> Auto:
    """AUTO of the root, whose PRED is empty."""
    return _auto(root, frozenset(), "")


def _auto(path: Path, before: Names, round_: str) -> Auto:
    """AUTO of a node with that PRED; `round_` is part of the names of its events."""
    match path:
        case Atom():
            return new_automaton(path, before, round_)
        case Sequence(left, right):
            first = _auto(left, before, round_)
            return concat(first, {last: _auto(right, last.events, round_) for last in first.final.values()})
        case Choice(left, right):
            return union(_auto(left, before, round_), _auto(right, before, round_))
        case Together(left, right):
            common = frozenset(_symbols(left) & _symbols(right))
            one, two = (_auto(part, before, round_) for part in (left, right))
            return compose(one, two, common)
        case Repeat(body):
            return repeat(body, before, round_)
    raise ValueError("the grammar does not cover @")


def new_automaton(atom: Atom, before: Names, round_: str) -> Auto:
    name = frozenset({f"{atom.symbol}.{atom.number}{round_}"})
    return Auto(2, (Arc(0, atom.symbol, name, before, 1),), {1: Last(name)})


def concat(first: Auto, following: dict[Last, Auto]) -> Auto:
    """Every final state goes on as the automaton built for its LAST."""
    joint = _Joint()
    base = joint.put(first)
    starts = {last: joint.put(auto) for last, auto in following.items()}
    for state, last in first.final.items():
        joint.silent(base + state, starts[last])
    for last, auto in following.items():
        for state, end in auto.final.items():
            joint.final[starts[last] + state] = replace(end, is_empty=last.is_empty and end.is_empty)
    return joint.auto(base)


def union(one: Auto, two: Auto) -> Auto:
    joint = _Joint()
    start = joint.state()
    for auto in (one, two):
        base = joint.put(auto)
        joint.silent(start, base)
        joint.final.update({base + state: last for state, last in auto.final.items()})
    return joint.auto(start)


def repeat(body: Path, before: Names, round_: str) -> Auto:
    """One place between rounds for each LAST of a round; the first is after PRED, with nothing done."""
    joint = _Joint()
    start = joint.state()
    joint.final[start] = Last(before, is_empty=True)
    between: dict[tuple[Names, bool], int] = {}
    pending: list[tuple[int, Names, bool]] = [(start, before, False)]
    while pending:
        place, preceding, is_odd = pending.pop()
        auto = _auto(body, preceding, round_ + ("'" if is_odd else '"'))
        base = joint.put(auto)
        joint.silent(place, base)
        for state, last in auto.final.items():
            if last.is_empty:
                continue
            key = (last.events, not is_odd)
            if key not in between:
                between[key] = joint.state()
                joint.final[between[key]] = Last(last.events)
                pending.append((between[key], *key))
            joint.silent(base + state, between[key])
    return joint.auto(start)


def compose(one: Auto, two: Auto, common: Names) -> Auto:
    """The procedure of section 4.4: the pairs of states that can be reached, common events taken together."""
    numbers = {(0, 0): 0}
    pending, arcs = [(0, 0)], []
    while pending:
        here = pending.pop()
        for symbol, names, before, there in _pair_arcs(one, two, here, common):
            if there not in numbers:
                numbers[there] = len(numbers)
                pending.append(there)
            arcs.append(Arc(numbers[here], symbol, names, before, numbers[there]))
    final = {
        number: _both(one.final[left], two.final[right])
        for (left, right), number in numbers.items()
        if left in one.final and right in two.final
    }
    return Auto(len(numbers), tuple(arcs), final)


def _pair_arcs(
    one: Auto, two: Auto, here: tuple[int, int], common: Names
) -> Iterator[tuple[str, Names, Names, tuple[int, int]]]:
    left, right = here
    for arc in one.arcs:
        if arc.source == left and arc.symbol not in common:
            yield arc.symbol, arc.names, arc.predecessors, (arc.target, right)
    for arc in two.arcs:
        if arc.source == right and arc.symbol not in common:
            yield arc.symbol, arc.names, arc.predecessors, (left, arc.target)
    for arc in one.arcs:
        for other in two.arcs:
            if (arc.source, other.source) == here and arc.symbol == other.symbol and arc.symbol in common:
                before = arc.predecessors | other.predecessors
                yield arc.symbol, arc.names | other.names, before, (arc.target, other.target)


def _both(one: Last, two: Last) -> Last:
    """A side that was empty adds nothing to the events of the other, which came after the same PRED."""
    if one.is_empty or two.is_empty:
        return two if one.is_empty else one
    return Last(one.events | two.events)


class _Joint:
    """Automata put side by side, with silent arcs between them that `auto` removes."""

    def __init__(self) -> None:
        self.states = 0
        self.arcs: list[Arc] = []
        self.quiet: dict[int, set[int]] = {}
        self.final: dict[int, Last] = {}

    def state(self) -> int:
        self.states += 1
        return self.states - 1

    def put(self, auto: Auto) -> int:
        base = self.states
        self.states += auto.states
        self.arcs += [replace(arc, source=arc.source + base, target=arc.target + base) for arc in auto.arcs]
        return base

    def silent(self, source: int, target: int) -> None:
        self.quiet.setdefault(source, set()).add(target)

    def auto(self, start: int) -> Auto:
        """Without silent arcs and without states that cannot be reached; a state may end in several ways.

        Two LASTs of one state are two states: one of them ends, and nothing leaves it.
        """
        leaving: dict[int, list[Arc]] = {}
        for arc in self.arcs:
            leaving.setdefault(arc.source, []).append(arc)
        numbers = {start: 0}
        pending, arcs = [start], []
        ends: dict[int, list[Last]] = {}
        while pending:
            here = pending.pop()
            reached = self._quietly(here)
            ends[numbers[here]] = list(dict.fromkeys(self.final[q] for q in reached if q in self.final))
            for arc in (arc for q in reached for arc in leaving.get(q, ())):
                if arc.target not in numbers:
                    numbers[arc.target] = len(numbers)
                    pending.append(arc.target)
                arcs.append(replace(arc, source=numbers[here], target=numbers[arc.target]))
        return _split(len(numbers), list(dict.fromkeys(arcs)), ends)

    def _quietly(self, state: int) -> list[int]:
        found, pending = [state], [state]
        while pending:
            for following in self.quiet.get(pending.pop(), ()):
                if following not in found:
                    found.append(following)
                    pending.append(following)
        return found


def _split(states: int, arcs: list[Arc], ends: dict[int, list[Last]]) -> Auto:
    final: dict[int, Last] = {}
    for state, lasts in ends.items():
        for number, last in enumerate(lasts):
            if number == 0:
                final[state] = last
                continue
            arcs += [replace(arc, target=states) for arc in arcs if arc.target == state]
            final[states] = last
            states += 1
    return Auto(states, tuple(arcs), final)


Recent = tuple[tuple[str, int], ...]


def accepts(auto: Auto, events: Iterable[tuple[int, Names, frozenset[int]]]) -> bool:
    """Whether the automaton recognises the events: number, symbols it may play, predecessors.

    A name means the latest event that bears it. Of the predecessors that two sides expect of
    a synchronising event, one may precede another; only the latest count.
    """
    now: set[tuple[int, Recent]] = {(0, ())}
    past: dict[int, frozenset[int]] = {}
    for event, symbols, before in events:
        past[event] = before.union(*(past[other] for other in before))
        following = set()
        for state, recent in now:
            known = dict(recent)
            for arc in auto.arcs:
                expected = {known.get(name, -1) for name in arc.predecessors}
                if arc.source == state and arc.symbol in symbols and _latest(expected, past) == before:
                    names = {**known, **dict.fromkeys(arc.names, event)}
                    following.add((arc.target, tuple(sorted(names.items()))))
        now = following
    return any(state in auto.final for state, _ in now)


def _latest(events: set[int], past: dict[int, frozenset[int]]) -> set[int]:
    return {one for one in events if not any(one in past.get(other, ()) for other in events)}
