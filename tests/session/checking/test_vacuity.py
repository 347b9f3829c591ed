"""Left sides that are true in no order: told where slices know, and by all engines when asked for."""

from __future__ import annotations

import pytest

from possibly.logic.specification import read_specification
from possibly.session.checking.check import Options, check_trace
from possibly.trace.notation import trace

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
