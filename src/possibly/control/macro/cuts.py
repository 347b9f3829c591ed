"""A claim judged on all cuts of a path: in every order of its instants, as finite LTL says.

This is the plain way, by the definition: every cut from the start of the claim to the end of the path is met
with every state of the claim's automaton that some order leads to. It knows what no trace can say, the
predicates of the program, which a live process evaluates; claims without them are given to the engines for
traces (`session.macro_paths`), which need not look at every cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from possibly.control.macro.claims import Collective, Evaluate, JudgedClaim
from possibly.control.macro.history import Counts, Instant, Path
from possibly.control.macro.model import Message, Process, Seen
from possibly.logic.ltl.claims import Truth
from possibly.logic.ltl.claims_why import broken_at_the_end, reason

MOST_CUTS = 100_000
"""Pairs of a cut and a state of the claim that are met at most, for one claim on one path."""

Cut = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CutVerdict:
    """What a claim is in all orders of a path."""

    verdict: Truth
    order: tuple[Instant, ...] = ()
    """The instants from its start to where it is false."""
    atoms: tuple[tuple[str, bool], ...] = ()
    broken: tuple[str, ...] = ()
    at_the_end: bool = False
    """It is false because the path ends there."""
    why: str = ""
    """Why it is not decided."""


@dataclass(slots=True)
class Cuts:
    """The cuts of a path from a given one on; a cut is a count for each process."""

    path: Path
    first: Counts
    initial: Cut = ()
    _line: list[list[int]] = field(default_factory=list)
    """The instants of each process."""
    _states: list[list[Seen | None]] = field(default_factory=list)
    _place: list[tuple[int, int]] = field(default_factory=list)
    """Of each instant: its process, and which one of that process it is, from 1."""

    def __post_init__(self) -> None:
        index = {process: number for number, process in enumerate(self.path.processes)}
        self._line = [[] for _ in index]
        for number, each in enumerate(self.path.instants):
            line = self._line[index[each.process]]
            line.append(number)
            self._place.append((index[each.process], len(line)))
        self._states = [self.path.states(process) for process in self.path.processes]
        self.initial = tuple([self.first.get(process, 0) for process in self.path.processes])

    def following(self, cut: Cut) -> Iterator[tuple[Instant, Cut]]:
        """One instant further."""
        for process, count in enumerate(cut):
            if count < len(self._line[process]):
                number = self._line[process][count]
                if self._has_causes(number, cut):
                    yield self.path.instants[number], (*cut[:process], count + 1, *cut[process + 1 :])

    def _has_causes(self, number: int, cut: Cut) -> bool:
        causes = (self._place[cause] for cause in self.path.causes[number])
        return all(cut[process] >= least for process, least in causes)

    def state(self, cut: Cut) -> Collective:
        seen: dict[Process, Seen] = {}
        for process, states, count in zip(self.path.processes, self._states, cut, strict=True):
            state = states[count]
            if state is not None:
                seen[process] = state
        return Collective(seen, tuple(self._transit(cut)))

    def _transit(self, cut: Cut) -> Iterator[Message]:
        taken: set[str] = set()
        sent: list[Message] = []
        for line, count in zip(self._line, cut, strict=True):
            for number in line[:count]:
                instant = self.path.instants[number]
                taken.update(instant.takes)
                sent += instant.sends
        return (message for message in sent if message.name not in taken)


_Place = tuple[Cut, int]


def judged_on_cuts(claim: JudgedClaim, path: Path, evaluate: Evaluate, most: int = MOST_CUTS) -> CutVerdict:
    """Whether the claim holds in every order of the path."""
    cuts = Cuts(path, claim.start.cut(path))
    return _Walk(claim, cuts, evaluate).verdict(most)


def shown_by(claim: JudgedClaim, cuts: Cuts, order: Sequence[Instant], evaluate: Evaluate) -> CutVerdict:
    """A claim that is false in this order of the path: where, and because of what."""
    return _Walk(claim, cuts, evaluate).along(order)


class _Walk:
    def __init__(self, claim: JudgedClaim, cuts: Cuts, evaluate: Evaluate) -> None:
        self.claim = claim
        self.cuts = cuts
        self.evaluate = evaluate
        self.came: dict[_Place, tuple[_Place, Instant] | None] = {}
        """How each pair of a cut and a state of the claim was come to."""

    def verdict(self, most: int) -> CutVerdict:
        monitor = self.claim.monitor
        level: dict[Cut, dict[int, tuple[_Place, Instant] | None]] = {self.cuts.initial: {0: None}}
        while level:
            after: dict[Cut, dict[int, tuple[_Place, Instant] | None]] = {}
            for cut, arrivals in level.items():
                asking = self._asking(cut)
                following = list(self.cuts.following(cut))
                for before, way in arrivals.items():
                    now, known = monitor.ask(before, asking)
                    place = cut, now
                    if place not in self.came:
                        self.came[place] = way
                    if monitor.verdicts[now] is False:
                        return self._false(place, before, known)
                    if monitor.verdicts[now] is None and not following and not monitor.final(now):
                        return self._false(place, before, known, at_the_end=True)
                    if monitor.verdicts[now] is None:
                        for instant, target in following:
                            after.setdefault(target, {}).setdefault(now, (place, instant))
            if len(self.came) > most:
                return CutVerdict(None, why=f"more than {most:,} cuts of a path")
            level = after
        return CutVerdict(True)

    def along(self, order: Sequence[Instant]) -> CutVerdict:
        cut, state = self.cuts.initial, 0
        for number in range(len(order) + 1):
            if number:
                cut = next(after for each, after in self.cuts.following(cut) if each is order[number - 1])
            before, (state, known) = state, self.claim.monitor.ask(state, self._asking(cut))
            if self.claim.monitor.verdicts[state] is False:
                found = reason(self.claim.monitor, before, known)
                broken = (found.conjunct,) if found.conjunct else ()
                return CutVerdict(False, tuple(order[:number]), tuple(found.atoms), broken)
        return CutVerdict(False, tuple(order), (), broken_at_the_end(self.claim.monitor, state), True)

    def _asking(self, cut: Cut) -> Callable[[int], bool]:
        """The atoms at a cut, each evaluated once."""
        state = self.cuts.state(cut)
        return cache(lambda atom: self.claim.holds(atom, state, self.evaluate))

    def _false(
        self, place: _Place, before: int, known: dict[int, bool], at_the_end: bool = False
    ) -> CutVerdict:
        order = tuple(self._order(place))
        if at_the_end:
            return CutVerdict(False, order, (), broken_at_the_end(self.claim.monitor, place[1]), True)
        found = reason(self.claim.monitor, before, known)
        return CutVerdict(False, order, tuple(found.atoms), (found.conjunct,) if found.conjunct else ())

    def _order(self, place: _Place) -> Sequence[Instant]:
        found = []
        way = self.came[place]
        while way is not None:
            found.append(way[1])
            way = self.came[way[0]]
        return found[::-1]
