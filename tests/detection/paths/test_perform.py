"""Actions: what they say, and who waits for whom."""

from __future__ import annotations

import pytest

from possibly.detection.limits import Budget
from possibly.errors import FormulaError
from possibly.logic.specification import Property, Specification, read_specification
from possibly.order.vocabulary import vocabulary
from possibly.session.checking.paths import PathChecker
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
    assert said == ("a: 1 1", "b: 2 2", "c: done"), "a variable of the debugger is 0 at first"
    counted = output("p: a#go b#on c#on", "go { n = 0 } + on { n = n + 1; print(n) }")
    assert counted == ("b: 1", "c: 2")


PAPER = "{ n = 0 }; E { n = n + 1 }*; X { n = n - 1 }*; { if(n != 0) error }"
"""Section 3: as many entries as exits."""


def test_the_counting_expression_of_section_3() -> None:
    # Of a chain E X, the sets {E} and {X} leave n at 1 and 0, and both together at 0.
    assert output("p: a#E b#X", PAPER) == ("a: error",)
    assert output("p: a#E b#E c#X", PAPER)[-1] == "c: error"


def test_an_action_before_the_first_event_is_performed_once() -> None:
    said = output("p: a#x b#x", "{ n = 10; print(n) }; x { n = n + 1; print(n) }")
    assert said == ("start: 10", "a: 11", "b: 12")
    with pytest.raises(FormulaError, match="break needs an event, and there is none before the first one"):
        watched("p: a#x", "{ break }; x")


@pytest.mark.parametrize(
    ("condition", "said"),
    [("n > 1", ("b: 2", "c: 3")), ("n = 2", ("b: 2",)), ("$1.pid == \"q\"", ()), ("nothing", ()),
     ("n ≠ 2 and (n ≥ 1)", ("a: 1", "c: 3"))],
)  # fmt: skip
def test_conditions_in_actions(condition: str, said: tuple[str, ...]) -> None:
    text = f"x {{ n = n + 1; if ({condition}) {{ print(n); m = n }} }}"
    assert output("p: a#x b#x c#x", text) == said


def test_names_that_nobody_sets_and_names_of_the_program_are_told() -> None:
    recorded = trace("p(k=0): a{k=1}#x")
    specification = read_specification(
        "watch one = x { k = k + 1; print(k, other, stranger) }\nwatch two = x { other = 1 }"
    )
    checker = PathChecker(recorded, "causal", vocabulary(recorded), specification)
    one, two = [checker.warnings(found, "auto") for found in specification.properties]
    assert one == (
        "one: no event and no action ever sets stranger, so it has no value in the action",
        "one: k is a variable of the program too; in actions it is the debugger's, which is 0 at first",
    )
    assert two == ()


def test_what_is_printed_may_look_like_anything() -> None:
    assert output("p: a#x", 'x { print("so: break") }') == ("a: so: break",)


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
