"""`forall key`: the conjunction of its instances, whichever way they are checked."""

from __future__ import annotations

import json
import os
from collections import Counter
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from possibly.errors import FormulaError
from possibly.logic.parser import parse
from possibly.logic.printer import unparse
from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options, check_trace
from possibly.session.watching.watch import WatchedRun
from possibly.trace import write_lines
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.verdict.model import Truth, Verdict

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


def answer(trace: Trace, language: str, text: str) -> Verdict:
    spec = Specification(properties=(property_from_text(language, text, "p"),))
    return check_trace(trace, spec, Options()).verdicts[0]


def orders(*steps: tuple[Any, str], first: dict[str, Any] | None = None) -> Trace:
    builder = TraceBuilder()
    builder.header([("orders", first or {}), ("other", {})], {})
    for key, state in steps:
        builder.add("orders", set={"id": key, "state": state})
        builder.add("other", set={"x": key})
    return builder.finish()


PAID = 'G(orders.id == k & orders.state == "new" -> F(orders.id == k & orders.state == "paid"))'


def test_the_report_says_for_which_keys() -> None:
    trace = orders((1, "new"), (2, "new"), (3, "new"), (2, "paid"))
    found = answer(trace, "ltl", f"forall key k in orders.id: {PAID}")
    assert found.truth is Truth.VIOLATED and found.engine == "keyed" and found.keys is not None
    assert (found.keys.key, found.keys.of, found.keys.violated, found.keys.values) == ("k", 3, 2, (1, 3))
    assert found.witness is not None and found.explanation is not None
    assert "orders.id == 1" in found.explanation.summary


def test_nothing_is_said_of_parts_that_are_another_one_for_each_key() -> None:
    trace = orders((1, "new"), (1, "paid"), (2, "new"), (2, "paid"))
    holds = Specification(properties=(property_from_text("ltl", f"forall key k in orders.id: {PAID}", "p"),))
    assert check_trace(trace, holds, Options(vacuity=True)).warnings == ()
    never = 'forall key k in orders.id: G(orders.state == "lost" -> F(orders.id == k))'
    spec = Specification(properties=(property_from_text("ltl", never, "p"),))
    (warning,) = check_trace(trace, spec, Options()).warnings
    assert 'orders.state == "lost" is true in no order' in warning


def test_no_key_is_no_violation() -> None:
    found = answer(
        orders(first={"id": None}), "ltl", f"forall key k in orders.id: {PAID}".replace("state", "id")
    )
    assert found.truth is Truth.HOLDS and found.keys is not None and found.keys.of == 1


def test_other_processes_are_checked_instance_by_instance() -> None:
    trace = orders((1, "new"), (2, "new"))
    text = "forall key k in orders.id: AG(!(orders.id == k & other.x == 1 & k == 2))"
    found = answer(trace, "ctl", text)
    assert found.truth is Truth.VIOLATED and found.engine != "keyed"
    assert found.keys is not None and found.keys.values == (2,)
    pattern = 'forall key k in "o*".x: EF(other.x == k)'
    assert answer(trace, "ctl", pattern).truth is Truth.HOLDS


def random_predicate(random: Random) -> str:
    guard = "orders.id == k"
    state = f'orders.state == "{random.choice("abc")}"'
    form = random.choice(
        ["{g} & {s}", "!({g} & {s})", "{g}", "{g} & !({s})", "!({g}) | {s}", "{s} & {g} & k != 1"]
    )
    return "(" + form.format(g=guard, s=state) + ")"


def random_body(random: Random, language: str, depth: int) -> str:
    if not depth or random.random() < 0.2:
        return random_predicate(random)
    first, second = (random_body(random, language, depth - 1) for _ in range(2))
    unary = {"ltl": ["G", "F"], "ctl": ["AG", "EF", "AF", "EG"]}[language]
    until = {"ltl": ["({} U {})", "({} R {})", "({} W {})"], "ctl": ["E[{} U {}]", "A[{} U {}]"]}[language]
    form = random.choice(
        [f"{each}({{}})" for each in unary] * 2 + until + ["({} -> {})", "({} & {})", "!({})"]
    )
    return form.format(first, second)


