"""Turns of event loops: what is taken away could have come before, and who polls lets others go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

TIMERS = """\
import asyncio
won = []
async def main():
    loop, timers = asyncio.get_running_loop(), {{}}
    def fire(mine, other):
        won.append(mine)
        timers[other].cancel()
    timers["a"] = loop.call_later(0.5, fire, "a", "b")
    timers["b"] = loop.call_later(0.5, fire, "b", "a")
    await asyncio.sleep(5)
    assert won != ["{which}"]
asyncio.run(main())
"""
POLLING = """\
import asyncio
held = []
async def main():
    async def give():
        await asyncio.sleep(1)
        {gives}
    giving = asyncio.create_task(give())
    event, items = asyncio.Event(), asyncio.Queue()
    while {waits}:
        await asyncio.sleep({nap})
    await giving
asyncio.run(main())
"""
POLLS = {
    "held.append(1)": "not held",
    "event.set()": "not event.is_set()",
    "items.put_nowait(1)": "items.empty()",
    "pass": "not giving.done()",
}


@pytest.mark.parametrize("which", "ab")
def test_a_timer_that_is_cancelled_may_have_come_before(which: str, tmp_path: Path) -> None:
    assert explored(tmp_path, TIMERS.format(which=which), Options(minimise=0)).holds is False


@pytest.mark.parametrize("nap", [0, 0.01])
@pytest.mark.parametrize("gives", POLLS)
def test_who_polls_waits_for_what_is_read(gives: str, nap: float, tmp_path: Path) -> None:
    found = explored(tmp_path, POLLING.format(gives=gives, waits=POLLS[gives], nap=nap))
    assert found.holds, found.open or found.failure


def test_who_polls_what_nobody_changes_is_a_livelock(tmp_path: Path) -> None:
    found = explored(tmp_path, POLLING.format(gives="pass", waits="not held", nap=0), Options(minimise=0))
    assert found.failure is not None and found.failure.kind == "livelock"


SERVED = """\
import asyncio
log = []
async def handle(reader, writer):
    line = await reader.readline()
    writer.write(line)
    {after}
async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 9000)
    reader, writer = await asyncio.open_connection("127.0.0.1", 9000)
    writer.write(b"x\\n")
    await reader.readline()
    await asyncio.sleep(0)
"""
PLAIN = """\
import asyncio
log = []
async def later():
    await asyncio.sleep(0)
    log.append(1)
async def main():
    {after}
    await asyncio.sleep(0)
"""
ARRIVES = """\
import asyncio
log = []
class Takes(asyncio.Protocol):
    def data_received(self, data):
        log.append(1)
async def main():
    loop = asyncio.get_running_loop()
    await loop.create_server(Takes, "127.0.0.1", 9000)
    transport, _ = await loop.create_connection(asyncio.Protocol, "127.0.0.1", 9000)
    transport.write(b"x")
    await asyncio.sleep(0)
"""
LEFT = {
    "a handler": SERVED.format(after="await asyncio.sleep(0)\n    log.append(1)"),
    "a timer of a handler": SERVED.format(after="asyncio.get_running_loop().call_later(0, log.append, 1)"),
    "a task of a handler": SERVED.format(
        after="task = asyncio.create_task(asyncio.sleep(0))\n"
        "    task.add_done_callback(lambda _: _.cancelled() or log.append(1))"
    ),
    "a task": PLAIN.format(after="asyncio.create_task(later())"),
    "a timer": PLAIN.format(after="asyncio.get_running_loop().call_later(0, log.append, 1)"),
    "an arrival": ARRIVES,
}
ENDS = {
    "run": "asyncio.run(main())",
    "Runner": "with asyncio.Runner() as runner:\n    runner.run(main())",
    "close": "loop = asyncio.new_event_loop()\nloop.run_until_complete(main())\nloop.close()",
}


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("left", LEFT)
def test_what_is_left_when_a_loop_ends_may_have_come_or_not(left: str, ends: str, tmp_path: Path) -> None:
    for outcome in ([], [1]):
        text = f"{LEFT[left]}{ENDS[ends]}\nassert log != {outcome}\n"
        found = explored(tmp_path, text, Options(minimise=0))
        assert found.failure is not None and found.failure.kind == "assertion", (outcome, found.open)


def test_what_comes_between_two_runs_of_a_loop_meets_what_is_left(tmp_path: Path) -> None:
    again = (
        'loop.run_until_complete(main())\nlog.append("between")\nloop.run_until_complete(asyncio.sleep(0))'
    )
    ends = ENDS["close"].replace("loop.run_until_complete(main())", again)
    for outcome in ([1, "between"], ["between", 1], ["between"]):
        text = f"{LEFT['a task']}{ends}\nassert log != {outcome}\n"
        assert explored(tmp_path, text, Options(minimise=0)).holds is False, outcome


FAILING = """\
import asyncio
log = []
async def write():
    for part in "ab":
        await asyncio.sleep(0.2)
        log.append(part)
