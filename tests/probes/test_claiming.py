"""Claims without a listener do nothing; with one they are heard with their place."""

from __future__ import annotations

import subprocess
import sys
from types import FrameType

import pytest

from possibly.probes import claiming


def test_a_claim_that_nobody_hears_does_nothing_and_imports_nothing() -> None:
    code = (
        "import possibly, sys; possibly.claim('this is no formula G(')\n"
        "print(sorted(m for m in sys.modules if m.startswith('possibly')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['possibly', 'possibly.probes', 'possibly.probes.claiming']\n"


def test_the_public_name_is_found_once() -> None:
    import possibly

    assert possibly.claim is vars(possibly)["claim"]


def test_a_claim_is_heard_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, str]] = []

    def listen(formula: str, frame: FrameType) -> None:
        heard.append((formula, frame.f_code.co_name))

    monkeypatch.setattr(claiming, "heard", listen)
    claiming.claim("G(p)")
    assert heard == [("G(p)", "test_a_claim_is_heard_with_its_place")]


def test_a_predicate_stays_the_function_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claiming, "predicates", {})

    @claiming.predicate
    def empty(s: int) -> bool:
        return s == 0

    assert empty(0)
    assert claiming.predicates == {"empty": empty}
