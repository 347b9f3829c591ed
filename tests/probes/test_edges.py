"""Each primitive gives its edges and no more.

Programs with labelled lines, pairs of them that must be ordered, and pairs that must not.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from tests.probes.programs import run

THREADS = """
import threading, queue, time
def go(*works):
    threads = [threading.Thread(target=work, name=work.__name__) for work in works]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""

CASES: dict[str, tuple[str, str, str]] = {
    # name: (program, pairs that are ordered, pairs that are concurrent)
    "start and join": (
        """
        def work():
            pass  #: work
        pass  #: before
        thread = threading.Thread(target=work)
        thread.start()
        pass  #: meanwhile
        thread.join()
        pass  #: after
        """,
        "before<work work<after before<after",
        "meanwhile|work",
    ),
    "is_alive": (
        """
        def work():
            pass  #: work
        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive(): pass
        pass  #: after
        """,
        "work<after",
        "",
    ),
    "timer": (
        """
        def work():
            pass  #: work
        timer = threading.Timer(0.001, work)
        pass  #: before
        timer.start()
        pass  #: meanwhile
        timer.join()
        pass  #: after
        """,
        "before<work work<after",
        "meanwhile|work",
    ),
    "lock": (
        """
        lock, turn = threading.Lock(), [1]
        def one():
            pass  #: outside1
            with lock:
                pass  #: inside1
            turn.append(2)
            pass  #: end1
        def two():
            while len(turn) == 1: time.sleep(0.001)
            pass  #: outside2
            lock.acquire()
            pass  #: inside2
            lock.release()
        go(one, two)
        """,
        "inside1<inside2 outside1<inside2",
        "outside2|inside1 end1|inside2 outside1|outside2",
    ),
    "failed acquire": (
        """
        lock = threading.Lock()
        lock.acquire()
        turn = []
        def one():
            lock.acquire(blocking=False)
            pass  #: failed
            turn.append(1)
        thread = threading.Thread(target=one)
        thread.start()
        while not turn: time.sleep(0.001)
        pass  #: holds
        lock.release()
        """,
        "",
        "failed|holds",
    ),
    "rlock": (
        """
        lock, turn = threading.RLock(), []
        def one():
            with lock:
                with lock:
                    pass
                pass  #: inner1
            turn.append(1)
            pass  #: end1
        def two():
            while not turn: time.sleep(0.001)
            with lock:
                pass  #: inside2
        go(one, two)
        """,
        "inner1<inside2",
        "end1|inside2",
    ),
    "condition": (
        """
        condition, ready = threading.Condition(), []
        def waiter():
            with condition:
                ready.append(1)
                condition.wait()
            pass  #: woken
        def notifier():
            while not ready: time.sleep(0.001)
            with condition:
                pass  #: notifies
                condition.notify()
            pass  #: goes_on
        go(waiter, notifier)
        """,
        "notifies<woken",
        "goes_on|woken",
    ),
    "semaphore": (
        """
        semaphore, turn = threading.Semaphore(0), []
        def giver():
            pass  #: gives
            semaphore.release()
            turn.append(1)
            pass  #: later
        def taker():
            pass  #: early
            semaphore.acquire()
            pass  #: took
        go(giver, taker)
        """,
        "gives<took",
        "later|took early|gives",
    ),
    "semaphore with units of its own": (
        """
        semaphore, turn = threading.BoundedSemaphore(2), []
        def one():
            with semaphore:
                pass  #: inside1
            turn.append(1)
        def two():
            while not turn: time.sleep(0.001)
            with semaphore:
                pass  #: inside2
        go(one, two)
        """,
        "",
        "inside1|inside2",
    ),
    "event": (
        """
        event, seen = threading.Event(), []
        def setter():
            pass  #: before
            event.set()
            pass  #: after
        def waiter():
            pass  #: early
            event.wait()
            pass  #: woken
        go(setter, waiter)
        """,
        "before<woken",
        "after|woken early|before",
    ),
    "event set twice": (
        """
        event, turn = threading.Event(), []
        def first():
            pass  #: first
            event.set()
            turn.append(1)
        def second():
            while not turn: time.sleep(0.001)
            pass  #: second
            event.set()
            turn.append(2)
        def waiter():
            while len(turn) < 2: time.sleep(0.001)
            event.wait()
            pass  #: woken
        go(first, second, waiter)
        """,
        "first<woken",
        "second|woken first|second",
    ),
    "event is_set": (
        """
        event = threading.Event()
        def setter():
            pass  #: before
            event.set()
        def poller():
            while not event.is_set(): time.sleep(0.001)
            pass  #: seen
        go(setter, poller)
        """,
        "before<seen",
        "",
    ),
    "barrier": (
        """
        barrier = threading.Barrier(2)
        def one():
            pass  #: before1
            barrier.wait()
            pass  #: after1
        def two():
            pass  #: before2
            barrier.wait()
            pass  #: after2
        go(one, two)
        """,
        "before1<after2 before2<after1",
        "before1|before2 after1|after2",
    ),
    "barrier with an action": (
        """
        def action():
            pass  #: action
        barrier = threading.Barrier(2, action)
        def one():
            pass  #: before1
            barrier.wait()
            pass  #: after1
        def two():
            pass  #: before2
            barrier.wait()
            pass  #: after2
        go(one, two)
        """,
        "before1<action before2<action action<after1 action<after2",
        "after1|after2",
    ),
    "thread local": (
        """
        local, turn = threading.local(), []
        def one():
            local.x = 1
            pass  #: one
            turn.append(1)
        def two():
            while not turn: time.sleep(0.001)
            local.x = 2
            pass  #: two
        go(one, two)
        """,
        "",
        "one|two",
    ),
    "queue": (
        """
        channel, turn = queue.Queue(), []
        def putter():
            pass  #: before
            channel.put(1)
            pass  #: after
        def getter():
            pass  #: early
            channel.get()
            pass  #: got
        go(putter, getter)
        """,
        "before<got",
        "after|got early|before",
    ),
    "queue of several": (
        """
        channel, turn = queue.Queue(), []
        def one():
            pass  #: one
            channel.put(1)
            turn.append(1)
        def two():
            while not turn: time.sleep(0.001)
            pass  #: two
            channel.put(2)
            turn.append(2)
        def getter():
            while len(turn) < 2: time.sleep(0.001)
            channel.get()
            pass  #: got_one
        go(one, two, getter)
        """,
        "one<got_one",
        "two|got_one one|two",
    ),
    "bounded queue": (
        """
        channel = queue.Queue(1)
        def putter():
            channel.put(1)
            channel.put(2)
            pass  #: second_put
        def getter():
            pass  #: early
            channel.get()
            pass  #: got
        go(putter, getter)
        """,
        "early<second_put",
        "got|second_put",
    ),
    "last in, first out": (
        """
        channel, turn = queue.LifoQueue(), []
        def one():
            pass  #: one
            channel.put("first")
            turn.append(1)
        def two():
            while not turn: time.sleep(0.001)
            pass  #: two
            channel.put("second")
            turn.append(2)
        def getter():
            while len(turn) < 2: time.sleep(0.001)
            channel.get()
            pass  #: got
        go(one, two, getter)
        """,
        "two<got",
        "one|got",
    ),
    "priority queue": (
        """
        channel, turn = queue.PriorityQueue(), []
        def one():
            pass  #: one
            channel.put(2000)
            turn.append(1)
        def two():
            while not turn: time.sleep(0.001)
            pass  #: two
            channel.put(1000)
            turn.append(2)
        def getter():
            while len(turn) < 2: time.sleep(0.001)
            channel.get()
            pass  #: got
        go(one, two, getter)
        """,
        "two<got",
        "one|got",
    ),
    "simple queue": (
        """
        channel = queue.SimpleQueue()
        def putter():
            pass  #: before
            channel.put(1)
            pass  #: after
        def getter():
            channel.get()
            pass  #: got
        go(putter, getter)
        """,
        "before<got",
        "after|got",
    ),
    "task_done and join": (
        """
        channel = queue.Queue()
        def worker():
            channel.get()
            pass  #: works
            channel.task_done()
            pass  #: later
        channel.put(1)
        thread = threading.Thread(target=worker)
        thread.start()
        channel.join()
        pass  #: joined
        """,
        "works<joined",
        "later|joined",
    ),
    "futures": (
        """
        from concurrent.futures import ThreadPoolExecutor, wait
        def work():
            pass  #: work
            return 1
        with ThreadPoolExecutor(1) as pool:
            pass  #: before
            future = pool.submit(work)
            pass  #: meanwhile
            future.result()
            pass  #: after
        """,
        "before<work work<after",
        "meanwhile|work",
    ),
    "future learnt by wait": (
        """
        from concurrent.futures import ThreadPoolExecutor, wait
        def work():
            pass  #: work
        with ThreadPoolExecutor(1) as pool:
            wait([pool.submit(work)])
            pass  #: after
        """,
        "work<after",
        "",
    ),
    "two futures": (
        """
        from concurrent.futures import ThreadPoolExecutor, as_completed
        here = set()
        def meet(me):
            here.add(me)
            while len(here) < 2: time.sleep(0.001)
        def one():
            meet(1)
            pass  #: one
        def two():
            meet(2)
            pass  #: two
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(one), pool.submit(two)]
            futures[1].result()
            pass  #: knows_two
            list(as_completed(futures))
            pass  #: knows_both
        """,
        "two<knows_two one<knows_both",
        "one|two one|knows_two",
    ),
    "tasks": (
        """
        import asyncio
        async def work():
            pass  #: work
        async def main():
            pass  #: before
            task = asyncio.create_task(work(), name="worker")
            pass  #: meanwhile
            await task
            pass  #: after
        asyncio.run(main())
        pass  #: end
        """,
        "before<work work<after after<end",
        "meanwhile|work",
    ),
    "tasks done already": (
        """
        import asyncio
        async def work():
            pass  #: work
        async def main():
            task = asyncio.create_task(work())
            while not task.done(): await asyncio.sleep(0)
            pass  #: meanwhile
            await task
            pass  #: after
        asyncio.run(main())
        """,
        "work<after",
        "meanwhile|work",
    ),
    "gather": (
        """
        import asyncio
        async def one():
            pass  #: one
        async def two():
            pass  #: two
        async def main():
            await asyncio.gather(one(), two())
            pass  #: after
        asyncio.run(main())
        """,
        "one<after two<after",
        "one|two",
    ),
    "task group": (
        """
        import asyncio
        async def one():
            pass  #: one
        async def two():
            await asyncio.sleep(0)
            pass  #: two
        async def main():
            async with asyncio.TaskGroup() as group:
                group.create_task(one())
                group.create_task(two())
                pass  #: inside
            pass  #: after
        asyncio.run(main())
        """,
        "one<after two<after",
        "one|two inside|one",
    ),
    "asyncio wait and wait_for": (
        """
        import asyncio
        async def one():
            pass  #: one
        async def two():
            pass  #: two
        async def main():
            await asyncio.wait([asyncio.create_task(one())])
            pass  #: after1
            await asyncio.wait_for(two(), 5)
            pass  #: after2
        asyncio.run(main())
        """,
        "one<after1 two<after2 after1<two",
        "",
    ),
    "cancel": (
        """
        import asyncio
        async def work():
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                pass  #: cancelled
        async def main():
            task = asyncio.create_task(work())
            await asyncio.sleep(0)
            pass  #: before
            task.cancel()
            pass  #: meanwhile
            await task
        asyncio.run(main())
        """,
        "before<cancelled",
        "meanwhile|cancelled",
    ),
    "asyncio lock": (
        """
        import asyncio
        async def one(lock):
            async with lock:
                pass  #: inside1
            pass  #: after1
        async def two(lock):
            await asyncio.sleep(0.01)
            pass  #: before2
            async with lock:
                pass  #: inside2
        async def main():
            lock = asyncio.Lock()
            await asyncio.gather(one(lock), two(lock))
        asyncio.run(main())
        """,
        "inside1<inside2",
        "after1|inside2 before2|inside1",
    ),
    "asyncio semaphore": (
        """
        import asyncio
        async def one(semaphore):
            pass  #: gives
            semaphore.release()
            pass  #: later
        async def two(semaphore):
            await semaphore.acquire()
            pass  #: took
        async def main():
            semaphore = asyncio.Semaphore(0)
            await asyncio.gather(one(semaphore), two(semaphore))
        asyncio.run(main())
        """,
        "gives<took",
        "later|took",
    ),
    "asyncio event": (
        """
        import asyncio
        async def setter(event):
            pass  #: before
            event.set()
            pass  #: after
        async def waiter(event):
            await event.wait()
            pass  #: woken
        async def late(event):
            await asyncio.sleep(0.01)
            await event.wait()
            pass  #: late
        async def main():
            event = asyncio.Event()
            await asyncio.gather(waiter(event), setter(event), late(event))
        asyncio.run(main())
        """,
        "before<woken before<late",
        "after|late",
    ),
    "asyncio condition": (
        """
        import asyncio
        async def notifier(condition):
            await asyncio.sleep(0.01)
            async with condition:
                pass  #: notifies
                condition.notify()
            pass  #: later
        async def waiter(condition):
            async with condition:
                await condition.wait()
                pass  #: woken
        async def main():
            condition = asyncio.Condition()
            await asyncio.gather(waiter(condition), notifier(condition))
        asyncio.run(main())
        """,
        "notifies<woken",
        "later|woken",
    ),
    "asyncio queue": (
        """
        import asyncio
        async def putter(channel):
            pass  #: before
            await channel.put(1)
            pass  #: after
        async def getter(channel):
            await asyncio.sleep(0.01)
            pass  #: early
            await channel.get()
            pass  #: got
        async def main():
            channel = asyncio.Queue()
            await asyncio.gather(putter(channel), getter(channel))
        asyncio.run(main())
        """,
        "before<got",
        "after|got early|before",
    ),
    "cancelled future": (
        """
        from concurrent.futures import CancelledError, ThreadPoolExecutor
        pool, gate = ThreadPoolExecutor(1), threading.Event()
        pool.submit(gate.wait)
        second = pool.submit(print)
        def canceller():
            pass  #: before
            second.cancel()
            pass  #: after
        def waiter():
            pass  #: early
            try:
                second.result()
            except CancelledError:
                pass  #: knows
        go(canceller, waiter)
        gate.set()
        """,
        "before<knows",
        "after|knows early|before",
    ),
    "broken barrier": (
        """
        barrier, turn = threading.Barrier(2), []
        def waiter():
            pass  #: early
            turn.append(1)
            try:
                barrier.wait()
            except threading.BrokenBarrierError:
                pass  #: broken
        def breaker():
            while not turn: time.sleep(0.001)
            pass  #: before
            barrier.abort()
            pass  #: after
        go(waiter, breaker)
        """,
        "before<broken",
        "after|broken early|before",
    ),
    "asyncio streams": (
        """
        import asyncio
        async def serve(reader, writer):
            pass  #: early
            await reader.readline()
            pass  #: heard
            await reader.readexactly(2)
            pass  #: heard_more
            writer.write(b"answer")
            pass  #: after_answer
            await writer.drain()
            writer.close()
        async def main():
            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            pass  #: before
            writer.write(b"question\\n")
            pass  #: between
            writer.writelines([b"m", b"ore"])
            pass  #: asked
            await reader.read()
            pass  #: answered
            writer.close()
            server.close()
        asyncio.run(main())
        """,
        "before<heard between<heard_more heard_more<answered",
        "between|heard asked|heard_more early|before after_answer|answered",
    ),
    "asyncio future": (
        """
        import asyncio
        async def setter(future):
            pass  #: before
            future.set_result(1)
            pass  #: after
        async def waiter(future):
            await future
            pass  #: woken
        async def main():
            future = asyncio.get_running_loop().create_future()
            await asyncio.gather(waiter(future), setter(future))
        asyncio.run(main())
        """,
        "before<woken",
        "after|woken",
    ),
    "to_thread": (
        """
        import asyncio
        def work():
            pass  #: work
        async def other():
            pass  #: other
        async def main():
            task = asyncio.create_task(other())
            pass  #: before
            await asyncio.to_thread(work)
            pass  #: after
            await task
        asyncio.run(main())
        """,
        "before<work work<after",
        "other|work",
    ),
    "own messages": (
        """
        import possibly
        turn = []
        def one():
            pass  #: before
            possibly.send("key")
            turn.append(1)
            pass  #: after
        def two():
            while not turn: time.sleep(0.001)
            possibly.receive("key")
            pass  #: got
        go(one, two)
        """,
        "before<got",
        "after|got",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_edges(name: str, tmp_path: Path) -> None:
    source, ordered, concurrent = CASES[name]
    found = run(tmp_path, THREADS + textwrap.dedent(source))
    assert found.status == 0
    for first, second in re.findall(r"(\w+)<(\w+)", ordered):
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in re.findall(r"(\w+)\|(\w+)", concurrent):
        assert found.concurrent(first, second), f"{first} and {second} are ordered\n{found.lines()}"
