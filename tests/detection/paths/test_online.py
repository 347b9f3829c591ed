"""Path expressions while events arrive: the same answers as off-line, and memory that does not grow."""

from __future__ import annotations

import os
import tracemalloc
from random import Random
from typing import Any

import pytest

from possibly.detection.paths.expected import fitting
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.occurrences import occurrences
from possibly.detection.paths.online import Misfit, Occurred, PathMonitor
from possibly.detection.paths.synchronise import synchronised
from possibly.logic.paths.classes import SUBCLASSES
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.rules import Rule, parse_rule
from possibly.logic.paths.syntax import Expression, path_text
from possibly.logic.source import Source
from possibly.order.computation import Computation
from possibly.order.growing.computation import Growing
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.detection.paths.test_definition import labelled_trace
from tests.logic.paths.languages import random_path
from tests.logic.paths.test_machine import expression_of

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


def lines(run: Trace) -> list[dict[str, Any]]:
    """The events as lines that arrive by themselves, in the order of the file."""
    found = []
    for number in range(len(run)):
        event = run.event(number)
        fields: dict[str, Any] = {"p": event.process, "id": event.name, "k": event.position}
        given = {
            "kind": event.kind, "label": event.label, "msg": event.msg, "after": list(event.after) or None,
            "meet": event.meet, "fn": event.fn, "tag": event.tag, "set": dict(event.set) or None,
            "write": dict(event.write) or None, "read": list(event.read) or None,
        }  # fmt: skip
        fields.update({key: value for key, value in given.items() if value is not None})
        if event.meet is not None:
            parties = [run.event(n).process for n in range(len(run)) if run.event(n).meet == event.meet]
            fields["parties"] = parties
        found.append(fields)
    return found


class Followed:
    """A run that was followed from its first to its last line."""

    def __init__(
        self,
        run: Trace,
        language: str,
        expression: Expression,
        rules: tuple[Rule, ...] = (),
        are_all_spawned: bool = False,
    ) -> None:
        processes = [(each.name, each.init) for each in run.processes if each.declared]
        growing = Growing(processes, run.shared, "causal")
        self.found: list[Occurred | Misfit] = []
        self.names: dict[int, str] = {}
        machine = Machine(compiled(expression))
        self.monitor = PathMonitor(growing, language, machine, rules, self.take, are_all_spawned)
        for line in lines(run):
            growing.arrive(line)

    def take(self, found: Occurred | Misfit) -> None:
        self.found.append(found)
        events = found.events if isinstance(found, Occurred) else (found.event,)
        self.names.update({event: str(self.monitor.fact(event, "name")) for event in events})

    @property
    def occurrences(self) -> set[frozenset[str]]:
        complete = [each for each in self.found if isinstance(each, Occurred) and each.is_complete]
        return {frozenset(self.names[event] for event in each.events) for each in complete}

    @property
    def misfit(self) -> str | None:
        found = [each for each in self.found if isinstance(each, Misfit)]
        assert len(found) < 2, "a run that failed stays failed"
        return self.names[found[0].event] if found else None


def named(run: Trace, listed: list[tuple[int, ...]]) -> set[frozenset[str]]:
    return {frozenset(map(run.name, events)) for events in listed}


@pytest.mark.parametrize("kind", SUBCLASSES)
def test_on_line_is_as_off_line(kind: str) -> None:
    random = Random(f"online {kind}")
    occurred = fitted = 0
    for _ in range(60 * CASES):
        found = expression_of(random_path(random, kind, 2))
        run = labelled_trace(random, random.randint(1, 9))
        computation = Computation(run)
        tree = compiled(found)
        meaning, machine = Meaning(tree, computation), Machine(tree)
        listed = list(occurrences(meaning, machine))
        assert Followed(run, "never", found).occurrences == named(run, listed), path_text(found.root)
        whole, online = fitting(meaning, machine), Followed(run, "expect", found)
        assert online.misfit == (None if whole.misfit is None else run.name(whole.misfit.step))
        assert (online.misfit is None and online.monitor.is_complete) == whole.fits
        occurred, fitted = occurred + bool(listed), fitted + whole.fits
    assert occurred and fitted


