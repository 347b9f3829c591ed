"""Actions: what they say, and who waits for whom."""

from __future__ import annotations

import pytest

from possibly.detection.limits import Budget
from possibly.errors import FormulaError
from possibly.logic.specification import Property, Specification, read_specification
from possibly.order.vocabulary import vocabulary
from possibly.session.paths import PathChecker
from possibly.trace.notation import trace
from possibly.verdict.model import Truth, Verdict


def watched(run: str, text: str, **functions: object) -> Verdict:
    recorded = trace(run)
    checker = PathChecker(recorded, "causal", vocabulary(recorded), Specification(), functions)  # type: ignore[arg-type]
    found = Property("w", "watch", text, None, "s")
    checker.warnings(found, "auto")
    return checker.verdict(found, Budget())


def output(run: str, text: str, **functions: object) -> tuple[str, ...]:
    verdict = watched(run, text, **functions)
    assert verdict.path is not None
    return verdict.path.output


def test_an_action_of_an_event_is_performed_once_for_it() -> None:
    said = output("p(x=0): a{x=1} b{x=2} c#end", '[x\'] { n = n + 1; print(n, x) } ; end { print("done") }')
    # n has no value at first; what cannot be computed has none either.
    assert said == ("a: (no value) 1", "b: (no value) 2", "c: done")
    counted = output("p: a#go b#on c#on", "go { n = 0 } + on { n = n + 1; print(n) }")
    assert counted == ("b: 1", "c: 2")


def test_the_last_action_is_performed_for_every_occurrence() -> None:
    assert output("p: a#x | q: b#y c#y", "x & y { print($1.name, $2.name); break }") == (
        "b: a b", "b: break", "c: a c", "c: break",
    )  # fmt: skip


def test_facts_of_events_and_variables() -> None:
    said = output(
        'p: send(m)@"f.py:3" | q: recv(m)', "send(M); receive(M) { print(M, $1.pid, $2.pid, $1.at) }"
    )
    assert said == ("q:1: m p q f.py:3",)


def test_a_circular_wait_is_told() -> None:
    text = (
        "request(X) { wait_for($1.pid, X); check_deadlock() } "
        "+ acquire(X) { release($2.pid, X); hold($2.pid, X) }"
    )
    assert output("p: acquire(a) request(b) | q: acquire(b) request(a)", text) == (
        "q:2: deadlock: p waits for b held by q, q waits for a held by p",
    )
    assert output("p: acquire(a) request(b) | q: acquire(c) request(a)", text) == ()


def test_registered_functions() -> None:
    called: list[object] = []
    verdict = watched("p: a#x", "x { tell($1.name) }", tell=called.append)
    assert called == ["a"]
    assert verdict.truth is Truth.MATCHED


@pytest.mark.parametrize(
    ("text", "message"),
    [("a { prin(1) }", "unknown function `prin` in an action \\(did you mean print"),
     ("a { hold(1) }", "hold takes 2 values, not 1")],
)  # fmt: skip
def test_unknown_functions(text: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        watched("p: a", text)


def test_watches_share_one_debugger() -> None:
    """Section 5.2: one expression says who holds what, the other one who waits and looks for a cycle."""
    recorded = trace("p: acquire(a) request(b) | q: acquire(b) request(a)")
    lines = [
        "watch holds = acquire(X) { hold($1.pid, X) }",
        "watch waits = request(X) { wait_for($1.pid, X); check_deadlock() }",
    ]
    specification = read_specification("\n".join(lines))
    checker = PathChecker(recorded, "causal", vocabulary(recorded), specification)
    holds, waits = [checker.verdict(found, Budget()).path for found in specification.properties]
    assert holds is not None and holds.output == ()
    assert waits is not None
    assert waits.output == ("q:2: deadlock: p waits for b held by q, q waits for a held by p",)
