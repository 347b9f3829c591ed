"""What macro-steps do not control, decided step by step.

A tree of macro-steps is about messages. Where processes also wait for each other, or share something, by
other means (locks, events, executors, pools, timers, memory, files), some of its paths may be impossible and
others may be missing. Then the program is explored once more, operation by operation (`session.explore`), and
that decides, since every schedule is one of those.

Law: a failure that is found so is one; if every schedule is covered and none fails, no path does. Claims and
properties are about the states at messages, which are fewer than those of single steps: what is true in all
of these (`G p`) is decided too, anything else stays open. A failing path of the tree counts by
itself only if there was nothing to choose on it and a breakpoint shows the failure: then it is what the
program did; not if it has tasks of an event loop, which stop at more places than they would. A deadlock is
concluded from what is controlled, an order of instants as well: neither counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from possibly.control.macro.program.launch import is_native
from possibly.control.macro.tree import Tree
from possibly.control.macro.why import Violation, violations
from possibly.errors import PossiblyError
from possibly.logic.ltl.claims import Truth
from possibly.logic.specification import property_from_text
from possibly.logic.syntax import And, Node, Temporal
from possibly.logic.walk import nodes
from possibly.session.exploring.exploration import Exploration
from possibly.verdict.reasons import Reason

MOST_EXECUTIONS = 1_000
"""Of the search step by step, unless the user says otherwise."""
ABOUT_STATES = ("claim", "property")
"""Kinds of failure that are about states."""
DOUBTFUL = "a path of macro-steps fails, and what is not controlled may exclude it"


@dataclass(frozen=True, slots=True)
class Between:
    """The search step by step."""

    found: Exploration
    claims: tuple[str, ...]
    """What the program claims, as far as this search has heard it."""
    replay: str | None

    @property
    def fails(self) -> bool:
        return self.found.failure is not None and self.found.failure.kind not in ABOUT_STATES

    @property
    def covers_all(self) -> bool:
        return self.found.holds is True


def is_wanted(tree: Tree) -> bool:
    """Whether the tree cannot be the last word, or not show again what fails in it."""
    if tree.ranks is not None or is_native(tree.program):
        return False
    return bool(tree.uncontrolled) or bool(tree.diverged and not is_certain(tree))


def decides(tree: Tree, between: Between) -> bool:
    """Whether the search step by step is the last word: not where only the tree has met what fails."""
    return between.fails or not is_certain(tree)


def is_certain(tree: Tree) -> bool:
    """Whether some path of the tree fails, for sure."""
    if tree.verdict is not False:
        return False
    if not tree.uncontrolled:
        return True
    return not tree.has_tasks and any(_was_met(tree, found) for found in violations(tree))


def _was_met(tree: Tree, found: Violation) -> bool:
    """Whether the program itself did what fails, whatever was not controlled beside it."""
    is_forced = all(len(node.arcs) < 2 for node in tree.path(found.leaf))
    is_shown = not found.order if found.claim else found.end == "failed"
    return is_forced and is_shown


def verdict(tree: Tree, between: Between | None, has_properties: bool = False) -> Truth:
    """That of both; `has_properties`: more was asked for than the program's own claims."""
    if is_certain(tree):
        return False
    if between is None:
        return tree.verdict
    if between.fails:
        return False
    asked = {each["claim"] for node in tree.nodes for each in node.verdicts} | set(between.claims)
    is_all = between.covers_all and not has_properties and all(map(_is_invariant, asked))
    return True if is_all else None


def reasons(tree: Tree, between: Between) -> Iterable[tuple[str, Reason]]:
    """Why the answer of both is open, each with what helps."""
    if tree.verdict is False:
        yield DOUBTFUL, Reason(remedy="explore it without --macro, with more --time")
    for what, why in between.found.open.items():
        yield f"step by step: {what}", why
    if between.found.failure is not None and not between.fails:
        yield (
            f"{between.found.failure.message} fails between two messages",
            Reason(remedy="explore it without --macro to see how"),
        )
    if between.covers_all:
        yield (
            "claims and properties about what is not controlled",
            Reason(remedy="explore it without --macro: there they are about single steps"),
        )


def _is_invariant(claim: str) -> bool:
    """Whether it says that something is true in every state, and nothing else."""
    try:
        formula = property_from_text("ltl", claim, "claim").formula
    except PossiblyError:
        return False
    return formula is not None and all(map(_is_always, _conjuncts(formula)))


def _conjuncts(formula: Node) -> Iterable[Node]:
    match formula:
        case And(operands):
            for each in operands:
                yield from _conjuncts(each)
        case _:
            yield formula


def _is_always(formula: Node) -> bool:
    inner = [node for node in nodes(formula) if isinstance(node, Temporal)]
    return len(inner) == 1 and inner[0] is formula and inner[0].operator == "G"
