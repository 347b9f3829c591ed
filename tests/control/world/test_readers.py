"""Callbacks of event loops for open files, and processes that an event loop waits for, are under control."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

PIPE = """\
import asyncio, os
async def main():
    loop = asyncio.get_running_loop()
    reads, writes = os.pipe()
    done = loop.create_future()
    def ready():
        loop.remove_reader(reads)
        done.set_result(os.read(reads, 100))
    loop.add_reader(reads, ready)
    os.write(writes, b"hello")
    assert await done == b"hello"
    assert not loop.remove_reader(reads)
asyncio.run(main())
"""
TWICE = """\
import asyncio, socket
async def main():
    loop = asyncio.get_running_loop()
    one, other = socket.socketpair()
    one.setblocking(False)
    got, done = [], loop.create_future()
    def ready():
        got.append(one.recv(1))
        if len(got) == 2: done.set_result(None)
    loop.add_reader(one, ready)
    other.sendall(b"ab")
    await done
    loop.remove_reader(one)
    assert got == [b"a", b"b"]
asyncio.run(main())
"""
ROOM = """\
import asyncio, socket
async def main():
    loop = asyncio.get_running_loop()
    one, other = socket.socketpair()
    can = loop.create_future()
    def ready():
        loop.remove_writer(one)
        can.set_result(True)
    loop.add_writer(one, ready)
    assert await can
asyncio.run(main())
"""
WAITED_FOR = """\
import asyncio, sys
async def main():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "raise SystemExit(3)")
    assert await child.wait() == 3 == child.returncode
asyncio.run(main())
"""
GIVEN_UP = """\
import asyncio, sys
async def main():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(60)")
    try:
        await asyncio.wait_for(child.wait(), 1)
        assert False
    except asyncio.TimeoutError:
        child.kill()
    assert await child.wait() < 0
asyncio.run(main())
"""
STILL_READ = """\
import asyncio, os
async def main():
    reads, writes = os.pipe()
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reads, "rb"))
    os.write(writes, b"x\\n")
    assert await reader.readline() == b"x\\n"
    os.close(writes)
asyncio.run(main())
"""
TOO_EARLY = """\
import asyncio, socket
async def main():
    loop = asyncio.get_running_loop()
    one, other = socket.socketpair()
    one.setblocking(False)
    got = []
    loop.add_reader(one, lambda: got.append(one.recv(10)))
    other.send(b"x")
    await asyncio.sleep(0)
    loop.remove_reader(one)
    assert got
asyncio.run(main())
"""
ENDS_IN_ANY_ORDER = """\
import asyncio, sys
order = []
async def run(name):
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
    await child.wait()
    order.append(name)
async def main():
    await asyncio.gather(run("a"), run("b"))
    assert order == ["a", "b"]
asyncio.run(main())
"""
ANSWERED = """\
import asyncio, sys
async def main():
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print(int(input()) * 2)",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    out, _ = await child.communicate(b"2\\n")
    assert child.returncode == 0 and out == b"4\\n"
asyncio.run(main())
"""


@pytest.mark.parametrize("source", [PIPE, TWICE, ROOM, WAITED_FOR, GIVEN_UP])
def test_it_is_covered(source: str, tmp_path: Path) -> None:
    found = explored(tmp_path, source)
    assert found.holds, found.open or found.failure


@pytest.mark.parametrize("source", [TOO_EARLY, ENDS_IN_ANY_ORDER])
def test_it_is_found(source: str, tmp_path: Path) -> None:
    found = explored(tmp_path, source, Options(minimise=0))
    assert found.failure is not None and found.failure.kind == "assertion"


def test_a_process_answers_through_its_pipes(tmp_path: Path) -> None:
    """The same choices give the same steps: whether it has ended is known to the loop in some turn."""
    found = explored(tmp_path, ANSWERED, Options(executions=12, minimise=0))
    assert found.failure is None
    assert not any("outside" in each or "not under control" in each for each in found.open), found.open


def test_a_pipe_that_is_still_read_from_at_the_end(tmp_path: Path) -> None:
    """Its end comes while the loop shuts down in either of two runs, or not at all."""
    found = explored(tmp_path, STILL_READ)
    assert found.holds and found.executions == 3, found.open
