"""Path expressions in the monitor: three processes of the operating system, one of which stops at a break."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from possibly.logic.specification import read_specification
from possibly.session.checking.check import Options
from possibly.session.watching.paths_live import Told
from possibly.session.watching.watch import WatchedRun
from tests.waiting import PATIENCE

PROGRAM = """
import json, sys
import possibly

name, address, events = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
heard = []

def told(fields):
    heard.append(fields)
    if fields["stops"] and fields["task"] == name:
        print(f"{name} stops at {fields['event']}", flush=True)

with possibly.connect(address, {name: {}}, token="secret", told=told) as sender:
    for each in events:
        sender.event(name, **each)
    print("ready", flush=True)
    sys.stdin.readline()
    sender.event(name, label="end")
print(json.dumps(heard), flush=True)
"""
RULES = """
sync semaphore(S): V(S); P(S)
never race = take & put
watch seen = put & take { print("both", $1.pid, $2.pid); break }
expect first = (start)@
"""
EVENTS: dict[str, list[dict[str, Any]]] = {
    "A": [{"label": "start"}, {"label": "put"}, {"label": "V", "tag": "s"}],
    "B": [{"label": "start"}, {"label": "P", "tag": "s"}, {"label": "take"}],
    "C": [{"label": "start"}, {"label": "take"}],
}


def watched(text: str, lines: list[dict[str, Any]], keep: int = 1000) -> tuple[WatchedRun, list[Told]]:
    run, told = WatchedRun(read_specification(text), Options(), keep=keep), list[Told]()
    run.tellers.append(told.append)
    run.header({"processes": [{"name": name} for name in EVENTS]})
    run.begin()
    for line in lines:
        run.arrive(line)
    return run, told


def lines_of(*names: str) -> list[dict[str, Any]]:
    """A process ends before the next one begins."""
    return [{"p": name, **each} for name in names for each in EVENTS[name]]


def test_what_occurs_is_told_when_it_happens_across_processes() -> None:
    run, told = watched(RULES, lines_of("A", "B", "C"))
    run.close()
    assert [(each.property, each.event, each.events, each.task, each.stops) for each in told] == [
        ("race", "C:2", ("A:2", "C:2"), "C", False),
        ("seen", "C:2", ("A:2", "C:2"), "C", False),
        ("seen", "C:2", ("A:2", "C:2"), "C", True),
    ]


def test_the_order_of_arrival_makes_no_difference() -> None:
    """Lines that come before what they wait for are taken in later; what occurs is the same."""
    late: list[dict[str, Any]] = [{"p": "B", "label": "take", "after": ["A:1"]}, {"p": "A", "label": "put"}]
    run, told = watched("never ordered = put; take", late)
    run.close()
    assert [(each.property, each.events) for each in told] == [("ordered", ("A:1", "B:1"))]


def test_the_verdict_at_the_end_is_that_of_the_whole_run() -> None:
    run, _ = watched(RULES, lines_of("A", "B", "C"))
    verdicts = {each.name: each.truth.value for each in run.report(is_whole=True).verdicts}
    run.close()
    assert verdicts == {"race": "violated", "seen": "matched", "first": "holds"}


def test_without_lines_kept_the_verdict_is_open_and_says_why() -> None:
    run, told = watched("never race = take & put", lines_of("A", "C"), keep=0)
    (verdict,) = run.report(is_whole=True).verdicts
    run.close()
    assert told and verdict.truth.value == "unknown"
    assert verdict.reason is not None and "what occurred was told" in verdict.reason


def test_three_processes_are_followed_and_one_stops_at_a_break(tmp_path: Path) -> None:
    """B takes after A has put, C whenever it likes: only C's take is concurrent, and the later one stops."""
    events: dict[str, list[dict[str, Any]]] = {
        **EVENTS,
        "B": [{"label": "start"}, {"label": "take", "after": ["A:2"]}],
    }
    spec, program = tmp_path / "rules.spec", tmp_path / "program.py"
    spec.write_text(RULES)
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "possibly", "watch", "127.0.0.1:0", "--spec", str(spec)]
    with subprocess.Popen(
        [*command, "--connections", "3"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "POSSIBLY_TOKEN": "secret"},
    ) as monitor:
        assert monitor.stderr is not None
        address = monitor.stderr.readline().split("listening on ")[1].split(",")[0]
        running = {name: start(program, name, address, each) for name, each in events.items()}
        outputs = {name: until_ready(each) for name, each in running.items()}
        for name, each in running.items():
            outputs[name] += each.communicate("\n", timeout=PATIENCE)[0]
        said = monitor.communicate(timeout=PATIENCE)
    stopped = [name for name, output in outputs.items() if "stops at" in output]
    assert stopped in (["A"], ["C"]), (outputs, said)
    for output in outputs.values():
        heard = json.loads(output.splitlines()[-1])
        assert [each["property"] for each in heard if each["stops"]] == ["seen"]
    assert monitor.returncode == 1 and "VIOLATED  race" in said[0] and "seen at " in said[1]


def test_lines_that_were_held_for_a_header_are_answered_too(tmp_path: Path) -> None:
    """The first sends its header and an event at once, before anybody else is there."""
    spec = tmp_path / "rules.spec"
    spec.write_text("never race = take & put")
    command = [sys.executable, "-m", "possibly", "watch", "127.0.0.1:0", "--spec", str(spec)]
    with subprocess.Popen(
        [*command, "--connections", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "POSSIBLY_TOKEN": "secret"},
    ) as monitor:
        assert monitor.stderr is not None
        host, _, port = monitor.stderr.readline().split("listening on ")[1].split(",")[0].rpartition(":")
        with socket.create_connection((host, int(port))) as first:
            first.settimeout(60)
            first.sendall(header("A", answers=True) + b'{"p": "A", "label": "put"}\n')
            with socket.create_connection((host, int(port))) as second:
                second.sendall(header("B"))
                assert {"taken": 2} in (json.loads(line) for line in first.makefile())
        monitor.communicate(timeout=PATIENCE)


def header(name: str, **fields: Any) -> bytes:
    first = {"format": "possibly-trace", "version": 1, "processes": [{"name": name}], "token": "secret"}
    return json.dumps({**first, **fields}).encode() + b"\n"


def until_ready(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    found = ""
    while not found.endswith("ready\n") and (line := process.stdout.readline()):
        found += line
    return found


def start(program: Path, name: str, address: str, events: list[dict[str, Any]]) -> subprocess.Popen[str]:
    command = [sys.executable, str(program), name, address, json.dumps(events)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
