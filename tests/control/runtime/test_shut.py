"""What a step says was shut just before it, was (`execution.Step.shut`): a false claim hides orders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from possibly.control.execution import ANY, Execution
from possibly.control.forking.zygote import script
from possibly.control.schedulers.course import Course, Habit

THREADS = """\
import asyncio, fcntl, os, queue, select, signal, socket, threading
{before}
def one(): {one}
def other(): {other}
tasks = [threading.Thread(target=each, daemon=True) for each in (one, other, {third})]
for each in tasks: each.start()
for each in tasks: each.join()
"""
PROGRAMS = {
    "a pipe": (
        "r, w = os.pipe()", "os.write(w, b'a'); os.write(w, b'b'); os.close(w)", "os.read(r, 9)", "one",
    ),
    "ends of a pipe": ("r, w = os.pipe()", "os.close(r)", "os.write(w, b'a'); os.close(w)", ""),
    "a poll": (
        "(r, w), (s, t) = os.pipe(), os.pipe(); os.write(w, b'a')\np = select.poll(); p.register(r)",
        "p.poll(); p.poll()", "p.register(s); p.modify(s, 0); p.unregister(s)", "",
    ),
    "a lock": (
        "lock = threading.RLock()", "\n    with lock:\n        with lock: pass", "lock.acquire(False)", "one",
    ),
    "a semaphore": (
        "s = threading.Semaphore(1)", "s.acquire(); s.release()", "s.release(); s.acquire()", "one",
    ),
    "an event": ("e = threading.Event()", "e.wait(); e.wait(1)", "e.set(); e.set()", "one"),
    "an event that is cleared": ("e = threading.Event()", "e.wait(1)", "e.set(); e.clear(); e.set()", "one"),
    "a condition": (
        "c = threading.Condition()", "\n    with c: c.wait(1)", "\n    with c: c.notify(); c.notify()", "one",
    ),
    "a queue": ("q = queue.Queue(1)", "q.put(1); q.put(2)", "q.get(); q.get(timeout=1)", ""),
    "a heap": ("q = queue.PriorityQueue()", "q.put(1); q.put(0)", "q.get()", "other"),
    "a file's lock": (
        "open('f', 'w').close()",
        "\n    with open('f') as f: fcntl.flock(f, fcntl.LOCK_SH); fcntl.flock(f, fcntl.LOCK_UN)",
        "\n    with open('f') as f: fcntl.flock(f, fcntl.LOCK_EX); fcntl.flock(f, fcntl.LOCK_UN)", "one",
    ),
    "sockets": (
        "a, b = socket.socketpair()", "a.sendall(b'x'); a.sendall(b'y'); a.close()", "b.recv(9)", "other",
    ),
    "signals": (
        "signal.signal(signal.SIGUSR1, lambda *_: None); signal.signal(signal.SIGUSR2, lambda *_: None)",
        "os.kill(os.getpid(), signal.SIGUSR1)", "os.kill(os.getpid(), signal.SIGUSR2)", "one",
    ),
    "a loop and threads": ("", "asyncio.run(asyncio.to_thread(abs, 1))", "pass", "one"),
}  # fmt: skip


def false_claims(execution: Execution) -> Iterator[str]:
    for step in execution.steps:
        for task in set(step.enabled) - {step.task}:
            operation = step.pending[task]
            touched = {operation.thing, *(access.thing for access in operation.footprint)}
            for kind, thing in step.shut:
                if operation.waits and kind in (operation.kind, ANY) and thing in touched:
                    yield f"{step.operation.kind} says {kind} of {thing} was shut, but {task} could do it"


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_said_to_be_shut_could_not_be_done(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, one, other, third = PROGRAMS[name]
    path = tmp_path / "program.py"
    path.write_text(THREADS.format(before=before, one=one, other=other, third=third))
    with script((str(path),)) as program:
        executions = [program.execute(Course(habit=Habit.RANDOM, seed=seed)) for seed in range(12)]
    assert any(step.shut for each in executions for step in each.steps), "nothing is ever shut"
    assert not [claim for each in executions for claim in false_claims(each)]
