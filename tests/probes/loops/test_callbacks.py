"""Callbacks as processes, and what programs may ask of primitives while they are recorded."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from possibly.probes import port
from possibly.probes.loops import callbacks
from possibly.probes.patching import Patches
from possibly.probes.processes.pipes import Carried
from tests.probes.programs import run


def test_a_callback_is_its_function_to_whoever_asks() -> None:
    def function() -> None: ...

    found = callbacks.Scheduled(function)
    assert found == function
    assert found == callbacks.Scheduled(function)
    assert hash(found) == hash(function)
    assert repr(found) == repr(function)


@pytest.fixture
def recorded_locks() -> Iterator[None]:
    from possibly.probes import locks

    patches = Patches()
    locks.install(patches)
    yield
    patches.undo()


def test_locks_say_that_they_are_those_of_threads(recorded_locks: None) -> None:
    for kind in (threading.Lock, threading.RLock):
        lock = kind()
        assert type(lock).__module__ == "_thread"
        assert port.number_of(lock)
        assert pickle.loads(pickle.dumps(type(lock))) is type(lock)


def test_what_is_carried_arrives_as_it_was_where_nobody_listens() -> None:
    assert pickle.loads(pickle.dumps(Carried("token", [1, 2]))) == [1, 2]


def test_a_program_that_leaves_generators_open_and_makes_primitives_elsewhere(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        import asyncio, threading
        from concurrent.futures import ThreadPoolExecutor
        async def numbers():
            try:
                yield 1
                yield 2
            finally:
                pass  #: closed
        async def main():
            left = numbers()
            assert await left.__anext__() == 1
        asyncio.run(main())
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(threading.BoundedSemaphore, 2).result()
            made.acquire()
            assert isinstance(made, threading.Semaphore)
        """,
    )
    assert found.status == 0
    assert found.event("closed")
    assert "acquire" in found.kinds("MainThread")
