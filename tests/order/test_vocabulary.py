"""What formulas may speak of: all that a run has set, called or labelled."""

from __future__ import annotations

from possibly.order.vocabulary import vocabulary
from possibly.trace.notation import trace


def test_names_of_a_run() -> None:
    found = vocabulary(trace('shared(turn=0) p(x=0): {y=1} w(other=1) a#m1 enter(f) exit(f) | "q r": {z=2}'))
    assert found.processes == ("p", "q r")
    assert found.locals == {"p": {"x", "y"}, "q r": {"z"}}
    assert found.shared == {"turn", "other"}
    assert found.functions == {"f"} and found.labels == {"m1"} and found.remedy == ""


def test_an_empty_run_has_nothing() -> None:
    found = vocabulary(trace("p:"))
    assert (
        found.shared == frozenset() and found.functions == frozenset() and found.locals == {"p": frozenset()}
    )
