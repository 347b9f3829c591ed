"""Why a claim is false, and what an undecided one still waits for: as data, from the claim's automaton.

Here belongs what the paper on temporal assertions leaves to future work (section 6): the reason of a
verdict. A claim became false in one round; responsible are those atoms of that round whose values alone
make it false, whatever the others had been: a smallest such set, that is, none of them can be left out. An
undecided claim waits for its open demands: those that must be met before the run ends, and those that must
not be broken as long as it goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from possibly.logic.ltl.claims import FALSE, TRUE, ClaimMonitor, Tree, leaves, together
from possibly.logic.printer import unparse

MOST_LEAVES = 4096
"""Combinations of values of the atoms left out that are tried, before an atom counts as responsible."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a claim is false since a round."""

    atoms: tuple[tuple[str, bool], ...]
    """The atoms responsible, as texts, with their values in that round."""
    conjunct: str
    """The conjunct that cannot hold any more; empty if only all of them together cannot."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a conjunct that is not decided needs: one of the ways."""

    conjunct: str
    must: tuple[tuple[str, ...], ...]
    """For each way the demands that must be met before the run ends; an empty way: it may end now."""
    keeps: tuple[str, ...]
    """Demands of every way: they must not be broken while the run goes on."""


def reason(monitor: ClaimMonitor, before: int, known: Mapping[int, bool]) -> Reason:
    """Why the round that started in the state `before` and had these atoms made the claim false."""
    kept = dict(known)
    for atom in known:
        fewer = {each: value for each, value in kept.items() if each != atom}
        if _forces(monitor, before, fewer):
            kept = fewer
    atoms = tuple([(unparse(monitor.atoms[atom]), value) for atom, value in sorted(kept.items())])
    return Reason(atoms, _broken_conjunct(monitor, before, known))


def _forces(monitor: ClaimMonitor, before: int, known: Mapping[int, bool]) -> bool:
    """Whether every round with these atoms makes the claim false."""
    trees = [part.tree(own) for part, own in zip(monitor.conjuncts, monitor.states[before], strict=True)]
    for count, following in enumerate(together(trees, dict(known)), start=1):
        if count > MOST_LEAVES or monitor.verdicts[monitor._number(following)] is not False:
            return False
    return True


def _broken_conjunct(monitor: ClaimMonitor, before: int, known: Mapping[int, bool]) -> str:
    for part, own in zip(monitor.conjuncts, monitor.states[before], strict=True):
        if _walked(part.tree(own), known) == FALSE:
            return unparse(part.formula)
    return ""


def _walked(tree: Tree, known: Mapping[int, bool]) -> int:
    """The state that a decision tree leads to; one of several if not all of its atoms are known."""
    while not isinstance(tree, int):
        if tree[0] not in known:
            return next(leaves(tree))
        tree = tree[2] if known[tree[0]] else tree[1]
    return tree


def broken_at_the_end(monitor: ClaimMonitor, state: int) -> tuple[str, ...]:
    """The conjuncts that do not hold if the run ends in this state."""
    pairs = zip(monitor.conjuncts, monitor.states[state], strict=True)
    return tuple([unparse(part.formula) for part, own in pairs if not part.accepts(own)])


def waiting(monitor: ClaimMonitor, state: int) -> tuple[Waiting, ...]:
    """What each undecided conjunct still waits for."""
    found = []
    for part, own in zip(monitor.conjuncts, monitor.states[state], strict=True):
        if own in (TRUE, FALSE) or state == 0:
            continue
        must, keeps = [], []
        for each in sorted(part.sets[own]):
            demands = tuple([unparse(node) for node in part.progression.demands(each)])
            must.append(tuple([text for text in demands if each.strong and not text.startswith("G")]))
            keeps.append(demands)
        common = [text for text in keeps[0] if all(text in others for others in keeps)]
        strict = {text for way in must for text in way}
        ways = tuple(sorted(set(must), key=lambda way: (len(way), way)))
        found.append(Waiting(unparse(part.formula), ways, tuple([t for t in common if t not in strict])))
    return tuple(found)
