"""Histories against their definition: real objects, all orders; the shortest prefix of all."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest

from possibly.detection.histories.linearize import linearized
from possibly.detection.histories.models import model_named
from possibly.detection.histories.search import Effort
from possibly.errors import TraceError
from possibly.trace.histories.model import History, Operation, Outcome
from possibly.trace.histories.read import read_history
from tests.detection.histories.objects import OBJECTS, history, is_linearizable

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 500 * MANY if MANY > 1 else 75


def model_of(name: str) -> str:
    return {"elements": "set"}.get(name, name)


def prefix_of(operations: tuple[Operation, ...], length: int) -> list[Operation]:
    return [
        each
        if each.returned is not None and each.returned < length
        else replace(each, outcome=Outcome.UNKNOWN, result=None, returned=None)
        for each in operations
        if each.called < length
    ]


@pytest.mark.parametrize("name", OBJECTS)
def test_the_answer_is_that_of_the_definition(name: str) -> None:
    random, seen = Random(f"histories of a {name}"), set()
    for _ in range(CASES):
        run = history(random, OBJECTS[name], keys=("k",))
        answer = linearized(run, model_named(model_of(name)))
        truth = is_linearizable(run.operations, OBJECTS[name])
        assert answer.holds is truth, run
        seen.add(truth)
        if answer.holds:
            ordered = [each for order in answer.orders.values() for each in order]
            assert is_linearizable(ordered, OBJECTS[name])
            assert {each for each in run if each.outcome is Outcome.OK} <= set(ordered)
    assert seen == {True, False}


@pytest.mark.parametrize("name", ["register", "kv", "queue", "counter"])
def test_the_prefix_is_the_shortest_of_all(name: str) -> None:
    random, count = Random(f"prefixes of a {name}"), 0
    for _ in range(CASES):
        run = history(random, OBJECTS[name], most=5, keys=("k",))
        prefix = linearized(run, model_named(name)).prefix
        if prefix is not None:
            count += 1
            bad = [
                n
                for n in range(run.length + 1)
                if not is_linearizable(prefix_of(run.operations, n), OBJECTS[name])
            ]
            assert prefix.length == bad[0], run
            assert prefix.stuck.returned == prefix.length - 1
            before = prefix_of(run.operations, prefix.length - 1)
            told = {each.called for each in prefix.reached}
            assert told >= {each.called for each in before if each.returned is not None}
            assert is_linearizable([each for each in before if each.called in told], OBJECTS[name])
    assert count > CASES // 20


def test_keys_decide_for_themselves() -> None:
    random, seen = Random("keys"), set()
    for _ in range(CASES):
        run = history(random, OBJECTS["kv"], keys=("x", "y"))
        answer = linearized(run, model_named("kv"))
        parts = {key: [each for each in run if each.key == key] for key in ("x", "y")}
        truth = all(is_linearizable(part, OBJECTS["kv"]) for part in parts.values())
        assert answer.holds is truth
        if answer.prefix is not None:
            bad = [
                n
                for n in range(run.length + 1)
                if not all(
                    is_linearizable(prefix_of(tuple(part), n), OBJECTS["kv"]) for part in parts.values()
                )
            ]
            assert answer.prefix.length == bad[0]
        seen.add(truth)
    assert seen == {True, False}


def jepsen(*lines: str) -> History:
    return read_history("\n".join(f"INFO  jepsen.util - {line}" for line in lines))


def test_true_is_not_one() -> None:
    run = jepsen("0 :invoke :write 1", "0 :ok :write 1", "0 :invoke :read nil", "0 :ok :read true")
    assert linearized(run, model_named("register")).holds is False


def test_a_failed_comparison_says_that_the_value_differed() -> None:
    lines = ["0 :invoke :write 1", "0 :ok :write 1", "0 :invoke :cas [1 2]"]
    assert linearized(jepsen(*lines, "0 :fail :cas [1 2]"), model_named("register")).holds is False
    assert linearized(jepsen(*lines, "0 :fail :cas [1 2] :refused"), model_named("register")).holds is True


def test_what_failed_did_not_happen() -> None:
    lines = ["0 :invoke :write 1", "0 :fail :write 1", "0 :invoke :read nil"]
    assert linearized(jepsen(*lines, "0 :ok :read nil"), model_named("register")).holds is True
    assert linearized(jepsen(*lines, "0 :ok :read 1"), model_named("register")).holds is False


def test_pairs_of_key_and_value_are_keys_where_reads_have_them_too() -> None:
    run = jepsen(
        "0 :invoke :write [7 1]", "0 :ok :write [7 1]", "0 :invoke :read [8 nil]", "0 :ok :read [8 nil]",
        "0 :invoke :read [7 nil]", "0 :ok :read [7 1]",
    )  # fmt: skip
    assert linearized(run, model_named("register")).holds is True
    assert linearized(run, model_named("kv")).holds is True


def test_an_operation_that_the_object_does_not_have_names_its_line() -> None:
    with pytest.raises(TraceError, match="no operation 'pop'") as error:
        linearized(jepsen("0 :invoke :pop nil", "0 :ok :pop nil"), model_named("queue"))
    assert error.value.line == 1


def overlapping_writes(count: int, read: int) -> History:
    calls = [f"{each} :invoke :write {each}" for each in range(count)]
    returns = [f"{each} :ok :write {each}" for each in range(count)]
    return jepsen(*calls, *returns, f"0 :invoke :read {read}", f"0 :ok :read {read}")


def test_many_operations_at_once_are_no_matter() -> None:
    assert linearized(overlapping_writes(400, 399), model_named("register"), Effort(5_000)).holds is True
    assert linearized(overlapping_writes(400, 3), model_named("register"), Effort(5_000)).holds is True


def test_hundreds_of_unknown_operations_are_no_matter() -> None:
    lines = [
        line for n in range(300) for line in (f"{n} :invoke :write {n % 3}", f"{n} :info :write {n % 3}")
    ]
    reads = [line for n in range(100) for line in ("r :invoke :read nil", f"r :ok :read {n % 3}")]
    assert linearized(jepsen(*lines, *reads), model_named("register"), Effort(5_000)).holds is True
    last = ("r :invoke :read nil", "r :ok :read 5")
    assert linearized(jepsen(*lines, *reads, *last), model_named("register"), Effort(50_000)).holds is False


def test_limits_leave_it_open_and_say_so() -> None:
    random = Random(5)
    lines = [f"{n} :invoke :enqueue {n}" for n in range(12)] + [f"{n} :ok :enqueue {n}" for n in range(12)]
    items = random.sample(range(12), 12)
    lines += [line for n in items[:-1] for line in ("d :invoke :dequeue nil", f"d :ok :dequeue {n}")]
    lines += ["d :invoke :dequeue nil", "d :ok :dequeue 99"]
    answer = linearized(jepsen(*lines), model_named("queue"), Effort(100))
    assert answer.holds is None
    assert answer.reason == "more than 100 configurations; raise --max-states"
