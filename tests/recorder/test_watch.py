"""What a specification speaks of is watched, each word as all that it may be."""

from __future__ import annotations

from possibly.logic.specification import read_specification
from possibly.probes.watching.candidates import Candidates
from possibly.recorder.watch import ALL, MOST_CALLS, NAMED, SYNC, USUAL, watched


def test_a_name_that_is_asked_for() -> None:
    found = watched(None, ["x", "bank.total", "Account.balance[0]"], ["bank.add", "f"])
    assert (
        found.names == {"x"}
        and found.members == {"x", "total", "balance"}
        and found.functions == {"add", "f"}
    )


def test_synchronisation_alone() -> None:
    assert watched(read_specification("ctl p = AG(x > 0)"), ["y"], ["f"], record=SYNC).is_empty()


def test_how_much_is_recorded() -> None:
    assert watched(None, record=ALL).everything and watched(None, record=ALL).every_call
    usual = watched(None, record=USUAL, shared=Candidates(frozenset("x"), frozenset("y")))
    assert usual.every_call and usual.most_calls == MOST_CALLS and usual.unasked == ("x", "y")
    assert watched(None, record=NAMED).is_empty()


def test_each_language_is_read() -> None:
    found = watched(read_specification(
        "ltl a = G(P.count > 0)\nexpect b = open(v); close\ntl c = not t1:(in.f) if t1 == t1\n"
        "ctl d = forall i in \"P*\": AG(i.ready)\n"
    ))  # fmt: skip
    assert {"count", "ready"} <= found.members and {"open", "close", "f"} <= found.functions
    assert "open" in found.arguments and "i" not in found.names
