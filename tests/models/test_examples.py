"""What the example models are examples of."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.temporal.model_system import ModelSystem
from possibly.control.temporal.stack import Outcome, TemporalStack
from possibly.models.reader import read_model

FOLDER = Path(__file__).parents[2] / "examples" / "models"

CLAIMS = [
    ("peterson.py", "F inside == 2", False),
    ("peterson.py", 'F(at(P0, "enter") & F at(P1, "enter"))', True),
    ("peterson.py", "F stuck", False),
    ("dekker.py", "F stuck", False),
    ("philosophers.py", "F stuck", True),
    ("philosophers.py", 'F(forall i in "Phil*": at(i, "left"))', True),
    ("philosophers.py", 'F(at(Phil0, "eat") & at(Phil1, "eat"))', False),
    ("philosophers.py", 'F(at(Phil0, "eat") & at(Phil2, "eat"))', True),
    ("philosophers-ordered.py", "F stuck", False),
    ("philosophers-ordered.py", "F inside(Phil1, take)", True),
    ("bounded-buffer.py", "F free < 0", False),
    ("bounded-buffer.py", "F filled == 3", True),
    ("bounded-buffer.py", 'F at(Consumer, "failed")', False),
    ("bounded-buffer.py", "F stuck", False),
    ("two-phase-commit.py", 'F(done[0] == "commit" & done[1] == "abort")', False),
    ("two-phase-commit.py", 'F(done[0] == "commit" & done[1] == "commit")', True),
    ("two-phase-commit.py", 'F(decision == "commit" & (Participant0.vote == false))', False),
    ("two-phase-commit.py", "F(done(Coordinator) & done(Participant0) & done(Participant1))", True),
    ("alternating-bit.py", 'F at(Receiver, "failed")', False),
    ("alternating-bit.py", "F(delivered == 3 & X F delivered == 1)", True),
    ("alternating-bit.py", "F(delivered == 1 & X(delivered != 2 U delivered == 3))", False),
]


@pytest.mark.parametrize(("name", "formula", "possible"), CLAIMS)
def test_what_can_happen_in_the_examples(name: str, formula: str, possible: bool) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    stack = TemporalStack(ModelSystem(read_model(text, name)))
    assert stack.step(formula).outcome is (Outcome.FOUND if possible else Outcome.NONE)
