"""`--order predictive` against every order that synchronisation allows, one by one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.prediction.orders import Orders, TooManyError, is_unnoticed
from possibly.logic.parser import parse
from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options
from possibly.session.checking.predictive import check_predictive
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.verdict.model import Truth, Verdict
from possibly.views.cli.main import main
from tests.logic.ltl.test_progression import holds

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 50 * MANY if MANY > 1 else 60
BATCHES = range(10 if MANY > 1 else 1)


def predicted(trace: Trace, formula: str, language: str = "ctl") -> Verdict:
    specification = Specification(properties=(property_from_text(language, formula, "it"),))
    return check_predictive(trace, specification, Options(explain=False)).verdicts[0]


def random_trace(random: Random) -> Trace:
    """Two or three processes that read and write two variables; now and then one waits for another."""
    builder = TraceBuilder()
    names = ["P", "Q", "R"][: random.randint(2, 3)]
    builder.header(processes=[(name, {}) for name in names], shared={"x": 0, "y": 0})
    counts = dict.fromkeys(names, 0)
    for _ in range(random.randint(3, 6)):
        name = random.choice(names)
        fields: dict[str, Any] = {"p": name}
        variable = random.choice("xy")
        if random.random() < 0.6:
            fields["write"] = {variable: random.randint(0, 2)}
        else:
            fields["read"] = [variable]
        other = random.choice(names)
        if other != name and counts[other] and random.random() < 0.3:
            fields["after"] = [f"{other}:{counts[other]}"]
        builder.add_fields(fields)
        counts[name] += 1
    return builder.finish()


def runs(trace: Trace, done: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """All orders that processes and `after` allow."""
    if len(done) == len(trace):
        yield done
    for event in range(len(trace)):
        if event not in done:
            chain = trace.events_of[trace.process[event]]
            before = {*chain[: trace.position[event] - 1], *trace.after(event)}
            if before <= set(done):
                yield from runs(trace, (*done, event))


def states(trace: Trace, order: tuple[int, ...]) -> Iterator[tuple[dict[str, Any], bool]]:
    """The values after each event, and whether all reads so far saw what they saw in the recorded order."""
    recorded = sights(trace, tuple(range(len(trace))))
    seen = sights(trace, order)
    values, is_same = dict(trace.shared), True
    yield dict(values), True
    for event in order:
        is_same = is_same and all(seen[event, name] == recorded[event, name] for name in trace.reads(event))
        values.update(trace.writes(event))
        yield dict(values), is_same


def sights(trace: Trace, order: tuple[int, ...]) -> dict[tuple[int, str], Any]:
    values, found = dict(trace.shared), {}
    for event in order:
        found.update({(event, name): values[name] for name in trace.reads(event)})
        values.update(trace.writes(event))
    return found


@pytest.mark.parametrize("batch", BATCHES)
def test_all_orders_and_no_others(batch: int) -> None:
    random, kinds = Random(f"predictive {batch}"), set()
    for _ in range(CASES):
        trace, x, y = random_trace(random), random.randint(0, 2), random.randint(0, 2)
        reached = [
            is_same
            for order in runs(trace)
            for values, is_same in states(trace, order)
            if values == {"x": x, "y": y}
        ]
        never = predicted(trace, f"AG(!(x == {x} & y == {y}))")
        some = predicted(trace, f"EF(x == {x} & y == {y})")
        assert (never.truth is Truth.VIOLATED) is bool(reached)
        assert (some.truth is Truth.HOLDS) is bool(reached)
        if reached and not never.candidate:
            assert any(reached), "a certain violation is one that nobody notices"
        assert not never.candidate or not any(reached), "and what nobody notices is certain"
        kinds.add((never.truth, never.candidate))
    assert kinds >= {(Truth.HOLDS, False), (Truth.VIOLATED, False)}


def lost_update() -> Trace:
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})], shared={"x": 0})
    for process, value in (("P", 1), ("Q", 2)):
        builder.add_fields({"p": process, "read": ["x"]})
        builder.add_fields({"p": process, "write": {"x": value}})
    return builder.finish()


def test_a_lost_update_is_a_candidate() -> None:
    found = predicted(lost_update(), "AG(done(P) & done(Q) -> x == 2)")
    assert (found.truth, found.candidate) == (Truth.VIOLATED, True)
    assert predicted(lost_update(), "G(done(P) & done(Q) -> x == 2)", "ltl").candidate


def test_values_that_stand_for_objects_are_not_alike() -> None:
    """Q reads what P wrote; in the other order what R wrote, which is told by the same words."""

    def is_alike(value: object, **header: Any) -> bool:
        builder = TraceBuilder()
        builder.header(processes=[("P", {}), ("Q", {}), ("R", {})], shared={"x": 0}, extra=header)
        builder.add_fields({"p": "P", "write": {"x": value}})
        builder.add_fields({"p": "Q", "read": ["x"]})
        builder.add_fields({"p": "R", "write": {"x": value}})
        return is_unnoticed(builder.finish(), (0, 2, 1))

    assert is_alike(5)
    assert not is_alike("<object>")
    assert not is_alike(None)
    assert not is_alike(5, recorded={"functions": [], "for_order": ["x"]})


def test_formulas_of_all_and_of_some_paths_are_left_open() -> None:
    found = predicted(lost_update(), "AG(EF(x == 2))")
    assert found.truth is Truth.UNKNOWN
    assert "of all paths and of some" in (found.reason or "")


def test_orders_without_number_are_walked_together() -> None:
    """Eight writers have 40,320 orders, and come to 256 cuts."""
    never = predicted(writers_of_one(8), "AG(x <= 1)")
    assert (never.truth, never.reason) == (Truth.HOLDS, None)
    assert predicted(writers_of_one(8), "G(x == 1 -> G(x == 1))", "ltl").truth is Truth.HOLDS
    assert predicted(writers_of_one(8), "F(G(x == 0))", "ltl").truth is Truth.VIOLATED


def writers_of_one(count: int) -> Trace:
    builder = TraceBuilder()
    names = [f"P{number}" for number in range(count)]
    builder.header(processes=[(name, {}) for name in names], shared={"x": 0})
    for name in names:
        builder.add_fields({"p": name, "write": {"x": 1}})
    return builder.finish()


def test_what_is_too_much_for_all_ways_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.detection.prediction.walks.MOST_NODES", 100)
    found = predicted(writers_of_one(8), "AG(x <= 1)")
    assert found.truth is Truth.UNKNOWN
    assert "more orders of racing accesses than the 300 tried" in (found.reason or "")


FORMULAS = (
    "G(x == 1 -> F y == 1)",
    "(y == 0) U (x == 2)",
    "F(x == 1 & X(y == 1))",
    "G(x == 2 -> O y == 1)",
    "(x == 0) W (y == 2)",
)


@pytest.mark.parametrize("is_small", [False, True])
def test_linear_formulas_in_all_orders(is_small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By definition, order by order; also where no walk is finished, by slices and by orders."""
    if is_small:
        monkeypatch.setattr("possibly.detection.prediction.walks.MOST_NODES", 2)
    random, kinds = Random("linear"), set()
    for number in range(CASES // 3):
        trace, text = random_trace(random), FORMULAS[number % len(FORMULAS)]
        orders = list(runs(trace))
        broken = [order for order in orders if not is_true_of(trace, order, text)]
        found = predicted(trace, text, "ltl")
        assert found.truth is (Truth.VIOLATED if broken else Truth.HOLDS)
        unnoticed = [order for order in broken if is_unnoticed(trace, order)]
        assert not found.candidate or not unnoticed, "what nobody notices is certain"
        kinds.add((found.truth, found.candidate))
    assert kinds >= {(Truth.HOLDS, False), (Truth.VIOLATED, False)}


def is_true_of(trace: Trace, order: tuple[int, ...], text: str) -> bool:
    """The clauses on the values along the order."""
    named = text
    for name in "xy":
        for value in "012":
            named = named.replace(f"{name} == {value}", f"({name}{value})")
    letters = [
        frozenset(f"{name}{values[name]}" for name in "xy" if values[name] is not None)
        for values, _ in states(trace, order)
    ]
    return holds(letters, parse(named, "ltl"))


def test_what_must_not_come_together_in_any_order() -> None:
    """`never` and `expect` speak of the order of events, which other orders of accesses change."""
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})], shared={"x": 0})
    builder.add_fields({"p": "P", "write": {"x": 1}, "label": "a"})
    builder.add_fields({"p": "Q", "read": ["x"], "label": "c"})
    trace = builder.finish()
    after = predicted(trace, "c; a", "never")
    assert (after.truth, after.candidate) == (Truth.VIOLATED, True), "Q reads another value then"
    assert predicted(trace, "a; c", "expect").truth is Truth.VIOLATED
    assert predicted(trace, "a & c", "never").truth is Truth.HOLDS, "one of them comes first in each order"


