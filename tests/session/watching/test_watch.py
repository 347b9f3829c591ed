"""Watched runs: whatever the connections and the order of arrival, the verdicts are those of a check."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from possibly.errors import PossiblyError
from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options, check_trace
from possibly.session.watching.intake import LONGEST_HEADER, LONGEST_LINE, Connection, Intake
from possibly.session.watching.watch import KEEP, WAITING, WatchedRun
from possibly.trace.model import Trace
from possibly.verdict.model import Truth
from tests.detection.online.arrivals import lines_of
from tests.generate import random_formula, random_trace

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
OPERATORS = ["EF", "AF", "EG", "AG", "EX", "AX", "EU", "AU", "&", "|"]


def specification(**properties: str) -> Specification:
    """Properties by name; the name begins with the language."""
    found = [property_from_text(name[:3], text, name) for name, text in properties.items()]
    return Specification(properties=tuple(found))


OPEN: list[WatchedRun] = []


def opened(spec: Specification, options: Options, *, keep: int = KEEP, waiting: int = WAITING) -> WatchedRun:
    OPEN.append(WatchedRun(spec, options, keep=keep, waiting=waiting))
    return OPEN[-1]


@pytest.fixture(autouse=True)
def closed_at_the_end() -> Iterator[None]:
    yield
    for run in OPEN:
        run.close()
    OPEN.clear()


def header(*processes: str, **fields: Any) -> dict[str, Any]:
    named = [{"name": name, "init": {"x": 0}} for name in processes]
    return {"format": "possibly-trace", "version": 1, "processes": named, **fields}


def text(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def watched(intake: Intake, *lines: dict[str, Any], name: str = "C") -> Connection:
    connection = Connection(name)
    intake.feed(connection, text(*lines))
    return connection


def told(run: WatchedRun) -> list[tuple[str, str, bool]]:
    return [(change.found.name, change.truth.value, change.is_final) for change in run.changes()]


# ---- the whole way against a check ------------------------------------------------------------------


def streams(trace: Trace, random: Random) -> list[bytes]:
    """The run as what several connections send: each process on one of them, in its own order."""
    count = random.randint(1, 3)
    lines = lines_of(trace, random)
    owners = {process.name: random.randrange(count) for process in trace.processes}
    found = []
    for number in range(count):
        own = [process for process in trace.processes if owners[process.name] == number]
        head = header(shared=dict(trace.shared))
        head["processes"] = [{"name": process.name, "init": dict(process.init)} for process in own]
        found.append(text(head, *(line for line in lines if owners[line["p"]] == number)))
    return found


def feed_all(intake: Intake, sent: list[bytes], random: Random) -> None:
    """In pieces of any length, the connections taking turns as they like."""
    left = [(Connection(f"C{number}"), data) for number, data in enumerate(sent)]
    while left:
        number = random.randrange(len(left))
        connection, data = left[number]
        if intake.is_held(connection):
            continue
        size = random.randint(1, 400)
        if data:
            intake.feed(connection, data[:size])
            left[number] = connection, data[size:]
        else:
            intake.end(connection)
            left.pop(number)


@pytest.mark.parametrize("batch", range(6))
def test_the_verdicts_are_those_of_a_check(batch: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(batch * 100_000, batch * 100_000 + 40 * MANY):
        random = Random(seed)
        trace = random_trace(random, events=random.randint(1, 8))
        formulas = [random_formula(random, trace, OPERATORS, random.randint(1, 2)).text for _ in range(3)]
        spec = specification(**{f"ctl{number}": each for number, each in enumerate(formulas)})
        finals: dict[str, Truth] = {}
        run = opened(spec, Options(explain=False))

        def note(run: WatchedRun = run, finals: dict[str, Truth] = finals) -> None:
            for change in run.changes():
                assert change.found.name not in finals, "a final verdict changed"
                if change.is_final:
                    finals[change.found.name] = change.truth

        sent = streams(trace, random)
        intake = Intake(run, connections=len(sent), told=note)
        feed_all(intake, sent, random)
        try:
            report = run.report(is_whole=True)
        except PossiblyError:
            with pytest.raises(PossiblyError):
                check_trace(run.trace(), spec, Options())
            continue
        assert not run.errors and not intake.refused, (seed, run.errors)
        expected = check_trace(run.trace(), spec, Options())
        for verdict, other in zip(report.verdicts, expected.verdicts, strict=True):
            assert verdict.truth is other.truth, (seed, verdict)
            assert finals.get(verdict.name, verdict.truth) is verdict.truth, (seed, verdict)
            seen["final" if verdict.name in finals else "at the end"] += 1
    assert min(seen["final"], seen["at the end"]) > 20 * MANY, seen


def test_a_line_at_a_time_tells_changes_at_once() -> None:
    run = opened(specification(ctl1="AG(!(P.x == 1 & Q.x == 1))"), Options())
    intake = Intake(run)
    connection = watched(intake, header("P", "Q"))
    assert told(run) == [("ctl1", "holds", False)]
    intake.feed(connection, text({"p": "P", "k": 2, "set": {"x": 0}}, {"p": "Q", "set": {"x": 1}}))
    assert told(run) == [] and run.waiting() == [("P:2", 'event "P:1"')]
    intake.feed(connection, text({"p": "P", "k": 1, "set": {"x": 1}}))
    (change,) = run.changes()
    assert (change.truth, change.is_final, change.events) == (Truth.VIOLATED, True, 2)
    assert change.moment is not None and change.moment.cut == {"P": 1, "Q": 1}


def test_what_is_not_followed_is_checked_when_there_is_time() -> None:
    run = opened(specification(ltl1="F(P.x == 1 & F Q.x == 1)"), Options())
    intake = Intake(run)
    connection = watched(intake, header("P", "Q"), {"p": "P", "set": {"x": 1}})
    assert [found.name for found, _ in run.not_followed()] == ["ltl1"]
    assert told(run) == [] and run.check_again(0.0) and told(run) == [("ltl1", "violated", False)]
    assert not run.check_again(1e9), "nothing is new"
    intake.feed(connection, text({"p": "Q", "after": ["P:1"], "set": {"x": 1}}))
    assert not run.check_again(0.0), "it cost too much of the time"
    assert run.check_again(1e9) and told(run) == [("ltl1", "holds", False)]


# ---- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"p": "P", "set": ', "C:3:19: broken JSON, expecting value"),
        (b"[1]", "C:3: a line must be a JSON object, found a list"),
        (b'{"p": "P", "k": 1}', 'C:3: "P:1": event 1 of process "P" has arrived already'),
        (b'{"p": "P", "meet": "m"}', 'needs "parties"'),
        (b'{"set": {}}', 'C:3: an event needs "p", its process'),
        (b"\xff", "C:3:1: the text is not UTF-8"),
        (text(header("P")).strip(), "C:3: a second header in one connection"),
        (b" " * (LONGEST_LINE + 1), f"C:3: the line is longer than {LONGEST_LINE:,} bytes"),
    ],
)
def test_a_bad_line_names_connection_and_line(line: bytes, message: str) -> None:
    run = opened(specification(ctl1="EF(P.x == 1)", ctl2="AG(P.x < 2)"), Options())
    intake = Intake(run)
    connection = watched(intake, header("P"), {"p": "P", "set": {"x": 1}})
    intake.feed(connection, line + b'\n{"p": "P"}\n')
    assert len(intake.refused) == 1 and message in str(intake.refused[0]), intake.refused
    assert connection.is_broken and run.events == 1, "what comes after it is not read"
    report = run.report(is_whole=True)
    # What was final stays; nothing else is believed.
    assert [verdict.truth for verdict in report.verdicts] == [Truth.HOLDS, Truth.UNKNOWN]
    watched(intake, header(), {"p": "P"}, name="D")
    assert "an earlier line of process" in str(intake.refused[1])


def test_strangers_are_sent_away_and_do_not_count() -> None:
    run = opened(specification(ctl1="AG(P.x == 0)"), Options())
    intake = Intake(run, token="secret")
    for sent in (text(header("P")), text(header("P", token="guess")), b"x" * (LONGEST_HEADER + 1)):
        stranger = Connection("S", needs_token=True)
        intake.feed(stranger, sent)
        assert stranger.is_broken and not run.errors and not run.has_begun
    friend = Connection("C", needs_token=True)
    intake.feed(friend, text(header("P", token="secret"), {"p": "P"}))
    assert run.events == 1 and len(intake.refused) == 3
    assert run.report(is_whole=True).verdicts[0].truth is Truth.HOLDS


def test_waiting_lines_are_bounded() -> None:
    run = opened(specification(ctl1="AG(P.x == 0)"), Options(), waiting=3)
    intake = Intake(run)
    watched(intake, header("P"), *({"p": "P", "k": number} for number in range(9, 2, -1)))
    assert "more than 3 lines wait for others" in str(run.errors[0])
    run = opened(specification(ctl1="AG(P.x == 0)"), Options(), waiting=3)
    watched(Intake(run), header("P"), *({"p": "P", "k": number} for number in range(4, 0, -1)))
    assert run.events == 4 and not run.errors


def test_beyond_what_is_kept_only_the_followed_are_known() -> None:
    run = opened(specification(ctl1="AG(P.x < 9)", ltl1="F(P.x == 1 & F P.x == 0)"), Options(), keep=10)
    watched(Intake(run), header("P"), *({"p": "P", "set": {"x": number % 9}} for number in range(30)))
    assert not run.is_kept and run.events == 30
    followed, other = run.report(is_whole=True).verdicts
    assert (followed.truth, followed.engine) == (Truth.HOLDS, "online")
    assert other.truth is Truth.UNKNOWN and "--keep is 10 lines" in (other.reason or "")


def test_a_line_that_waits_for_ever_is_an_error_at_the_end() -> None:
    run = opened(specification(ctl1="AG(P.x == 0)"), Options())
    watched(Intake(run), header("P"), {"p": "P", "kind": "receive", "msg": "m"})
    report = run.report(is_whole=True)
    assert "which never arrived" in str(run.errors[0]) and report.verdicts[0].truth is Truth.UNKNOWN
    run = opened(specification(ctl1="AG(P.x == 0)"), Options())
    watched(Intake(run), header("P"), {"p": "P"}, {"p": "P", "kind": "receive", "msg": "m"})
    assert run.report(is_whole=False).verdicts[0].truth is Truth.HOLDS and not run.errors


@pytest.mark.parametrize(("is_whole", "where"), [(True, "this run"), (False, "this run so far")])
def test_a_left_side_that_was_never_true_is_told(is_whole: bool, where: str) -> None:
    run = opened(specification(ctl1="AG(P.x == 7 -> P.x == 8)", ctl2="AG(P.x == 1 -> P.x != 0)"), Options())
    watched(Intake(run), header("P"), {"p": "P", "set": {"x": 1}})
    report = run.report(is_whole=is_whole)
    assert report.warnings == (f"ctl1 holds without effect: P.x == 7 is true in no order of {where}",)


# ---- headers ----------------------------------------------------------------------------------------


def test_headers_are_put_together_before_the_run_begins() -> None:
    run = opened(specification(ctl1="EF(P.x == 1 & Q.x == 1)"), Options())
    intake = Intake(run, connections=2)
    first = watched(intake, header("P"), {"p": "P", "set": {"x": 1}})
    assert not run.has_begun and intake.is_held(first)
    watched(intake, header("Q"), {"p": "Q", "set": {"x": 1}})
    assert run.events == 2 and told(run) == [("ctl1", "holds", True)]


def test_headers_must_not_contradict_each_other() -> None:
    run = opened(specification(ctl1="EF(P.x == 1)"), Options())
    intake = Intake(run)
    watched(intake, header("P", shared={"s": 1}), {"p": "R"})
    watched(intake, header("P", shared={"s": 1}))
    assert not run.errors
    for wrong in (
        header(shared={"s": 2}),
        header(shared={"t": 2}),
        header("R"),
        {**header(), "processes": [{"name": "P", "init": {"x": 1}}]},
        {**header(), "version": 2},
        {"p": "P"},
    ):
        before = len(run.errors)
        watched(intake, wrong)
        assert len(run.errors) == before + 1, wrong


def test_quantifiers_are_never_final_as_a_process_may_come() -> None:
    run = opened(specification(ctl1='exists i in "P*": AG(i.x == 0)'), Options())
    intake = Intake(run)
    connection = watched(intake, header("P1"), {"p": "P1", "set": {"x": 1}})
    assert told(run) == [("ctl1", "violated", False)]
    intake.feed(connection, text({"p": "P2", "set": {"x": 0}}))
    assert [found.name for found, _ in run.not_followed()] == ["ctl1"]
    assert run.report(is_whole=True).verdicts[0].truth is Truth.VIOLATED


def test_declared_processes_can_be_named() -> None:
    run = opened(specification(ctl1="EF(worker.x == 1)"), Options())
    run.declare("worker")
    watched(Intake(run), header(), {"p": "worker", "set": {"x": 1}})
    assert told(run) == [("ctl1", "holds", True)]


# ---- whatever somebody sends ------------------------------------------------------------------------

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1,
    10**30,
    1.5,
    "",
    "P",
    "P:1",
    "E1",
    [],
    ["P"],
    [1],
    {},
    {"x": 1},
    {"x": {}},
]
KEYS = ["p", "id", "k", "kind", "set", "write", "read", "msg", "to", "tag", "after", "meet", "parties", "fn"]
KEYS += ["at", "label", "t", "parent", "format", "other"]
KINDS_OF_EVENTS = ["internal", "send", "receive", "enter", "exit", "read", "write", "odd"]


def odd_line(random: Random) -> bytes:
    if random.random() < 0.05:
        return bytes(random.randrange(256) for _ in range(random.randint(0, 20)))
    fields: dict[str, Any] = {"p": random.choice(["P", "Q", "R"])}
    for key in random.sample(KEYS, random.randint(0, 5)):
        fields[key] = random.choice(ODD)
    if random.random() < 0.7:
        fields["kind"] = random.choice(KINDS_OF_EVENTS)
    return json.dumps(fields).encode()


@pytest.mark.parametrize("batch", range(3))
def test_whatever_is_sent_is_taken_or_named(batch: int) -> None:
    """Never an error of our own; and what was taken in is a run that can be checked."""
    taken = 0
    for seed in range(batch * 100_000, batch * 100_000 + 150 * MANY):
        random = Random(seed)
        run = opened(specification(ctl1="EF(P.x == 1)", ltl1="G(Q.x == 0)"), Options(explain=False), keep=50)
        intake = Intake(run)
        for number in range(random.randint(1, 4)):
            connection = Connection(f"C{number}")
            sent = text(header("P", "Q")) + b"\n".join(odd_line(random) for _ in range(8))
            for piece in range(0, len(sent), 50):
                if not connection.is_broken:
                    intake.feed(connection, sent[piece : piece + 50])
            if not connection.is_broken:
                intake.end(connection)
        assert all(str(error).startswith("C") for error in intake.refused)
        report = run.report(is_whole=random.random() < 0.5)
        assert len(report.verdicts) == 2 and report.events == run.events
        taken += run.events
        run.close()
    assert taken > 30 * MANY


@pytest.mark.parametrize("formula", ["AG(!(P.x == 1 & Q.x == 1))", "AF(P.x == 1 & Q.x == 1)"])
def test_a_property_that_keeps_too_much_is_followed_no_more(formula: str) -> None:
    run = WatchedRun(specification(ctl1=formula), Options(), keep=0, entries=100, look=10)
    intake = Intake(run)
    connection = watched(intake, header("P", "Q"))
    for number in range(400):  # P is silent, so what Q does may all be needed
        line = {"p": "Q", "id": f"e{number}", "set": {"x": 1 - number % 2}}
        intake.feed(connection, text(line))
    (verdict,) = run.report(is_whole=True).verdicts
    assert verdict.truth is Truth.UNKNOWN
    assert verdict.reason is not None and "more than 100 entries" in verdict.reason
    assert len(run._growing._names) <= 110  # type: ignore[union-attr]
    run.close()


@pytest.mark.parametrize("batch", [1, 100])
@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("ctl", "AG(!(A.x == 1 & B.x == 1))"),
        ("ltl", "G(!(A.x == 1 & B.x == 1))"),
        ("tl", "not (t1:(x == 1) and t2:(x == 1)) if t1 != t2"),
    ],
)
def test_tasks_of_an_event_loop_are_not_interrupted(name: str, formula: str, batch: int) -> None:
    found = property_from_text(name, formula, name)
    run = opened(Specification(properties=(found,)), Options())
    intake = Intake(run, connections=1)
    lines: list[dict[str, Any]] = [header("A", "B")]
    for task in "AB":
        lines += [{"p": task, "kind": "turn", "tag": "L"}, {"p": task, "set": {"x": 1}}]
        lines += [{"p": task, "set": {"x": 0}}]
    connection = Connection("C")
    for first in range(0, len(lines), batch):
        intake.feed(connection, text(*lines[first : first + batch]))
    assert [change.truth for change in run.changes()] in ([], [Truth.HOLDS])
    assert run.report(is_whole=True).verdicts[0].truth is Truth.HOLDS
