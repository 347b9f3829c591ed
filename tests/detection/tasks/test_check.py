"""The task logic from end to end: the paper's formulas on the ring buffer, reports, limits, large nets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from possibly.detection.limits import Budget
from possibly.detection.tasks.check import TaskAnswer, check_tasks
from possibly.errors import UsageError
from possibly.logic.specification import Specification, property_from_text, read_specification
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.parser import parse_tasks
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.order.vocabulary import vocabulary
from possibly.session.checking.check import Options, check_trace
from possibly.session.record import Request, record_program
from possibly.trace import load
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from possibly.verdict.model import Truth, Verdict
from possibly.views.cli.main import main

EXAMPLES = Path(__file__).parents[3] / "examples/ringbuffer-tasks"
MUTEX = "not (t1:(in.f) and t2:(in.f)) if t1 != t2"


def verdict(run: Trace, formula: str, **options: Any) -> Verdict:
    specification = Specification(properties=(property_from_text("tl", formula, "it"),))
    return check_trace(run, specification, Options(**options)).verdicts[0]


def answer(run: Trace, formula: str, engine: str = "auto", budget: Budget | None = None) -> TaskAnswer:
    net = Net(run)
    bound = bind_tasks(parse_tasks(formula), vocabulary(run)).formula
    return check_tasks(net, Lattice(net.computation), bound, budget or Budget(), engine)


# ---- the ring buffer ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("faulty", {"mutex": True, "exclusive": False, "figure8": False, "handover": False}),
        ("corrected", {"mutex": True, "exclusive": True, "figure8": False, "handover": True}),
        ("unguarded", {"mutex": False, "exclusive": True, "figure8": False, "handover": False}),
    ],
)
def test_the_formulas_of_the_paper(run: str, expected: dict[str, bool]) -> None:
    specification = read_specification((EXAMPLES / "ringbuffer.spec").read_text())
    report = check_trace(load(EXAMPLES / f"{run}.jsonl"), specification, Options())
    assert {found.name: found.holds for found in report.verdicts} == expected


@pytest.mark.parametrize("way", ["faulty", "corrected"])
def test_the_ring_buffer_as_a_real_program(way: str, tmp_path: Path) -> None:
    """Figure 4 with threads, recorded; then figure 6: put is at the end of append, get may have removed."""
    specification = read_specification((EXAMPLES / "ringbuffer.spec").read_text())
    words = (str(EXAMPLES / "waiting.py"), *(["corrected"] if way == "corrected" else []))
    request = Request(words, str(tmp_path / "run.jsonl"), specification, calls=("put", "get"))
    recorded = record_program(request).trace
    report = check_trace(recorded, specification, Options())
    is_right = way == "corrected"
    expected = {"mutex": True, "exclusive": is_right, "figure8": False, "handover": is_right}
    assert {found.name: found.holds for found in report.verdicts} == expected
    net = Net(recorded)
    put = net.tasks.index("25")
    ends = [s.count for s in net.states(put) if s.stack == (("IN", "put"), ("TERM", "append"))]
    assert ends and net.values(put, ends[0], "b.last") == (1,)
    assert net.values(put, ends[0], "b.first") == ((0,) if is_right else (0, 1))
    net.self_check()


def test_why_the_faulty_ring_buffer_fails() -> None:
    specification = read_specification((EXAMPLES / "ringbuffer.spec").read_text())
    report = check_trace(load(EXAMPLES / "faulty.jsonl"), specification, Options())
    exclusive = report.verdicts[1]
    assert exclusive.truth is Truth.VIOLATED and exclusive.observed is True
    witness, explanation = exclusive.witness, exclusive.explanation
    assert witness is not None and witness.failure is not None and explanation is not None
    assert witness.tasks == {"t1": "25", "t2": "15"}
    assert witness.cut == {"main": 2, "15": 3, "25": 4}
    assert set(witness.path) == set(witness.failure.subnet)
    assert (witness.failure.failing, witness.failure.slices, witness.failure.all_slices) == (6, 6, 32)
    stacks = {state.task: state.stack for state in witness.failure.states}
    assert stacks == {"25": "/IN.put/IN.append", "15": "/IN.get/START.remove"}
    parts = {part.text: part for part in witness.failure.parts}
    first = parts["t1:(in.append and (b.last - b.first) % N <= 1)"]
    assert first.value == "satisfied" and first.reads["b.first"] == (0, 1)
    assert explanation.missing is not None and explanation.missing.suffices is True
    assert (explanation.missing.first.event, explanation.missing.second.event) == ("p6", "g3")


def test_the_report_and_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    run, spec = str(EXAMPLES / "faulty.jsonl"), str(EXAMPLES / "ringbuffer.spec")
    assert main(["check", run, "--spec", spec, "--only", "exclusive"]) == 1
    text = capsys.readouterr().out
    assert "is unsatisfied for t1 = 25, t2 = 15; so it is in 6 of 32 slices." in " ".join(text.split())
    assert 'stack of 25 = "/IN.put/IN.append"' in text and "b.first in 25 = [0, 1]" in text
    assert main(["check", run, "--spec", spec, "--only", "exclusive", "--json"]) == 1
    witness = json.loads(capsys.readouterr().out)["properties"][0]["witness"]
    assert witness["tasks"] == {"t1": "25", "t2": "15"} and witness["failing"] == 6
    assert witness["states"][1]["values"]["b.first"] == [0, 1]
    assert {part["value"] for part in witness["parts"]} == {"satisfied", "unsatisfied"}


def test_explain_shows_the_five_steps(capsys: pytest.CaptureFixture[str]) -> None:
    run = str(EXAMPLES / "faulty.jsonl")
    formula = "t1:(term.append) implies (t2:(b.data[1] == 21) until t3:(start.remove))"
    assert main(["check", run, "--tl", formula, "--explain"]) == 1
    text = capsys.readouterr().out
    assert "1. negation, 2. transformation: t1:(term.append) and t2:(not (b.data[1] == 21)) before" in text
    assert "3. formula tree:" in text and "s-node(t3:(start.remove))" in text
    assert "term.append: satisfied in 1, unsatisfied in 14, undefined in 0 local states" in text
    assert "5. inner nodes, engine slices" in text
    assert main(
        ["check", run, "--spec", str(EXAMPLES / "ringbuffer.spec"), "--only", "exclusive", "--explain"]
    )
    text = " ".join(capsys.readouterr().out.split())
    assert "the subnet that matters: 9 of 14 events lead to these local states" in text
    assert "task 25, 4 events: /IN.put/IN.append N = {200} b.first = {0, 1} b.last = {1}" in text
    subnet = text.partition("b.last = {1} m1")[2].partition(" Show")[0]
    assert set(subnet.split(", ")) - {""} == {"m2", "g1", "g2", "g3", "p1", "p2", "p3", "p4"}


def test_errors_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    run = str(EXAMPLES / "faulty.jsonl")
    assert main(["check", run, "--tl", "t1:(b.lst == 1)"]) == 2
    assert "--tl:1:5: no event ever sets b.lst (did you mean b.last" in capsys.readouterr().err
    assert main(["check", run, "--tl", "t1:(in.put)", "--engine", "sweep"]) == 2
    assert "engine 'sweep' does not answer tl properties" in capsys.readouterr().err


def test_the_order_is_always_sync() -> None:
    run = trace("shared(s=0) P: w(s=1) enter(f) exit(f) w(s=2) | Q: w(s=3) enter(f) exit(f) w(s=4)")
    found = [verdict(run, MUTEX, order=order) for order in ("causal", "sync")]
    assert [each.holds for each in found] == [False, False]
    assert found[0].witness == found[1].witness


# ---- three values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("t:(z == 1)", True),  # undefined where z has no value, true after
        ("t:(z == 2)", False),
        ("t:(z == 2 and in.f)", False),
        ("t:(z == 1 or in.f)", True),
        ("t:(in.f) or t:(z == 1)", True),  # false, then undefined
        ("not t:(in.f) and t:(z == 2)", False),
        ("t:(z == 2) or not t:(in.f)", True),  # undefined, then false before a true
        ("exists t (t:(z == 1))", False),  # undefined for all is unsatisfied
        ("always t:(z == 1)", True),
        ("t:(z == 1) if t != t", True),
    ],
)
def test_three_values(formula: str, expected: bool) -> None:
    run = trace("P: a b{z=1}")
    assert verdict(run, formula).holds is expected


def test_faults_are_listed() -> None:
    found = verdict(trace("P(x=0): a"), "not t:(1 / x == 1)")
    assert found.holds is True and found.faults == ("1 / x == 1: division by zero",)


def test_callers() -> None:
    builder = TraceBuilder()
    builder.header([("main", {})])
    builder.add("main", id="s", kind="spawn")
    builder.add("child", after=["s"], set={"x": 1})
    run = builder.finish()
    assert verdict(run, "t2:(x == 2) if t1 == caller(t2)").holds is False
    assert verdict(run, "t2:(x == 2) if t2 == caller(t1)").holds is True
    found = verdict(run, "forall t1 (forall t2 (t2:(x == 2) if t1 == caller(t2)))")
    assert found.witness is not None and found.witness.tasks == {"t1": "main", "t2": "child"}


def test_a_run_without_tasks() -> None:
    run = trace("")
    assert verdict(run, "t:(in.f) until t:(in.g)").holds is True
    assert verdict(run, "forall t (always t:(in.f))").holds is True
    assert verdict(run, "exists t (t:(in.f) before t:(in.g))").holds is False


# ---- limits and size --------------------------------------------------------------------------------


def free_tasks(tasks: int, events: int) -> Trace:
    """Nothing orders events of different tasks: (events + 1) ** tasks slices."""
    builder = TraceBuilder()
    builder.header([(f"P{task}", {"x": 0}) for task in range(tasks)])
    for number in range(events):
        for task in range(tasks):
            match number % 5:
                case 1:
                    builder.add(f"P{task}", kind="enter", fn="f")
                case 3:
                    builder.add(f"P{task}", kind="exit", fn="f")
                case _:
                    builder.add(f"P{task}", set={"x": number % 7})
    return builder.finish()


@pytest.mark.parametrize(
    ("formula", "failing"),
    [
        (MUTEX, 812_592),
        ("t1:(start.f) implies sometime t2:(term.f)", 113_376),
        ("t1:(x == 3) implies (t1:(x < 6) until t2:(start.f)) if t1 != t2", 182_320),
        ("t1:(x < 3) before t2:(x == 3)", 1_026_292),
        ("(t1:(x < 6) and t2:(x < 5)) until (t2:(start.f) or t1:(term.f)) if t1 != t2", 685_089),
    ],
)
def test_a_net_with_a_million_slices(formula: str, failing: int) -> None:
    found = answer(free_tasks(4, 31), formula, "slices")
    assert found.failure is not None
    assert (found.failure.slices, found.failure.all_slices) == (failing, 1 << 20)


def test_a_run_with_more_slices_than_can_be_counted() -> None:
    run = free_tasks(20, 100)
    found = answer(run, MUTEX)
    assert found.value is False and found.engine == "terms" and found.failure is not None
    assert found.failure.slices is None and len(found.failure.subnet) == 4
    assert answer(run, "t1:(start.f) implies sometime t1:(term.f)").value is True
    assert answer(run, "not sometime t1:(x == 9)").value is True


def test_limits_give_unknown() -> None:
    run = free_tasks(4, 31)
    until = "t1:(x < 3) until (t2:(x == 3) until t1:(x == 2))"
    found = answer(run, until, budget=Budget(max_cuts=1000))
    assert found.value is None and found.reason == "more than 1000 cuts to visit; raise --max-cuts"
    assert answer(run, until, "terms").value is None
    with pytest.raises(UsageError, match="engine 'linear' does not answer tl properties"):
        answer(run, until, "linear")
