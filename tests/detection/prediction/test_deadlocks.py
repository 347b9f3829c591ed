"""Predicted deadlocks against every reordering by definition, and small runs with a known answer."""

from __future__ import annotations

import os
from random import Random

from possibly.detection.prediction.deadlocks import DeadlockFinder
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.verdict.deadlocks import Deadlock
from tests.detection.prediction.judge import Pattern, Reorderings
from tests.detection.prediction.runs import LOCKS, random_run

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 500 * MANY if MANY > 1 else 60


def patterns(run: Trace) -> list[Pattern]:
    return [pattern(run, each) for each in DeadlockFinder(run).found()]


def pattern(run: Trace, deadlock: Deadlock) -> Pattern:
    return frozenset(
        (
            run.processes[each.process].name,
            {"end": "join", "outcome": "result"}.get(each.want.kind) or run.strings[each.want.thing],
            frozenset(run.strings[section.thing] for section in each.holds) & set(LOCKS),
        )
        for each in deadlock.requests
    )


def test_exactly_the_deadlocks_that_a_reordering_reaches() -> None:
    random, some = Random("deadlocks"), 0
    for _ in range(CASES):
        run = random_run(random)
        found = patterns(run)
        assert len(set(found)) == len(found)
        assert set(found) == Reorderings(run).deadlocks()
        some += bool(found)
    assert some > CASES // 60


def test_with_semaphores_queues_and_events_too() -> None:
    """No false alarm, and nothing left out: of three processes there are at most two suppliers."""
    random = Random("more")
    kinds: set[str] = set()
    for _ in range(CASES):
        run = random_run(random, more=True)
        found = list(DeadlockFinder(run).found())
        told, judged = {pattern(run, each) for each in found}, Reorderings(run).deadlocks()
        assert told == judged
        kinds.update(request.want.kind for each in found for request in each.requests)
    assert MANY == 1 or kinds == {"lock", "end", "unit", "room", "item", "signal", "outcome"}


def test_a_supplier_may_wait_for_another_of_the_cycle() -> None:
    """R could give what Q waits for, as P could; R waits for the lock of P, and P for the end of Q."""
    builder = TraceBuilder()
    builder.header(processes=[(name, {}) for name in "PQR"])
    builder.add("R", kind="acquire", tag="A")
    builder.add("R", kind="release", tag="s", id="given")
    builder.add("Q", kind="acquire", tag="s", after=["given"])
    builder.add("Q", kind="end", id="ended")
    builder.add("R", kind="release", tag="A", id="free")
    builder.add("P", kind="acquire", tag="A", after=["free"])
    builder.add("P", kind="join", after=["ended"])
    builder.add("P", kind="release", tag="s")
    builder.add("P", kind="release", tag="A")
    (found,) = patterns(builder.finish())
    assert found == {
        ("P", "join", frozenset("A")), ("Q", "s", frozenset()), ("R", "A", frozenset()),
    }  # fmt: skip


def test_the_path_leads_there() -> None:
    random = Random("paths")
    for _ in range(CASES):
        run = random_run(random)
        for deadlock in DeadlockFinder(run).found():
            cut = [0] * len(run.processes)
            for event in deadlock.path:
                cut[run.process[event]] += 1
                assert run.position[event] == cut[run.process[event]]
            assert tuple(cut) == deadlock.cut
            assert all(cut[each.process] == run.position[each.event] - 1 for each in deadlock.requests)


def found_in(text: str) -> list[Deadlock]:
    return list(DeadlockFinder(_tagged(text)).found())


def test_opposite_orders() -> None:
    found = found_in("p a+ b+ b- a-|q b+ a+ a- b-")
    assert len(found) == 1
    assert len(found[0].path) == 2


def test_a_lock_around_both_prevents_it() -> None:
    assert not found_in("p g+ a+ b+ b- a- g-|q g+ b+ a+ a- b- g-")


def test_what_was_only_tried_waits_for_nobody() -> None:
    assert not found_in("p a+ b? b- a-|q b+ a+ a- b-")


def test_a_write_that_is_read_keeps_its_order() -> None:
    """Q takes the locks only because it read what P wrote after its own section."""
    assert not found_in("p a+ b+ b- a- x!|q x. b+ a+ a- b-")
    assert found_in("p x! a+ b+ b- a-|q x. b+ a+ a- b-")


def test_three_philosophers() -> None:
    found = found_in("p a+ b+ b- a-|q b+ c+ c- b-|r c+ a+ a- c-")
    assert [len(each.requests) for each in found] == [3]


def test_of_many_requests_alike_one_deadlock_is_told() -> None:
    once = "a+ b+ b- a-"
    assert len(found_in(f"p {' '.join([once] * 50)}|q b+ a+ a- b-")) == 1


def _tagged(text: str) -> Trace:
    """One process after another: `a+` acquire, `a-` release, `a?` tried, `x!` write, `x.` read."""
    rows = [part.split() for part in text.split("|")]
    builder = TraceBuilder()
    builder.header(processes=[(row[0], {}) for row in rows], shared={"x": 0})
    released: dict[str, tuple[str, str]] = {}
    for process, *words in rows:
        for number, word in enumerate(words, start=1):
            name, sign = word[:-1], word[-1]
            kind = {"+": "acquire", "?": "acquire", "-": "release", "!": "write", ".": "read"}[sign]
            fields: dict[str, object] = {"p": process, "kind": kind}
            if sign in "+?-":
                fields["tag"] = name
            if sign == "?":
                fields["tried"] = True
            if sign == "!":
                fields["write"] = {name: number}
            if sign == ".":
                fields["read"] = [name]
            if sign in "+?" and released.get(name, (process,))[0] != process:
                fields["after"] = [released[name][1]]
            if sign == "-":
                released[name] = process, f"{process}:{number}"
            builder.add_fields(fields)
    return builder.finish()