@pytest.mark.parametrize("language", ["ltl", "ctl"])
def test_both_ways_give_the_same(language: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(60 * MANY):
        random = Random(seed)
        steps = [(random.randint(1, 3), random.choice("abc")) for _ in range(random.randint(0, 6))]
        first = random.choice([None, {"id": 1, "state": "a"}, {"state": "b"}])
        trace = orders(*(steps or [(1, "a")]), first=first)
        text = f"forall key k in orders.id: {random_body(random, language, 2)}"
        fast = answer(trace, language, text)
        with patch("possibly.session.checking.keyed.ChainKeys.of", lambda *_: None):
            slow = answer(trace, language, text)
        assert fast.truth is slow.truth, (seed, text, steps)
        assert fast.keys == slow.keys, (seed, text, steps)
        seen[fast.truth.value] += fast.engine == "keyed"
    assert min(seen["holds"], seen["violated"]) > 5 * MANY, seen


def test_many_keys_need_one_pass() -> None:
    """The work is that of the states, not of the states for each key."""
    trace = orders(*[(number, state) for number in range(2000) for state in ("new", "paid")])
    found = answer(trace, "ltl", f"forall key k in orders.id: {PAID}")
    assert found.truth is Truth.HOLDS and found.keys is not None and found.keys.of == 2000
    assert found.seconds < 30


@pytest.mark.parametrize(
    "text, message",
    [
        ("forall key k in nobody.id: G(orders.id == k)", "no process is called nobody"),
        ("forall key k in orders.id: G(orders.nothing == k)", "no event ever sets"),
        ("G(forall key k in orders.id: F(orders.id == k))", "stands at the beginning"),
        ("exists key k in orders.id: F(orders.id == k)", "`forall` alone"),
        ("forall key k in turn: F(orders.id == k)", "a variable of a process"),
        ("forall key k orders.id: F(orders.id == k)", "`in`"),
    ],
)
def test_what_is_wrong_is_told(text: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        answer(orders((1, "new")), "ltl", text)


def test_lists_are_no_keys() -> None:
    with pytest.raises(FormulaError, match="lists or objects"):
        answer(orders(([1], "new")), "ltl", "forall key k in orders.id: F(orders.id == k)")


def test_it_is_printed_as_it_is_read() -> None:
    for text in ("forall key k in orders.id: G(orders.id == k)", 'forall key k in "o-*".id: F(x == k)'):
        node = parse(text, "ltl")
        assert parse(unparse(node), "ltl") == node
    assert unparse(parse('forall key in "P*": F(key.x == 1)', "ltl")).startswith("forall key in")


def watched(trace: Trace, language: str, text: str, *, keep: int = 0) -> tuple[WatchedRun, list[Truth]]:
    """The run line by line, and what its property was worth after each."""
    spec = Specification(properties=(property_from_text(language, text, "p"),))
    run = WatchedRun(spec, Options(), keep=keep)
    head, *lines = write_lines(trace)
    run.header(json.loads(head))
    run.begin()
    assert not list(run.not_followed())
    truths = []
    for line in lines:
        run.arrive(json.loads(line))
        truths.append(run.report(is_whole=False).verdicts[0].truth)
    return run, truths


@pytest.mark.parametrize("language", ["ltl", "ctl"])
def test_on_line_it_is_the_same_after_every_event(language: str) -> None:
    seen: Counter[Truth] = Counter()
    for seed in range(60 * MANY):
        random = Random(f"line {seed}")
        steps = [(random.randint(1, 3), random.choice("abc")) for _ in range(random.randint(1, 6))]
        first = random.choice([None, {"id": 1, "state": "a"}, {"state": "b"}])
        text = f"forall key k in orders.id: {random_body(random, language, 2)}"
        _, truths = watched(orders(*steps, first=first), language, text)
        for number in range(1, len(steps) + 1):
            wanted = answer(orders(*steps[:number], first=first), language, text).truth
            assert truths[2 * number - 1] is wanted, (seed, text, steps[:number], first)
            seen[wanted] += 1
    assert min(seen[Truth.HOLDS], seen[Truth.VIOLATED]) > 20 * MANY, seen


def test_values_that_wait_for_nothing_are_forgotten() -> None:
    run, truths = watched(
        orders(*[(number, state) for number in range(500) for state in ("new", "paid")]),
        "ltl",
        f"forall key k in orders.id: {PAID}",
    )
    assert truths[-1] is Truth.HOLDS
    assert run._watched[0].monitor is not None and run._watched[0].monitor.size <= 1


def test_on_line_the_values_are_told() -> None:
    text = f"forall key k in orders.id: {PAID}"
    run, _ = watched(orders((1, "new"), (2, "new"), (2, "paid"), (3, "new")), "ltl", text)
    keys = run.report(is_whole=True).verdicts[0].keys
    assert keys is not None and (keys.of, keys.violated, keys.values) == (None, 2, (1, 3))
    never = 'forall key k in orders.id: G(orders.id == k -> orders.state != "lost")'
    run, _ = watched(orders((1, "new"), (7, "lost"), (8, "lost")), "ltl", never)
    verdict = run.report(is_whole=True).verdicts[0]
    assert verdict.keys is not None and verdict.keys.values == (7,)
    (final, moment) = run.moments()["p"]
    assert final and moment is not None and moment.event == "orders:2"
