"""Reasons of verdicts: a smallest set of atoms that forces the claim to be false, and open demands."""

from __future__ import annotations

import os
from itertools import product
from random import Random

import pytest

from possibly.logic.ltl.claims import ClaimMonitor
from possibly.logic.ltl.claims_why import Reason, Waiting, broken_at_the_end, reason, waiting
from possibly.logic.parser import parse
from tests.logic.ltl.test_claims import random_claim

CASES = 200 * int(os.environ.get("POSSIBLY_CASES", "1"))


def forced(monitor: ClaimMonitor, before: int, fixed: dict[int, bool]) -> bool:
    """Whether every valuation with these values makes the claim false: tried one by one."""
    for values in product((False, True), repeat=len(monitor.atoms)):
        if all(values[atom] == value for atom, value in fixed.items()):
            after = monitor.step(before, sum(value << bit for bit, value in enumerate(values)))
            if monitor.verdicts[after] is not False:
                return False
    return True


@pytest.mark.parametrize("seed", range(CASES))
def test_the_atoms_responsible_force_the_verdict_and_none_can_be_left_out(seed: int) -> None:
    random = Random(seed)
    monitor = ClaimMonitor(random_claim(random))
    state = 0
    for _ in range(6):
        valuation = random.getrandbits(max(len(monitor.atoms), 1))
        after, known = monitor.ask(state, lambda atom, v=valuation: bool(v >> atom & 1))  # type: ignore[misc]
        if monitor.verdicts[after] is False and monitor.verdicts[state] is None:
            texts = [atom.parts[0] for atom in monitor.atoms]  # type: ignore[attr-defined]
            found = {texts.index(text): value for text, value in reason(monitor, state, known).atoms}
            assert forced(monitor, state, found)
            for atom in found:
                assert not forced(monitor, state, {a: v for a, v in found.items() if a != atom})
        state = after


def test_the_conjunct_and_the_atoms_that_broke_the_claim() -> None:
    monitor = ClaimMonitor(parse("G(kept) & G(a -> b)", "ltl"))
    after, known = monitor.ask(0, lambda atom: atom == 1)  # kept is false, a is true, b is false
    assert monitor.verdicts[after] is False
    assert reason(monitor, 0, known) == Reason((("a", True), ("b", False)), "G kept")


def test_what_an_undecided_claim_waits_for() -> None:
    monitor = ClaimMonitor(parse("G(kept) & G(!empty -> F empty)", "ltl"))
    open_demand = monitor.run([0b11, 0b01])
    assert waiting(monitor, open_demand) == (
        Waiting("G kept", ((),), ("G kept",)),
        Waiting("G(!empty -> F empty)", (("F empty",),), ("G(empty | F empty)",)),
    )
    assert broken_at_the_end(monitor, open_demand) == ("G(!empty -> F empty)",)
    nothing_open = monitor.run([0b11, 0b01, 0b11])
    assert waiting(monitor, nothing_open)[1].must == ((),)
    assert broken_at_the_end(monitor, nothing_open) == ()
