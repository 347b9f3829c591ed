"""A small run and answers on it, made by hand, for the tests of the views."""

from __future__ import annotations

from possibly.records import replace
from possibly.trace import Trace, TraceBuilder
from possibly.verdict.model import (
    Atom,
    Change,
    Explanation,
    MissingOrder,
    Report,
    Step,
    Truth,
    Verdict,
    Witness,
)


def mutex_trace() -> Trace:
    """Two processes enter their critical sections; only a message from P1 to P2 orders them a little."""
    builder = TraceBuilder("run.jsonl")
    builder.header([("P1", {"cs": False}), ("P2", {"cs": False})], {"turn": 0})
    builder.add("P1", kind="send", msg="m1", to="P2", at="peer.py:3")
    builder.add("P1", set={"cs": True}, at="peer.py:4", label="enter")
    builder.add("P1", set={"cs": False}, at="peer.py:6")
    builder.add("P2", kind="receive", msg="m1", at="peer.py:9")
    builder.add("P2", set={"cs": True}, at="peer.py:10", label="enter")
    return builder.finish()


STEPS = (
    Step("P1:1", "P1", "send", "peer.py:3", message="m1 to P2"),
    Step("P1:2", "P1", "internal", "peer.py:4", label="enter", changes=(Change("P1.cs", False, True),)),
    Step("P2:1", "P2", "receive", "peer.py:9", message="m1 from P1"),
    Step("P2:2", "P2", "internal", "peer.py:10", label="enter", changes=(Change("P2.cs", False, True),)),
)
LEAVING = Step("P1:3", "P1", "internal", "peer.py:6", changes=(Change("P1.cs", True, False),))

EXPLANATION = Explanation(
    summary="it ends where P1.cs & P2.cs is true",
    steps=STEPS,
    state={"turn": 0, "P1.cs": True, "P2.cs": True},
    atoms=(Atom("P1.cs", True, {"P1.cs": True}), Atom("P2.cs", True, {"P2.cs": True})),
    missing=MissingOrder(LEAVING, STEPS[3], suffices=True),
)

VIOLATED = Verdict(
    name="mutex",
    language="ctl",
    formula="AG(!(P1.cs & P2.cs))",
    truth=Truth.VIOLATED,
    predicate_class="conjunctive",
    engine="exhaustive",
    seconds=0.01,
    cuts=7,
    observed=True,
    witness=Witness({"P1": 2, "P2": 2}, tuple(step.event for step in STEPS)),
    explanation=EXPLANATION,
)
HOLDS = Verdict("safe", "ltl", "G(turn == 0)", Truth.HOLDS, observed=True)
UNKNOWN = Verdict(
    "slow",
    "ctl",
    "AF(P1.cs)",
    Truth.UNKNOWN,
    observed=True,
    reason="1,000 cuts were visited; raise --max-cuts.",
)


def report_of(*verdicts: Verdict, warnings: tuple[str, ...] = ()) -> Report:
    return Report("run.jsonl", 2, 5, verdicts, warnings)


def explained(explanation: Explanation, **changes: object) -> Verdict:
    return replace(VIOLATED, explanation=explanation, **changes)