def test_what_nobody_notices_is_certain_though_there_are_too_many_orders() -> None:
    """Eight writers of their own values: two flags are up together only in an order that was not seen."""
    builder = TraceBuilder()
    names = [f"P{number}" for number in range(8)]
    builder.header(processes=[(name, {}) for name in names], shared={"a": 0, "b": 0})
    for number, name in enumerate(names):
        builder.add_fields({"p": name, "write": {"ab"[number % 2]: number + 1}})
        builder.add_fields({"p": name, "write": {"ab"[number % 2]: 0}})
    found = predicted(builder.finish(), "AG(!(a == 1 & b == 8))")
    assert (found.truth, found.candidate) == (Truth.VIOLATED, False)
    assert found.witness is not None and len(found.witness.path) >= 2
    assert predicted(builder.finish(), "EF(a == 1 & b == 8)").truth is Truth.HOLDS


def test_the_time_limit_is_that_of_all_orders_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.session.checking.predictive._left", lambda *_: Budget(timeout=0.0))
    specification = Specification(properties=(property_from_text("ctl", "AG(x <= 1)", "it"),))
    options = Options(explain=False, timeout=60)
    found = check_predictive(writers_of_one(11), specification, options).verdicts[0]
    assert found.truth is Truth.UNKNOWN and found.raced == ()
    assert found.reason == "not all orders of racing accesses were tried within 60 s; raise --timeout"


