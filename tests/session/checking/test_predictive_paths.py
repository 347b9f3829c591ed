"""Path expressions in `--order predictive`, against every order that synchronisation allows, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking import predictive
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.edit import in_order
from possibly.trace.model import Trace
from possibly.verdict.model import Truth, Verdict
from tests.sampling import FACTOR, sampled
from tests.session.checking.test_predictive import predicted, runs, states

TEXTS = (
    "a; b", "a & b", "(a; b)*", "a*; b", "(a + b)*", "a@; b", "(a; b)@", "(a & b)*", "a* & b*", "b; (a & c)",
    "(a; c)* & b@", "(a@; b)@", "c; a; b", "(a + b); c*", "a(X); b(X)", "(a(X); b(X))@",
)  # fmt: skip
CASES = sampled(24)
BATCHES = range(25 if FACTOR > 1 else 1)


def labelled_trace(random: Random) -> Trace:
    """Two or three processes; some events have a name, some read or write, some wait for another process."""
    builder = TraceBuilder()
    names = ["P", "Q", "R"][: random.randint(2, 3)]
    builder.header(processes=[(name, {}) for name in names], shared={"x": 0, "y": 0})
    counts = dict.fromkeys(names, 0)
    for _ in range(random.randint(3, 6)):
        name = random.choice(names)
        fields: dict[str, Any] = {
            "p": name,
            "label": random.choice(["a", "b", "c", None]),
            "tag": random.choice("ml"),
        }
        match random.choice(["write", "read", "read", "both", "neither"]):
            case "write":
                fields["write"] = {random.choice("xy"): random.randint(0, 1)}
            case "read":
                fields["read"] = [random.choice("xy")]
            case "both":
                fields |= {"read": ["x"], "write": {random.choice("xy"): random.randint(0, 1)}}
        other = random.choice(names)
        if other != name and counts[other] and random.random() < 0.3:
            fields["after"] = [f"{other}:{counts[other]}"]
        builder.add_fields({key: value for key, value in fields.items() if value is not None})
        counts[name] += 1
    return builder.finish()


def shown(trace: Trace, language: str, text: str) -> Iterator[bool]:
    """For each way in which some order violates it, whether nobody notices a difference up to there."""
    specification = Specification(properties=(property_from_text(language, text, "it"),))
    for order in runs(trace):
        verdict = check_trace(in_order(trace, order), specification, Options(explain=False)).verdicts[0]
        if verdict.truth is not Truth.VIOLATED:
            continue
        assert verdict.path is not None
        place = {trace.name(event): number for number, event in enumerate(order, start=1)}
        is_same = [same for _, same in states(trace, order)]
        ends = [max(place[name] for name in match) for match in verdict.path.matches or ()]
        if language == "expect":
            ends = [place[verdict.path.event] if verdict.path.event else len(order)]
        yield from (is_same[end] for end in ends)


@pytest.mark.parametrize("batch", BATCHES)
def test_as_in_each_order(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictive, "MOST_ORDERS", 1)  # the walk alone decides
    random, kinds = Random(f"paths {batch}"), set()
    for _ in range(CASES):
        trace, language, text = holding(random)
        ways = list(shown(trace, language, text))
        found = predicted(trace, text, language)
        assert found.truth is (Truth.VIOLATED if ways else Truth.HOLDS), (language, text)
        assert not ways or found.candidate is not any(ways), (language, text)
        kinds.add((language, found.truth, found.candidate))
    assert FACTOR == 1 or len(kinds) == 6


def holding(random: Random) -> tuple[Trace, str, str]:
    """A trace and what holds in its recorded order."""
    while True:
        trace, language, text = (
            labelled_trace(random),
            random.choice(["expect", "never"]),
            random.choice(TEXTS),
        )
        specification = Specification(properties=(property_from_text(language, text, "it"),))
        if check_trace(trace, specification, Options(explain=False)).verdicts[0].truth is Truth.HOLDS:
            return trace, language, text


def writers(count: int, rounds: int) -> Trace:
    """Processes that write one variable in turns, more orders than anybody can try; the first one begins."""
    builder = TraceBuilder()
    builder.header(processes=[(f"P{number}", {}) for number in range(count)], shared={"x": 0})
    for turn in range(rounds):
        for number in range(count):
            label = {(0, 0): "open", (rounds - 1, count - 1): "close"}.get((turn, number))
            builder.add(f"P{number}", write={"x": number}, label=label)
    return builder.finish()


def test_orders_without_number_are_decided_at_once() -> None:
    """Ten writes in each of three processes have 5,550,996,791,340 orders."""
    trace = writers(3, 10)
    assert predicted(trace, "open; close", "expect").truth is Truth.VIOLATED
    assert predicted(trace, "open & close", "never").truth is Truth.HOLDS, "one comes first in each order"
    other = predicted(trace, "close; open", "never")
    assert (other.truth, other.candidate) == (Truth.VIOLATED, False), "nobody reads what is written"


def first_match(verdict: Verdict) -> tuple[str, ...]:
    assert verdict.path is not None and verdict.path.matches
    return tuple(verdict.path.matches[0])


def test_what_is_certain_is_told_first() -> None:
    """Q does b before a unnoticed; that R does so is noticed, as it reads what P writes."""
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {}), ("R", {})], shared={"x": 0, "y": 0})
    builder.add_fields({"p": "P", "label": "a", "write": {"x": 1, "y": 1}})
    builder.add_fields({"p": "R", "read": ["x"], "label": "b"})
    builder.add_fields({"p": "Q", "write": {"y": 2}, "label": "b"})
    found = predicted(builder.finish(), "b; a", "never")
    assert (found.truth, found.candidate, first_match(found)) == (Truth.VIOLATED, False, ("Q:1", "P:1"))
