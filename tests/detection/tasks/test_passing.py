"""The sieve for pairs of tasks: it keeps back many, and none under which the formula fails."""

from __future__ import annotations

from random import Random
from time import process_time
from typing import Any

import pytest

from possibly.detection.limits import Budget
from possibly.detection.tasks import fibers as engine
from possibly.detection.tasks.check import check_tasks
from possibly.detection.tasks.fibers import Fibers
from possibly.detection.tasks.local import LocalFormulas
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.parser import parse_tasks
from possibly.order import knowledge
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.detection.tasks.reference import F, Tasks
from tests.detection.tasks.test_fibers import BINARY, UNARY, plain
from tests.sampling import sampled
from tests.twins import needs_kernels


def quiet_net(random: Random, events: int, tasks: int = 3) -> Trace:
    """Tasks with messages, and no joint event; x changes now and then, and is not there at first."""
    builder, names = TraceBuilder(), [f"P{number}" for number in range(tasks)]
    builder.header(processes=[(name, {"x": 0} if random.random() < 0.8 else {}) for name in names])
    builder.add(names[0], set={"x": 0})
    sent: list[str] = []
    for count in range(events):
        name, kind = random.choice(names), random.choice(["send", "receive", *["internal"] * 2])
        fields: dict[str, Any] = {"set": {"x": random.randint(0, 1)}} if random.random() < 0.4 else {}
        if kind == "send":
            builder.add(name, kind="send", msg=f"m{count}", **fields)
            sent.append(f"m{count}")
        elif kind == "receive" and sent:
            builder.add(name, kind="receive", msg=sent.pop(), **fields)
        else:
            builder.add(name, **fields)
    return builder.finish()


def random_timed(random: Random) -> F:
    operator = random.choice((*UNARY, *BINARY))
    formula = F(operator, tuple(plain(random, ["x"], 1) for _ in range(1 + (operator in BINARY))))
    if random.random() < 0.8:
        formula = F(random.choice(("implies", "or", "and")), (plain(random, ["x"], 1), formula))
    return F("not", (formula,)) if random.random() < 0.4 else formula


@needs_kernels
@pytest.mark.parametrize("batch", range(3))
def test_whoever_fails_is_let_through(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "WORTH", 0)
    if batch == 2:
        monkeypatch.setattr(knowledge, "NARROW", 0)
    kept_back = 0
    for seed in range(batch * 1_000_000, batch * 1_000_000 + sampled(60)):
        random = Random(seed)
        trace = quiet_net(random, random.randint(3, 10))
        formula = random_timed(random)
        net, tasks = Net(trace), Tasks(trace)
        node = bind_tasks(parse_tasks(formula.text), vocabulary(trace)).formula
        failing = tasks.failing(formula)
        found = check_tasks(net, Lattice(net.computation), node, Budget(), "fibers")
        assert found.value == (not failing), (seed, formula.text)
        steps = min((len(cut) for cut, _ in failing), default=None)
        assert steps == (None if found.path is None else len(found.path)), (seed, formula.text)
        fibers = Fibers(net, LocalFormulas(net, Budget()), node, Budget())
        kept_back += len(net.tasks) ** len(fibers.variables) - sum(1 for _ in fibers.projections())
    assert kept_back > 50


ALL_PAIRS = (
    "t1:(x == 3) implies (t2:(x != 2) until t1:(x == 0)) if t1 != t2",
    "t1:(in.work) implies (not t2:(in.work) until t1:(not in.work)) if t1 != t2",
    "t1:(x == 3) implies not next t2:(x == 2) if t1 != t2",
    "t1:(x == 3) implies not (t2:(x == 2) before t1:(x == 0)) if t1 != t2",
    "t1:(x == 3) implies sometime (t1:(x == 0) and t2:(x == 0)) if t1 != t2",
    "always (t1:(x != 3) or t2:(x != 2)) if t1 != t2",
)


def in_turns(tasks: int, turns: int) -> Trace:
    """Tasks that take turns in `work`, by a lock."""
    builder, last = TraceBuilder(), None
    builder.header(processes=[(f"T{number}", {"x": 0}) for number in range(tasks)])
    for turn in range(turns):
        task = f"T{turn * 7 % tasks}"
        builder.add(task, kind="acquire", after=[last] if last else [])
        builder.add(task, kind="enter", fn="work")
        builder.add(task, set={"x": 2 + turn % 2})
        builder.add(task, kind="exit", fn="work")
        builder.add(task, set={"x": 0})
        builder.add(task, kind="release", id=f"release {turn}")
        last = f"release {turn}"
    return builder.finish()


@needs_kernels
@pytest.mark.parametrize("text", ALL_PAIRS)
def test_what_holds_of_all_pairs_of_fifty_tasks_is_found_soon(text: str) -> None:
    """Without the sieve each of them takes seconds."""
    trace = in_turns(50, 500)
    net = Net(trace)
    node = bind_tasks(parse_tasks(text), vocabulary(trace)).formula
    started = process_time()
    found = check_tasks(net, Lattice(net.computation), node, Budget())
    assert (found.value, found.engine) == (True, "fibers")
    assert process_time() - started < 2