def test_orders_of_a_long_run_are_looked_for_within_the_time() -> None:
    """Each order asks what lies between two accesses: too much for a run of thousands of events."""
    builder = TraceBuilder()
    names = [f"P{number}" for number in range(4)]
    builder.header(processes=[(name, {}) for name in names], shared={"x": 0})
    for number in range(4_000):
        fields: dict[str, Any] = {"write": {"x": number % 3}} if number % 50 == 0 else {}
        builder.add_fields({"p": names[number % 4], **fields})
    trace = builder.finish()
    with pytest.raises(TooManyError):
        Orders(trace)

    def spent() -> None:
        raise LimitReachedError("no time is left")

    with pytest.raises(LimitReachedError):
        Orders(lost_update(), spent)
    budget = Budget(timeout=10.0)
    assert budget.left is not None and 0 < budget.left <= 10 and budget.seconds >= 0
    assert Budget().left is None


def test_the_bank_loses_money(capsys: Any) -> None:
    folder = Path(__file__).parents[3] / "examples" / "bank"
    words = [str(folder / "run.jsonl"), "--spec", str(folder / "bank.spec"), "--only", "nothing_lost"]
    assert main(["check", *words]) == 0
    capsys.readouterr()
    assert main(["check", *words, "--order", "predictive", "--json"]) == 1
    assert '"candidate": true' in capsys.readouterr().out.replace('":true', '": true')


@pytest.mark.alone
def test_the_live_bank_loses_it_too(tmp_path: Path, capsys: Any) -> None:
    folder = Path(__file__).parents[3] / "examples" / "bank"
    words = ["confirm", "--order", "predictive", "--spec", str(folder / "bank.spec"), "--json"]
    words += ["--output", str(tmp_path / "bank.schedule"), str(folder / "run.jsonl"), "nothing_lost"]
    assert main([*words, str(folder / "wrong.py")]) == 1
    assert '"confirmation": "confirmed"' in capsys.readouterr().out
