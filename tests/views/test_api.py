from __future__ import annotations

from pathlib import Path

import pytest

import possibly
from possibly.trace.notation import trace

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "mutex" / "run.jsonl"
MUTEX = "AG(!(P1.critical & P2.critical))"


def test_the_names_of_the_contract() -> None:
    run = possibly.load(str(EXAMPLE), order="causal")
    assert run.processes == ("P1", "P2") and len(run) == 6
    verdict = possibly.check(run, ctl=MUTEX)
    assert verdict.holds is False
    assert verdict.witness is not None
    assert verdict.witness.path == ("f0", "f1", "e0", "e1", "e2")
    assert verdict.witness.cut == {"P1": 3, "P2": 2}
    assert repr(verdict) == "<ctl: violated>"


def test_dir_lists_the_names_of_the_interface_and_nothing_else() -> None:
    assert [name for name in dir(possibly) if not name.startswith("__")] == sorted(possibly.__all__)


def test_explain_tells_the_failing_order() -> None:
    text = possibly.check(possibly.load(EXAMPLE), ctl=MUTEX).explain()
    assert "it ends where !(P1.critical & P2.critical) is false" in text
    assert "Nothing orders f2" in text


def test_a_trace_made_in_memory_can_be_checked() -> None:
    assert possibly.check(trace("P(x=0): a{x=1}"), ltl="F(P.x == 1)").holds is True
    assert possibly.check(trace("P(x=0): a{x=1} | Q(x=0): b"), ctl="AG(P.x >= Q.x)", max_cuts=0).holds is None


@pytest.mark.parametrize("formulas", [{}, {"ctl": "EF(true)", "ltl": "F true"}, {"xtl": "x"}])
def test_check_takes_one_property(formulas: dict[str, str]) -> None:
    with pytest.raises(possibly.UsageError, match="check takes one property"):
        possibly.check(trace("P: a"), **formulas)  # type: ignore[arg-type]


def test_every_language_can_be_asked() -> None:
    run = trace("P(x=0): _{x=1}#a | Q: _#b")
    assert possibly.check(run, tl="t1:(x <= 1)").holds is True
    assert possibly.check(run, expect="a & b").holds is True
    assert possibly.check(run, never="a; b").holds is True
    assert possibly.check(run, never="a & b").holds is False
    assert "matched" in repr(possibly.check(run, watch="a & b"))


def test_errors_are_public() -> None:
    with pytest.raises(possibly.FormulaError):
        possibly.check(trace("P: a"), ctl="AG(")
    with pytest.raises(possibly.TraceError):
        possibly.load(Path(__file__))
    with pytest.raises(AttributeError):
        _ = possibly.nonsense
