"""A branching formula that is linear holds of the cut iff the linear one holds of every path, or of some."""

from __future__ import annotations

import pytest

from possibly.logic.ltl.from_branching import of_every_path, of_some_path
from possibly.logic.printer import unparse
from possibly.logic.specification import property_from_text

EVERY = {
    "AG(x == 1)": "G(x == 1)", "AF(AG(x == 1))": None, "AG(AF(x == 1))": "G F(x == 1)",
    "A[x == 1 U x == 2]": "x == 1 U x == 2", "!EF(x == 1)": "!F(x == 1)", "EF(x == 1)": None,
    "AG(x == 1 -> AF(x == 2))": "G(x == 1 -> F(x == 2))", "AG(x == 1) & AF(x == 2)": "G(x == 1) & F(x == 2)",
    "AG(x == 1) | AF(x == 2)": None, "AG(x == 1) | x == 2": "G(x == 1) | x == 2",
}  # fmt: skip


@pytest.mark.parametrize("text", EVERY)
def test_of_every_path(text: str) -> None:
    formula = property_from_text("ctl", text, "p").formula
    assert formula is not None
    found = of_every_path(formula)
    assert (None if found is None else unparse(found)) == EVERY[text]


def test_of_some_path_is_its_mirror() -> None:
    for text, expected in (
        ("EF(x == 1)", "F(x == 1)"),
        ("EG(EF(x == 1))", None),
        ("EF(EG(x == 1))", "F G(x == 1)"),
        ("AG(x == 1)", None),
    ):
        formula = property_from_text("ctl", text, "p").formula
        assert formula is not None
        found = of_some_path(formula)
        assert (None if found is None else unparse(found)) == expected