@pytest.mark.parametrize(
    ("run", "text"),
    [
        ("p: send(m) send(n) | q: recv(n) recv(m)", "send(M); receive(M)"),
        ("p(x=0): a{x=1} b{x=0} c{x=1}", "[x == 1]"),
        ("p(x=0): a{x=1} b{x=0} c{x=1}", "[x == x' + 1]; [x == x' - 1]"),
        ("shared(s=0) p: r(s) w(s=1) | q: r(s)", "[s'] + [s]"),
        ("p(x=0): a#go{x=1} b#go", "go [x == 1]"),
        ("p: enter(f) exit(f) | q: enter(f) exit(f)", "f.enter & f.exit"),
        ('p: acquire(a) release(a) | q: acquire("b") release("b")', "acquire(X); release(X)"),
    ],
)
def test_events_mean_the_same_on_line(run: str, text: str) -> None:
    recorded, found = trace(run), parse_path(Source(text))
    tree = compiled(found)
    listed = list(occurrences(Meaning(tree, Computation(recorded)), Machine(tree)))
    assert listed
    assert Followed(recorded, "never", found).occurrences == named(recorded, listed)


def test_rules_order_events_on_line() -> None:
    rule = parse_rule(Source("S(X): give(X); take(X)"))
    found = parse_path(Source("take & give"))
    for run in ("p: give(a) | q: take(a)", "p: give(a) | q: take(b)", "p: give(a) give(a) | q: take(a)"):
        recorded = trace(run)
        tree = compiled(found)
        computation = synchronised(recorded, "causal", [rule])
        listed = list(occurrences(Meaning(tree, computation), Machine(tree)))
        assert Followed(recorded, "never", found, (rule,)).occurrences == named(recorded, listed)


def test_memory_does_not_grow_with_the_run() -> None:
    """Two threads that hand a token to and fro; what everybody knows is forgotten."""
    growing = Growing(order="sync", remember=False)
    machine = Machine(compiled(parse_path(Source("a & b"))))
    monitor = PathMonitor(growing, "never", machine, are_all_spawned=True)
    growing.arrive({"p": "P", "kind": "spawn"})
    growing.arrive({"p": "Q", "kind": "start", "after": ["P:1"]})
    sizes = []
    for number in range(2_000):
        growing.arrive({"p": "P", "label": "a", "kind": "send", "msg": f"x{number}"})
        growing.arrive({"p": "Q", "label": "b", "kind": "receive", "msg": f"x{number}"})
        growing.arrive({"p": "Q", "kind": "send", "msg": f"y{number}"})
        growing.arrive({"p": "P", "kind": "receive", "msg": f"y{number}"})
        marks = sum(len(pasts) for _, pasts in monitor.pasts._marks.values())
        sizes.append(marks + len(monitor.lines) + len(monitor.growth.open))
    assert max(sizes) < 2_000 and max(sizes[1_000:]) <= max(sizes[:1_000])


