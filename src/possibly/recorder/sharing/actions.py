"""The actions of the probes as the compiled clocks read them: their rules and families as numbers."""

from __future__ import annotations

from possibly.recorder.edges import ACTIONS, FOLLOWS, GATHERS, GIVES, MARKS, PASSES, RECEIVES, SENDS, TAKES
from possibly.recorder.packing import TOLD_AFTER, TOLD_BEFORE, number_of

RULES = (FOLLOWS, MARKS, SENDS, RECEIVES, GIVES, TAKES, GATHERS, PASSES)
"""As `_shadow.c` numbers them, from 1; 8 + 1 is a mark for several waiters."""
WAITERS = 9


def table() -> dict[int, tuple[int, int]]:
    """Number of an action -> its rule and its family, those of sends and gatherings being their own."""
    families = sorted({action.family for action in ACTIONS.values()})
    found: dict[int, tuple[int, int]] = {}
    for name in TOLD_BEFORE | TOLD_AFTER:
        action = ACTIONS[name]
        if action.rule in RULES:
            rule = (
                WAITERS
                if action.family == "waiter" and action.rule == MARKS
                else 1 + RULES.index(action.rule)
            )
            found[number_of(name)] = (rule, families.index(action.family))
    return found
