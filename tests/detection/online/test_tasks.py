"""Task formulas that are followed event by event, against their definition on generated nets.

`POSSIBLY_CASES` multiplies the number of cases.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from possibly.detection.limits import Budget
from possibly.detection.online.monitor import open_vocabulary
from possibly.detection.online.tasks import TaskMonitor
from possibly.detection.tasks.check import check_tasks
from possibly.errors import FormulaError
from possibly.logic.specification import read_specification
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.parser import parse_tasks
from possibly.order.growing.computation import Growing
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.session.checking.check import Options
from possibly.session.watching.watch import WatchedRun
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.detection.online.arrivals import lines_of
from tests.detection.tasks.reference import Tasks, random_net, random_task_formula

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


def monitor(growing: Growing, text: str) -> TaskMonitor:
    return TaskMonitor(growing, bind_tasks(parse_tasks(text), open_vocabulary(growing)).formula)


def growing_of(trace: Trace, order: str = "sync") -> Growing:
    declared = [(each.name, each.init) for each in trace.processes if each.declared]
    return Growing(declared, trace.shared, order)


@pytest.mark.parametrize("batch", range(4))
def test_the_answer_is_that_of_the_definition(batch: int) -> None:
    answers = []
    for seed in range(batch * 150 * MANY, (batch + 1) * 150 * MANY):
        random = Random(seed)
        trace = random_net(random, random.randint(1, 8))
        formula = random_task_formula(random, trace, 2, ("not", "and", "or", "implies"))
        growing = growing_of(trace)
        try:
            found = monitor(growing, formula.text)
        except FormulaError:
            continue
        lines = lines_of(trace, random)
        random.shuffle(lines)
        for line in lines:
            growing.arrive(line)
        growing.finish()
        if found.lost is None:
            expected = not Tasks(trace).failing(formula)
            assert found.standing.value == expected, (seed, formula.text)
            answers.append(expected)
    assert {True, False} == set(answers)


def calls(random: Random) -> Trace:
    """Tasks with a local of f, told as a recorder does, in nested calls of f and g."""
    builder = TraceBuilder()
    builder.header(processes=[("A", {}), ("B", {})])
    stacks: dict[str, list[str]] = {"A": [], "B": []}
    for _ in range(random.randint(4, 14)):
        task = random.choice("AB")
        stack = stacks[task]
        match random.choice(["enter", "enter", "exit", "set", "set", "go"]):
            case "enter":
                stack.append(random.choice("ffg"))
                builder.add(task, kind="enter", fn=stack[-1])
            case "exit" if stack:
                builder.add(task, kind="exit", fn=stack.pop())
            case "set" if stack and stack[-1] == "f":
                value = random.randint(0, 2)
                builder.add(task, set={"x": value, "f.x": value})
            case _:
                builder.add(task)
    return builder.finish()


FORMULAS = ("not (t1:(x == 1) and t2:(x == 2)) if t1 != t2", "t1:(x == 1) implies t1:(in.f)", "t1:(x < 2)")


@pytest.mark.parametrize("text", FORMULAS)
def test_locals_of_calls_begin_and_end_with_them(text: str) -> None:
    for seed in range(60 * MANY):
        random = Random(seed)
        trace = calls(random)
        if not any(list(trace.sets(event)) for event in range(len(trace))):
            continue
        growing = growing_of(trace)
        found = monitor(growing, text)
        for line in lines_of(trace, random):
            growing.arrive(line)
        net = Net(trace)
        formula = bind_tasks(parse_tasks(text), net.names).formula
        answer = check_tasks(net, Lattice(net.computation), formula, Budget())
        assert found.lost is None and found.standing.value == answer.value, seed


def test_a_name_that_is_told_in_two_ways_is_followed_no_more() -> None:
    growing = Growing([("A", {})], {}, "sync")
    found = monitor(growing, "t1:(x < 2)")
    growing.arrive({"p": "A", "kind": "enter", "fn": "f"})
    growing.arrive({"p": "A", "set": {"x": 1, "f.x": 1}})
    assert found.lost is None
    growing.arrive({"p": "A", "set": {"x": 1}})
    assert found.lost == "x is told as a local of a call, and otherwise too"


def test_what_cannot_be_followed_is_refused() -> None:
    growing = Growing([("A", {})], {"s": 0})
    for text, why in (
        ("sometime t1:(in.f)", "temporal operators"),
        ("exists t1 (t1:(in.f))", "quantifiers inside"),
        ("t1:(in.f) or t2:(in.f) or t3:(in.f)", "more than two tasks"),
        ("t1:(s == 0)", "s is a shared variable"),
        ('t1:(shared("s") == 0)', "only names of locals"),
    ):
        with pytest.raises(FormulaError, match=why.replace("(", "[(]")):
            monitor(growing, text)


def watched(text: str, lines: list[dict[str, Any]], order: str = "causal") -> WatchedRun:
    run = WatchedRun(read_specification(text), Options(order=order))
    run.header({"processes": [{"name": "A"}, {"name": "B"}]})
    run.begin()
    for line in lines:
        run.arrive(line)
    return run


ENTERS: list[dict[str, Any]] = [
    {"p": "A", "kind": "enter", "fn": "work"},
    {"p": "A", "kind": "exit", "fn": "work"},
    {"p": "A", "kind": "send", "msg": "m", "to": "B"},
    {"p": "B", "kind": "enter", "fn": "work"},
]
MUTEX = "tl mutex = not (t1:(in.work) and t2:(in.work)) if t1 != t2"


def test_a_monitor_says_at_once_what_no_later_event_changes() -> None:
    """Nothing orders the second task's entry, though the first one had left by then."""
    run = watched(MUTEX, ENTERS)
    (change,) = (each for each in run.changes() if each.is_final)
    assert change.truth.value == "violated" and change.moment is not None
    assert (change.moment.event, change.moment.cut) == ("B:1", {"A": 1, "B": 1})
    run.close()


def test_where_a_message_orders_them_it_holds() -> None:
    lines: list[dict[str, Any]] = [*ENTERS[:3], {"p": "B", "kind": "receive", "msg": "m"}, ENTERS[3]]
    run = watched(MUTEX, lines)
    assert not any(each.is_final for each in run.changes())
    (verdict,) = run.report(is_whole=True).verdicts
    assert verdict.holds
    run.close()


def test_accesses_that_order_the_run_and_not_the_logic_are_left_to_the_check() -> None:
    lines: list[dict[str, Any]] = [
        *ENTERS[:3],
        {"p": "A", "write": {"s": 1}},
        {"p": "B", "read": ["s"]},
        ENTERS[3],
    ]
    run = watched(MUTEX, lines)
    ((_, why),) = run.not_followed()
    assert "--order sync follows it" in why
    assert run.report(is_whole=True).verdicts[0].holds is False
    run.close()
    run = watched(MUTEX, lines, "sync")
    assert not list(run.not_followed()) and [each.is_final for each in run.changes()] == [True]
    run.close()
