"""The answer of macro-steps about a program: of its trees, and of the search step by step where there is one.

A tree alone decides, unless something was not controlled: then the search step by step does (`between`). A
program of MPI has two trees if it may matter whether messages are buffered; each of them may fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from possibly.control.macro.tree import Tree
from possibly.control.macro.why import Violation, violations
from possibly.session.macro_steps.between import Between, reasons, verdict
from possibly.session.why.failure import Failure
from possibly.verdict.answer import Answer
from possibly.verdict.reasons import Reason


@dataclass(frozen=True, slots=True)
class FailingPath:
    """A path of macro-steps that should not be."""

    tree: Tree
    violation: Violation

    @property
    def kind(self) -> str:
        found = self.violation
        return "property" if found.language else "claim" if found.claim else found.end

    @property
    def message(self) -> str:
        found = self.violation
        return f"{found.claim} ({found.at})" if found.claim else found.detail


@dataclass(slots=True)
class MacroAnswer(Answer[FailingPath | Failure]):
    """The trees by their files, the usual one first."""

    trees: Mapping[str, Tree] = field(default_factory=dict)
    between: Between | None = None


def answer_of(
    trees: Mapping[str, Tree], between: Between | None, has_properties: bool = False
) -> MacroAnswer:
    """`has_properties`: more was asked for than the program's own claims."""
    verdicts = [verdict(tree, between, has_properties) for tree in trees.values()]
    failing = [tree for tree, holds in zip(trees.values(), verdicts, strict=True) if holds is False]
    found = MacroAnswer(sum(tree.executions for tree in trees.values()), trees=trees, between=between)
    found.assumed = tuple(dict.fromkeys(_assumed(trees, between)))
    if between is None:
        found.complete = all(tree.is_complete for tree in trees.values())
        found.open = {what: why for tree in trees.values() for what, why in left_open(tree)}
        found.failure = FailingPath(failing[0], violations(failing[0])[0]) if failing else None
        return found
    found.complete = between.found.complete
    if failing:
        found.failure = between.found.failure
    elif None in verdicts:
        (tree,) = trees.values()
        found.open = {**dict(left_open(tree)), **dict(reasons(tree, between))}
    return found


def _assumed(trees: Mapping[str, Tree], between: Between | None) -> Iterator[str]:
    for tree in trees.values():
        yield from tree.assumed
    if between is not None:
        yield from between.found.assumed


def left_open(tree: Tree) -> Iterator[tuple[str, Reason]]:
    """Why a tree does not decide, each reason with what helps."""
    for text in tree.uncontrolled:
        yield text, Reason(remedy="explore it without --macro")
    for text in tree.diverged:
        yield text, Reason(remedy="let the program do the same whenever its messages are")
    for text in tree.undecided:
        yield text, Reason(remedy="--at-breakpoints, or explore it without --macro")
    left = sum(1 for _ in tree.open_arcs())
    if left:
        many = "a branch was" if left == 1 else f"{left:,} branches were"
        yield f"{many} not taken", Reason(remedy="more --executions, --time or --deviations, no --first")
