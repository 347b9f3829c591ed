"""Why a claim is false on a path of the tree, and which two messages made the difference: as data.

The macro-step at which a claim became false is the first node of its path that says so; the atoms
responsible were found there (`logic.claims_why`). The difference is a node of the path, the last one, from
which another branch leads to a leaf where the claim holds: there one receive got one message on this path
and another one on that. All of it speaks of what has been explored so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from possibly.control.macro.model import Choice
from possibly.control.macro.tree import BAD_ENDS, Tree, TreeNode, settled


@dataclass(frozen=True, slots=True)
class Difference:
    """At a breakpoint a receive got one message; had it got the other, the claim would have held."""

    node: int
    chosen: Choice
    other: Choice
    holds_at: int
    """A leaf below the other branch."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A claim that is false on a path, or an end that no program should have."""

    claim: str
    """Empty: the path ends badly, whatever the claims say."""
    at: str
    """Where the claim was made."""
    node: int
    """The breakpoint at which it became false."""
    leaf: int
    end: str
    detail: str
    atoms: tuple[tuple[str, bool], ...]
    broken: tuple[str, ...]
    """The conjuncts that cannot hold any more."""
    only_at_the_end: bool
    """It is false because the path ends there."""
    difference: Difference | None
    order: tuple[tuple[str, str, str], ...] = ()
    """Where no breakpoint shows it: the order of instants that does, each with process, operation, place."""
    language: str = ""
    """Of a property that was asked for; `at` is its name then."""
    said: str = ""
    """Why, in the words of a checker outside."""


def violations(tree: Tree) -> list[Violation]:
    """One for each claim that is false on some path, and one for each bad end: the shortest path first."""
    best: dict[tuple[str, str], Violation] = {}
    for leaf in tree.leaves:
        for found in _of_leaf(tree, leaf):
            key = found.claim or found.end, found.at or found.detail
            if key not in best or _cost(tree, found) < _cost(tree, best[key]):
                best[key] = found
    return sorted(best.values(), key=lambda each: (not each.claim, each.node))


def _cost(tree: Tree, violation: Violation) -> tuple[bool, int]:
    return violation.difference is None, tree.nodes[violation.node].depth


def _of_leaf(tree: Tree, leaf: TreeNode) -> Iterator[Violation]:
    for each in leaf.verdicts:
        if settled(each) is False:
            yield _claim_violation(tree, leaf, each)
    for each in leaf.properties:
        if each["verdict"] is False:
            yield _property_violation(tree, leaf, each)
    if leaf.end in BAD_ENDS:
        difference = _difference(tree, leaf, lambda other: other.end == "finished")
        yield Violation("", "", leaf.number, leaf.number, leaf.end, leaf.detail, (), (), False, difference)


def _claim_violation(tree: Tree, leaf: TreeNode, verdict: dict[str, Any]) -> Violation:
    """With the breakpoint that shows it, if one does; else with an order of the path that does."""
    text, at = verdict["claim"], verdict["at"]
    path = tree.path(leaf.number)
    node = next((each for each in path if _is_false_at(each, text, at)), None)
    shown = verdict["everywhere"] if node is None else _verdict_of(node, text, at)
    where = leaf if node is None else node
    good = _difference(tree, where, lambda other: _holds_at(other, text, at))
    order = _order(verdict["everywhere"]) if node is None else ()
    return _violation(text, at, where, leaf, shown, good, order)


def _property_violation(tree: Tree, leaf: TreeNode, found: dict[str, Any]) -> Violation:
    name = found["name"]

    def holds(other: TreeNode) -> bool:
        return any(each["name"] == name and each["verdict"] is True for each in other.properties)

    good = _difference(tree, leaf, holds)
    return replace(
        _violation(found["formula"], name, leaf, leaf, found, good, _order(found)),
        language=found["language"],
        said=found["why"],
    )


def _violation(
    text: str,
    at: str,
    node: TreeNode,
    leaf: TreeNode,
    shown: dict[str, Any],
    difference: Difference | None,
    order: tuple[tuple[str, str, str], ...],
) -> Violation:
    return Violation(
        text,
        at,
        node.number,
        leaf.number,
        leaf.end,
        leaf.detail,
        tuple([(atom, value) for atom, value in shown.get("atoms", ())]),
        tuple(shown.get("broken", ())),
        bool(shown.get("at_the_end")),
        difference,
        order,
    )


def _order(shown: dict[str, Any]) -> tuple[tuple[str, str, str], ...]:
    return tuple([(process, text, at) for process, text, at in shown["order"]])


def _verdict_of(node: TreeNode, text: str, at: str) -> dict[str, Any]:
    return next((each for each in node.verdicts if each["claim"] == text and each["at"] == at), {})


def _is_false_at(node: TreeNode, text: str, at: str) -> bool:
    """Whether a breakpoint shows it."""
    return _verdict_of(node, text, at).get("verdict") is False


def _holds_at(leaf: TreeNode, text: str, at: str) -> bool:
    found = _verdict_of(leaf, text, at)
    return bool(found) and settled(found) is True


def _difference(tree: Tree, node: TreeNode, holds: Any) -> Difference | None:
    """The last choice on the way to the node whose other outcome leads to a leaf that holds."""
    good = _ancestors_of_good(tree, holds)
    for step in reversed(tree.path(node.number)[1:]):
        taken = tree.arc_to(step)
        parent = tree.nodes[step.parent or 0]
        for arc in parent.arcs:
            if arc is taken or arc.child is None or arc.child not in good:
                continue
            pair = _differing(taken.selection, arc.selection)
            if pair is not None:
                return Difference(parent.number, *pair, good[arc.child])
    return None


def _ancestors_of_good(tree: Tree, holds: Any) -> dict[int, int]:
    """Every node from which a leaf that holds was reached -> such a leaf."""
    found: dict[int, int] = {}
    for leaf in tree.leaves:
        if leaf.end == "finished" and holds(leaf):
            for node in tree.path(leaf.number):
                found.setdefault(node.number, leaf.number)
    joined = [node for node in tree.nodes if node.joins is not None]
    while fresh := [node for node in joined if node.joins in found and node.number not in found]:
        for each in fresh:
            for node in tree.path(each.number):
                found.setdefault(node.number, found[each.joins])  # type: ignore[index]
    return found


def _differing(chosen: tuple[Choice, ...], other: tuple[Choice, ...]) -> tuple[Choice, Choice] | None:
    """One receive with two messages; or else one channel from which two were taken."""
    for one in chosen:
        for two in other:
            if one != two and one.receive == two.receive:
                return one, two
    for one in chosen:
        for two in other:
            if one != two and one.channel and one.channel == two.channel:
                return one, two
    only_here = [each for each in chosen if each not in other]
    only_there = [each for each in other if each not in chosen]
    return (only_here[0], only_there[0]) if only_here and only_there else None
