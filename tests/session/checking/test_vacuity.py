"""Left sides that are true in no order: told where slices know, and by all engines when asked for."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.logic.printer import unparse
from possibly.logic.specification import read_specification
from possibly.session.checking.check import Checker, Options, check_trace
from possibly.trace.notation import trace

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
RUN = "P(x=0, y=0): a{x=1} b{y=1} c{x=0} | Q(z=0): d{z=1} e{z=0}"


def warnings(text: str, options: Options | None = None) -> tuple[str, ...]:
    return check_trace(trace(RUN), read_specification(text), options or Options()).warnings


@pytest.mark.parametrize(
    ("formula", "left"),
    [
        ("ctl it = AG(P.x > 5 -> Q.z == 7)", "P.x > 5"),
        ("ctl it = AG(P.x == 0 & P.y == 0 & Q.z == 5 -> AF(P.x == 1))", "P.x == 0 & P.y == 0 & Q.z == 5"),
        ("ltl it = G(Q.z == 2 -> F P.x == 0)", "Q.z == 2"),
        ("ctl it = AG(P.x >= 0) & AG(P.x == 0 -> AG(P.y == 2 -> Q.z == 0))", "P.y == 2"),
    ],
)
def test_a_left_side_that_is_never_true_is_told(formula: str, left: str) -> None:
    assert warnings(formula) == (f"it holds without effect: {left} is true in no order of this run",)


@pytest.mark.parametrize(
    "formula",
    [
        "ctl it = AG(P.x == 1 -> AF(P.x == 0))",
        "ctl it = AG(P.y == 1 & Q.z == 1 -> P.y == 1)",  # together in another order
        "ctl it = AG(P.x > 5 -> Q.z == 7) & EF(P.x > 5)",  # does not hold
        "ctl it = P.x > 5 -> Q.z == 7",  # speaks of the first cut alone
        "ctl it = EF(P.x > 5 -> Q.z == 7)",
    ],
)
def test_nothing_is_told_of_others(formula: str) -> None:
    assert warnings(formula) == ()


def test_other_engines_are_asked_for_it() -> None:
    formula = "ctl it = AG(P.x * Q.z + P.y > 9 -> false)"
    assert warnings(formula) == ()
    assert warnings(formula, Options(vacuity=True)) == (
        "it holds without effect: P.x * Q.z + P.y > 9 is true in no order of this run",
    )


def test_many_alike_are_one_sentence() -> None:
    found = warnings('ctl it = forall i in "P*": AG(i.x > 5 -> i.y > 5) & AG(i.x > 6 -> i.y > 5)')
    assert found == ("it holds without effect: P.x > 5 is true in no order of this run (and 1 more like it)",)


# ---- every part ---------------------------------------------------------------------------------

THOROUGH = Options(vacuity=True)
PARTS = {
    "ctl it = AG(P.x == 0 | P.x == 1 | Q.z == 9)": "Q.z == 9",
    "ctl it = AG(P.y == 1 -> AF(P.x == 0 | Q.z == 9))": "Q.z == 9",
    "ctl it = EF(P.x == 1) | AG(Q.z == 3)": "AG(Q.z == 3)",
    "ctl it = AG(!(P.x == 1 & Q.z == 7 & P.y == 0))": "P.x == 1",
    "ctl it = AG(P.x == 1 -> P.y >= 0)": "P.x == 1",
    "ctl it = A[P.y == 5 U P.x == 0]": "P.y == 5",
    "ltl it = G(Q.z == 1 -> F(Q.z == 0 | P.x == 8))": "P.x == 8",
    "ltl it = F(P.x == 1) & (G(P.y == 7) | F(Q.z == 1))": "G(P.y == 7)",
}


@pytest.mark.parametrize(("formula", "part"), PARTS.items())
def test_a_part_that_makes_no_difference_is_told_when_asked_for(formula: str, part: str) -> None:
    told = [each for each in warnings(formula, THOROUGH) if "whatever" in each]
    assert len(told) == 1 and told[0].startswith(
        f"it holds whatever {part} is: that part makes no difference"
    )
    assert not any("whatever" in each for each in warnings(formula))


@pytest.mark.parametrize(
    "formula",
    [
        "ctl it = AG(P.x == 1 -> P.x != 0)",
        "ctl it = EF(P.x == 1 & Q.z == 1)",
        "ctl it = AG(P.x == 0 | P.x == 1)",
        "ctl it = AG(P.x == 0 <-> P.x != 1)",
        "ltl it = F(P.y == 1)",
        "ctl it = AG(P.x > 5 -> Q.z == 7)",  # what never happens is told, not what follows from it
        "ctl it = AG(P.x > 5)",  # does not hold
    ],
)
def test_parts_that_matter_are_not_told(formula: str) -> None:
    assert not any("whatever" in each for each in warnings(formula, THOROUGH))


ATOMS = ("P.x == 1", "P.y == 1", "Q.z == 1", "P.x == 0")
FORMS = ("!({0})", "({0} & {1})", "({0} | {1})", "({0} -> {1})", "AG({0})", "EF({0})", "AF({0})", "EG({0})")
HOLE = "Q.z == 9"


def _around(random: Random, text: str, depth: int) -> str:
    """A formula that the text is in, once."""
    for _ in range(depth):
        both = [text, random.choice([*ATOMS, f"EF({random.choice(ATOMS)})"])]
        random.shuffle(both)
        form = random.choice(FORMS)
        text = form.format(*both) if "{1}" in form else form.format(text)
    return text


@pytest.mark.parametrize("seed", range(30 * CASES))
def test_a_part_is_told_if_and_only_if_it_may_be_anything(seed: int) -> None:
    random = Random(seed)
    formula = _around(random, HOLE, random.randint(1, 5))
    specification = read_specification(f"ctl it = {formula}")
    checker = Checker(trace(RUN), Options(vacuity=True))
    bound = checker.bound(specification.properties[0], specification)
    verdict = checker.verdict(specification.properties[0], bound)
    parts = checker.immaterial(bound, verdict, ())
    text = " and ".join(f"({formula.replace(HOLE, other)})" for other in ("true", "false"))
    both = check_trace(trace(RUN), read_specification(f"ctl it = {text.replace(' and ', ' & ')}"), Options())
    assert any(HOLE in unparse(part) for part in parts) == (both.verdicts[0].holds is True)