@pytest.mark.parametrize(("language", "text"), [("never", "a & b"), ("expect", "(a; b)*"), ("watch", "a; b")])
def test_the_bytes_held_do_not_grow_with_the_run(language: str, text: str) -> None:
    """Everything that is kept while a program runs: the order, the sets under way, the lines."""
    growing = Growing(order="sync", remember=False)
    PathMonitor(growing, language, Machine(compiled(parse_path(Source(text)))), are_all_spawned=True)
    growing.arrive({"p": "P", "kind": "spawn"})
    growing.arrive({"p": "Q", "kind": "start", "after": ["P:1"]})
    most = [0, 0]
    tracemalloc.start()
    for number in range(600):
        growing.arrive({"p": "P", "label": "a", "kind": "send", "msg": f"x{number}"})
        growing.arrive({"p": "Q", "label": "b", "kind": "receive", "msg": f"x{number}"})
        growing.arrive({"p": "Q", "kind": "send", "msg": f"y{number}"})
        growing.arrive({"p": "P", "kind": "receive", "msg": f"y{number}"})
        half = number // 300
        most[half] = max(most[half], tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert most[1] < 1.1 * most[0] < 400_000


def test_a_process_that_is_silent_costs_little() -> None:
    """The main thread may still do an `a` that nothing orders: beginnings stay, and are not met again."""
    growing = Growing(order="sync", remember=False)
    machine = Machine(compiled(parse_path(Source("a & b"))))
    monitor = PathMonitor(growing, "never", machine, are_all_spawned=True)
    monitor.growth.most = 50
    growing.arrive({"p": "M", "kind": "spawn"})
    growing.arrive({"p": "M", "kind": "spawn"})
    growing.arrive({"p": "P", "kind": "start", "after": ["M:1"]})
    growing.arrive({"p": "Q", "kind": "start", "after": ["M:2"]})
    for number in range(300):
        growing.arrive({"p": "P", "label": "a", "kind": "send", "msg": f"x{number}"})
        growing.arrive({"p": "Q", "label": "b", "kind": "receive", "msg": f"x{number}"})
        growing.arrive({"p": "Q", "kind": "send", "msg": f"y{number}"})
        growing.arrive({"p": "P", "kind": "receive", "msg": f"y{number}"})
        assert len(monitor.growth.groups.get(0, [])) + len(monitor.growth.groups.get(2, [])) < 4
    assert monitor.growth.has_forgotten and len(monitor.growth.open) <= 50
    found: list[Occurred | Misfit] = []
    monitor.told = found.append
    growing.arrive({"p": "M", "label": "a"})
    assert [each for each in found if isinstance(each, Occurred) and each.is_complete]


def spawned_trace(random: Random, events: int) -> Trace:
    """One process at first, others started by it or by one of them; some end; messages between them."""
    builder = TraceBuilder()
    alive, born, pending = ["P0"], 1, list[str]()
    builder.add("P0", id="begin")
    for number in range(events):
        process = random.choice(alive)
        label = random.choice(["a", "b", "c", None])
        kind = random.random()
        if kind < 0.12 and born < 4:
            builder.add(process, id=f"S{number}", kind="spawn", label=label)
            builder.add(f"P{born}", id=f"F{number}", kind="start", after=[f"S{number}"])
            alive.append(f"P{born}")
            born += 1
        elif kind < 0.16 and len(alive) > 1 and process != "P0":
            builder.add(process, id=f"E{number}", kind="end")
            alive.remove(process)
        elif kind < 0.55 and pending:
            builder.add(process, id=f"R{number}", kind="receive", msg=pending.pop(0), label=label)
        elif kind < 0.85:
            builder.add(process, id=f"M{number}", kind="send", msg=f"m{number}", label=label)
            pending.append(f"m{number}")
        else:
            builder.add(process, id=f"I{number}", label=label)
    return builder.finish()


@pytest.mark.parametrize("kind", ["safe", "extended"])
def test_what_is_forgotten_is_not_needed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.detection.paths.online_order.FIRST_SWEEP", 3)
    random = Random(f"forget {kind}")
    occurred = fitted = 0
    for _ in range(80 * CASES):
        found = expression_of(random_path(random, kind, 2))
        run = spawned_trace(random, random.randint(4, 14))
        tree = compiled(found)
        meaning, machine = Meaning(tree, Computation(run)), Machine(tree)
        listed = list(occurrences(meaning, machine))
        online = Followed(run, "never", found, are_all_spawned=True)
        assert online.occurrences == named(run, listed), path_text(found.root)
        whole = fitting(meaning, machine)
        online = Followed(run, "expect", found, are_all_spawned=True)
        assert online.misfit == (None if whole.misfit is None else run.name(whole.misfit.step))
        occurred, fitted = occurred + bool(listed), fitted + whole.fits
    assert occurred and fitted