async def fail():
    await asyncio.sleep(0.2)
    raise ValueError
async def main():
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(write())
            group.create_task(fail())
    except* ValueError: pass
    assert log != {lost!r}, log
asyncio.run(main())
"""


@pytest.mark.parametrize("lost", [[], ["a"], ["a", "b"]])
def test_a_member_of_a_group_that_fails_may_do_so_before_any_turn_of_another(
    lost: list[str], tmp_path: Path
) -> None:
    found = explored(tmp_path, FAILING.format(lost=lost))
    assert found.failure is not None, found.open


def test_a_timer_may_cancel_itself(tmp_path: Path) -> None:
    source = """\
import asyncio
async def main():
    loop, held, done = asyncio.get_running_loop(), [], asyncio.Event()
    def fire():
        held[0].cancel()
        done.set()
    held.append(loop.call_later(0.5, fire))
    await done.wait()
asyncio.run(main())
"""
    assert explored(tmp_path, source).complete


def test_who_polls_what_code_that_is_not_watched_writes_gives_way(tmp_path: Path) -> None:
    """A task that sleeps has given way: whoever is ready goes first, unless an order is looked for."""
    source = """\
import asyncio
async def main():
    ready = []
    async def begin():
        for _ in range(20): await asyncio.sleep(0)
        ready.append(1)
    task = asyncio.create_task(begin())
    while not len(ready): await asyncio.sleep(0.001)
    await task
asyncio.run(main())
"""
    found = explored(tmp_path, source, Options(executions=1))
    assert found.failure is None and found.steps < 200, found.steps


@pytest.mark.parametrize("nap", ["asyncio.sleep(0)", "asyncio.sleep(0.1)"])
def test_a_task_that_naps_lets_those_begin_that_it_has_started(nap: str, tmp_path: Path) -> None:
    source = f"""\
import asyncio
log = []
async def begin(number): log.append(number)
async def main():
    tasks = [asyncio.create_task(begin(each)) for each in range(2)]
    await {nap}
    assert log == [0, 1]
    await asyncio.gather(*tasks)
asyncio.run(main())
"""
    found = explored(tmp_path, source)
    assert found.complete, found.failure


SIGNALS = {
    "a handler": """\
import os, signal
got = []
signal.signal(signal.SIGUSR1, lambda number, frame: got.append(number))
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
assert got == [signal.SIGUSR1] * 2
""",
    "that of a loop": """\
import asyncio, os, signal
async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    os.kill(os.getpid(), signal.SIGTERM)
    await stop.wait()
asyncio.run(main())
""",
}


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_to_oneself_comes(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, SIGNALS[name])
    assert found.complete, (found.failure, found.open)
    assert "no signal comes from outside the program" in found.assumed


FROM_THREADS = """\
import asyncio, threading
seen = []
async def note(number): seen.append(number)
async def main():
    loop = asyncio.get_running_loop()
    def call(number): {call}
    def calls():
        {calls}
    thread = threading.Thread(target=calls)
    thread.start()
    while len(seen) < 2: await asyncio.sleep(1)
    assert seen == [0, 1]
asyncio.run(main())
"""
CALLS = {
    "a call": "loop.call_soon_threadsafe(seen.append, number)",
    "a coroutine": "asyncio.run_coroutine_threadsafe(note(number), loop)",
}
IN_ORDER = {
    "one after the other": "one = threading.Thread(target=call, args=(0,)); one.start(); one.join(); call(1)",
    "one thread": "call(0); call(1)",
}


@pytest.mark.parametrize(("call", "calls"), list(zip(CALLS, IN_ORDER, strict=True)))
def test_calls_of_threads_come_in_their_order(call: str, calls: str, tmp_path: Path) -> None:
    found = explored(tmp_path, FROM_THREADS.format(call=CALLS[call], calls=IN_ORDER[calls]))
    assert found.complete, (found.failure, found.open)


def test_calls_of_threads_that_nothing_orders_come_in_any(tmp_path: Path) -> None:
    both = "[threading.Thread(target=call, args=(each,)).start() for each in (0, 1)]"
    found = explored(tmp_path, FROM_THREADS.format(call=CALLS["a call"], calls=both))
    assert found.failure is not None and found.failure.kind == "assertion"


HEDGED = """\
import asyncio
ended = []
async def fetch(number):
    try: await asyncio.sleep({delay})
    finally: ended.append(number)
async def main():
    tasks = [asyncio.create_task(fetch(each)) for each in (1, 2)]
    _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for each in pending: each.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    assert sorted(ended) == [1, 2], ended
asyncio.run(main())
"""


@pytest.mark.parametrize("delay", ["0", "0.1", "0.1 * number"])
def test_who_is_ready_goes_on_before_a_later_sleep_ends(delay: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEDGED.format(delay=delay))
    assert found.complete, (found.failure, found.open)
