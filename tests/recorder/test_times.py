"""Recordings with times: each event tells when it happened, in every process, and nothing else changes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import possibly
from possibly.order.computation import Computation
from possibly.trace import load
from tests.waiting import PATIENCE

PROGRAM = """\
import multiprocessing
import threading
import time
from queue import Queue

results = Queue()
shared = []


def server():
    number = results.get()
    time.sleep(0.25)
    shared.append(number)
    replied = True


def other(values):
    told = True
    values.put(1)


if __name__ == "__main__":
    asked = True
    threads = [threading.Thread(target=server, name="server")]
    threads[0].start()
    results.put(3)
    threads[0].join()
    values = multiprocessing.get_context("fork").Queue()
    process = multiprocessing.get_context("fork").Process(target=other, args=(values,), name="other")
    process.start()
    values.get()
    process.join()
"""


def run(folder: Path, *words: str) -> tuple[int, str, list[dict[str, Any]]]:
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "possibly", "run", *words, "-o", "run.jsonl", "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode in (0, 1), done.stderr
    _, *lines = (folder / "run.jsonl").read_text().splitlines()
    return done.returncode, done.stdout, [json.loads(line) for line in lines]


def plain(events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What the events of each process are, without their times and the order of the lines."""
    told = [
        {key: value for key, value in event.items() if key not in ("t", "after", "msg")} for event in events
    ]
    return sorted((event["p"], json.dumps(event, sort_keys=True)) for event in told)


def test_every_event_has_its_time_and_is_otherwise_as_without(tmp_path: Path) -> None:
    for words in (["--watch", "replied", "--watch", "told"], ["--races"], ["--record", "all"]):
        _, _, timed = run(tmp_path, *words, "--times")
        _, _, untimed = run(tmp_path, *words)
        assert all(isinstance(event["t"], float) for event in timed)
        assert not any("t" in event for event in untimed)
        assert plain(timed) == plain(untimed)


def test_times_follow_the_order(tmp_path: Path) -> None:
    run(tmp_path, "--races", "--times")
    trace = load(tmp_path / "run.jsonl")
    computation = Computation(trace)
    assert trace.time is not None and len(trace.processes) == 3
    for events in trace.events_of:
        assert [trace.time[event] for event in events] == sorted(trace.time[event] for event in events)
    own = trace.process_number["other"]
    for event in range(len(trace)):
        for earlier in computation.predecessors(event):
            between = own in (trace.process[event], trace.process[earlier])
            assert trace.time[earlier] <= trace.time[event] + between * 0.1, "clocks of processes agree"


def test_formulas_read_the_time_that_passes(tmp_path: Path) -> None:
    took = "AG(server.replied -> server.time - MainThread.time {} 0.2)"
    status, shown, _ = run(tmp_path, "--times", "--watch", "asked", "--ctl", took.format("<"))
    assert status == 1 and "possibly check run.jsonl --times --ctl" in shown
    again = [sys.executable, "-m", "possibly", "check", "run.jsonl", "--ctl", took.format("<")]
    found = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert found.returncode == 2 and "time" in found.stderr
    timed = subprocess.run([*again, "--times"], cwd=tmp_path, timeout=PATIENCE, check=False)
    assert timed.returncode == 1
    sets = "EF(server.replied & server.time - MainThread.time >= 0.2)"
    done = subprocess.run(
        [*again[:-2], "--times", "--ctl", sets], cwd=tmp_path, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0


def test_a_part_of_a_program_is_recorded_with_times(tmp_path: Path) -> None:
    with possibly.record(tmp_path / "part.jsonl", times=True) as recorder:
        possibly.event("one", x=1)
        possibly.event("two", x=2)
    assert recorder.trace is not None and recorder.trace.time is not None
    first, second = list(recorder.trace.time)
    assert first <= second
