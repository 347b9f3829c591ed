"""What keeps its value whatever arrives later."""

from __future__ import annotations

import pytest

from possibly.detection.online.final import is_final
from possibly.logic.bind import Vocabulary, bind
from possibly.logic.specification import property_from_text

FINAL = {
    ("EF(P.x == 1)", True): True, ("EF(P.x == 1)", False): False, ("AG(P.x == 1)", False): True,
    ("AG(P.x == 1)", True): False, ("!AG(P.x == 1)", True): True, ("EF(P.x == 1) & EF(P.x == 2)", True): True,
    ("AG(P.x == 1) -> EF(P.x == 2)", False): False, ("EF(done(P))", True): False, ("P.x == 1", False): True,
    ("EF(AG(P.x == 1))", True): False, ("EF(P.x == 1) <-> EF(P.x == 2)", True): False,
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), FINAL)
def test_final(text: str, value: bool) -> None:
    formula = property_from_text("ctl", text, "p").formula
    assert formula is not None
    words = Vocabulary(
        processes=("P",),
        locals={"P": frozenset({"x"})},
        shared=frozenset(),
        functions=frozenset(),
        labels=frozenset(),
    )
    bound = bind(formula, words).formula
    assert is_final(bound, value) == FINAL[text, value]
