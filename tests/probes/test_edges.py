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
import threading, queue, time, _thread
class Turns:
    'What has happened so far. Made of locks that no probe sees, so it orders nothing.'
    def __init__(self):
        self.count, self.gates = 0, [_thread.allocate_lock() for _ in range(3)]
        for gate in self.gates: gate.acquire()
    def next(self):
        self.count += 1
        self.gates[self.count].release()
    def reach(self, count):
        with self.gates[count]: pass
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
        lock, turn = threading.Lock(), Turns()
        def one():
            pass  #: outside1
            with lock:
                pass  #: inside1
            turn.next()
            pass  #: end1
        def two():
            turn.reach(1)
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
        turn = Turns()
        def one():
            lock.acquire(blocking=False)
            pass  #: failed
            turn.next()
        thread = threading.Thread(target=one)
        thread.start()
        turn.reach(1)
        pass  #: holds
        lock.release()
        """,
        "",
        "failed|holds",
    ),
    "rlock": (
        """
        lock, turn = threading.RLock(), Turns()
        def one():
            with lock:
                with lock:
                    pass
                pass  #: inner1
            turn.next()
            pass  #: end1
        def two():
            turn.reach(1)
            with lock:
                pass  #: inside2
        go(one, two)
        """,
        "inner1<inside2",
        "end1|inside2",
    ),
    "condition": (
        """
        condition, ready = threading.Condition(), Turns()
        def waiter():
            with condition:
                ready.next()
                condition.wait()
            pass  #: woken
        def notifier():
            ready.reach(1)
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
        semaphore, turn = threading.Semaphore(0), Turns()
        def giver():
            pass  #: gives
            semaphore.release()
            turn.next()
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
        semaphore, turn = threading.BoundedSemaphore(2), Turns()
        def one():
            with semaphore:
                pass  #: inside1
            turn.next()
        def two():
            turn.reach(1)
            with semaphore:
                pass  #: inside2
        go(one, two)
        """,
        "",
        "inside1|inside2",
    ),
    "event": (
        """
        event, seen = threading.Event(), Turns()
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
        event, turn = threading.Event(), Turns()
        def first():
            pass  #: first
            event.set()
            turn.next()
        def second():
            turn.reach(1)
            pass  #: second
            event.set()
            turn.next()
        def waiter():
            turn.reach(2)
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
            while not event.is_set(): pass
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
        local, turn = threading.local(), Turns()
        def one():
            local.x = 1
            pass  #: one
            turn.next()
        def two():
            turn.reach(1)
            local.x = 2
            pass  #: two
        go(one, two)
        """,
        "",
        "one|two",
    ),
    "queue": (
        """
        channel, turn = queue.Queue(), Turns()
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
        channel, turn = queue.Queue(), Turns()
        def one():
            pass  #: one
            channel.put(1)
            turn.next()
        def two():
            turn.reach(1)
            pass  #: two
            channel.put(2)
            turn.next()
        def getter():
            turn.reach(2)
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
        channel, turn = queue.LifoQueue(), Turns()
        def one():
            pass  #: one
            channel.put("first")
            turn.next()
        def two():
            turn.reach(1)
            pass  #: two
            channel.put("second")
            turn.next()
        def getter():
            turn.reach(2)
            channel.get()
            pass  #: got
        go(one, two, getter)
        """,
        "two<got",
        "one|got",
    ),
    "priority queue": (
        """
        channel, turn = queue.PriorityQueue(), Turns()
        def one():
            pass  #: one
            channel.put(2000)
            turn.next()
        def two():
            turn.reach(1)
            pass  #: two
            channel.put(1000)
            turn.next()
        def getter():
            turn.reach(2)
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
        here = Turns()
        def meet(me):
            here.next()
            here.reach(2)
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
            while not task._state == "FINISHED": await asyncio.sleep(0)
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
            await asyncio.sleep(0)
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
            await asyncio.sleep(0)
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
            await asyncio.sleep(0)
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
            await asyncio.sleep(0)
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
        barrier, turn = threading.Barrier(2), Turns()
        def waiter():
            pass  #: early
            turn.next()
            try:
                barrier.wait()
            except threading.BrokenBarrierError:
                pass  #: broken
        def breaker():
            turn.reach(1)
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
    "as_completed of asyncio": (
        """
        import asyncio
        async def one():
            pass  #: one
        async def two():
            await asyncio.sleep(0)
            pass  #: two
        async def main():
            for each in asyncio.as_completed([one(), two()]):
                await each
                if not seen:
                    seen.append(1)
                    pass  #: first
            pass  #: after
        seen = []
        asyncio.run(main())
        """,
        "one<after two<after one<first",
        "two|first one|two",
    ),
    "shield": (
        """
        import asyncio
        async def one():
            pass  #: one
        async def main():
            pass  #: before
            await asyncio.shield(one())
            pass  #: after
        asyncio.run(main())
        """,
        "before<one one<after",
        "",
    ),
    "asyncio timeout": (
        """
        import asyncio
        async def one(f):
            pass  #: one
            f.set_result(1)
            pass  #: later
        async def main():
            f = asyncio.get_running_loop().create_future()
            t = asyncio.create_task(one(f))
            async with asyncio.timeout(5):
                await f
            pass  #: after
        asyncio.run(main())
        """,
        "one<after",
        "later|after",
    ),
    "coroutine asked by a thread": (
        """
        import asyncio
        async def work():
            pass  #: work
        def other(loop):
            pass  #: asks
            future = asyncio.run_coroutine_threadsafe(work(), loop)
            pass  #: meanwhile
            future.result()
            pass  #: knows
        async def main():
            await asyncio.to_thread(other, asyncio.get_running_loop())
        asyncio.run(main())
        """,
        "asks<work work<knows",
        "meanwhile|work",
    ),
    "callback asked by a thread": (
        """
        import asyncio
        def other(loop, event):
            pass  #: before
            loop.call_soon_threadsafe(event.set)
            pass  #: meanwhile
        async def main():
            event = asyncio.Event()
            t = threading.Thread(target=other, args=(asyncio.get_running_loop(), event))
            t.start()
            await event.wait()
            pass  #: after
        asyncio.run(main())
        """,
        "before<after",
        "meanwhile|after",
    ),
    "jobs of a pool": (
        """
        from concurrent.futures import ThreadPoolExecutor
        def first():
            pass  #: first
        def second():
            pass  #: second
        with ThreadPoolExecutor(2) as pool:
            pool.submit(first).result()
            pass  #: between
            pool.submit(second)
            pool.submit(first)
        pass  #: after
        """,
        "between<second second<after first<after",
        "first|second",
    ),
    "a pool of one thread": (
        """
        from concurrent.futures import ThreadPoolExecutor
        def prepare():
            pass  #: prepare
        def first():
            pass  #: first
        def second():
            pass  #: second
        with ThreadPoolExecutor(1, initializer=prepare) as pool:
            pool.submit(first)
            pool.submit(second)
            pass  #: meanwhile
        """,
        "prepare<first first<second",
        "meanwhile|first meanwhile|second",
    ),
    "an initializer": (
        """
        from concurrent.futures import ThreadPoolExecutor
        def prepare():
            pass  #: prepare
        def job():
            pass  #: job
        with ThreadPoolExecutor(2, initializer=prepare) as pool:
            pool.submit(job)
        """,
        "prepare<job",
        "",
    ),
    "polling futures": (
        """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor
        def job():
            pass  #: job
        async def work():
            pass  #: work
        async def main():
            with ThreadPoolExecutor(1) as pool:
                future = pool.submit(job)
                while not future.done():
                    await asyncio.sleep(0.001)
                pass  #: knows
            task = asyncio.create_task(work())
            while not task.done():
                await asyncio.sleep(0)
            pass  #: after
        asyncio.run(main())
        """,
        "job<knows work<after",
        "",
    ),
    "callbacks of a loop": (
        """
        import asyncio
        def soon():
            pass  #: soon
        def next():
            pass  #: next
        def later():
            pass  #: later
        def latest():
            pass  #: latest
        async def main():
            loop = asyncio.get_running_loop()
            pass  #: asks
            loop.call_soon(soon)
            loop.call_soon(next)
            loop.call_later(0.001, later)
            loop.call_at(loop.time() + 0.002, latest)
            pass  #: meanwhile
            await asyncio.sleep(0.01)
        asyncio.run(main())
        pass  #: after
        """,
        "asks<soon soon<next asks<later asks<latest soon<after later<after latest<after",
        "meanwhile|soon next|later later|latest",
    ),
    "a future that a thread has resolved": (
        """
        import asyncio
        def other(loop, future):
            pass  #: before
            loop.call_soon_threadsafe(future.set_result, 1)
            pass  #: meanwhile
        async def main():
            loop = asyncio.get_running_loop()
            future = loop.create_future()
            t = threading.Thread(target=other, args=(loop, future))
            t.start()
            await future
            pass  #: after
        asyncio.run(main())
        """,
        "before<after",
        "meanwhile|after",
    ),
    "callbacks of futures": (
        """
        import asyncio
        def one(_):
            pass  #: one
        def two(_):
            pass  #: two
        async def work():
            pass  #: work
        async def main():
            for callback in (one, two):
                asyncio.create_task(work()).add_done_callback(callback)
            await asyncio.sleep(0.01)
        asyncio.run(main())
        """,
        "work<two",
        "one|two",
    ),
    "asyncio barrier": (
        """
        import asyncio
        async def one(b):
            pass  #: before1
            await b.wait()
            pass  #: after1
        async def two(b):
            pass  #: before2
            await b.wait()
            pass  #: after2
        async def main():
            b = asyncio.Barrier(2)
            await asyncio.gather(one(b), two(b))
        asyncio.run(main())
        """,
        "before1<after2 before2<after1",
        "before1|before2 after1|after2",
    ),
    "asyncio queue join": (
        """
        import asyncio
        async def worker(q):
            await q.get()
            pass  #: works
            q.task_done()
            pass  #: later
        async def main():
            q = asyncio.Queue()
            await q.put(1)
            t = asyncio.create_task(worker(q))
            await q.join()
            pass  #: joined
        asyncio.run(main())
        """,
        "works<joined",
        "later|joined",
    ),
    "asyncio bounded queue": (
        """
        import asyncio
        async def getter(q):
            pass  #: early
            await q.get()
            pass  #: got
        async def main():
            q = asyncio.Queue(1)
            await q.put(1)
            t = asyncio.create_task(getter(q))
            await q.put(2)
            pass  #: second
        asyncio.run(main())
        """,
        "early<second",
        "got|second",
    ),
    "callback of a task": (
        """
        import asyncio
        async def work():
            pass  #: work
        async def main():
            done = asyncio.get_running_loop().create_future()
            t = asyncio.create_task(work())
            t.add_done_callback(lambda t: done.set_result(1))
            await done
            pass  #: after
        asyncio.run(main())
        """,
        "work<after",
        "",
    ),
    "executor map": (
        """
        from concurrent.futures import ThreadPoolExecutor
        def work(n):
            pass  #: work
            return n
        with ThreadPoolExecutor(2) as pool:
            pass  #: before
            found = pool.map(work, [1])
            pass  #: meanwhile
            list(found)
            pass  #: after
        """,
        "before<work work<after",
        "meanwhile|work",
    ),
    "callback of a future": (
        """
        from concurrent.futures import ThreadPoolExecutor
        def work():
            pass  #: work
        def done(f):
            pass  #: called
        with ThreadPoolExecutor(1) as pool:
            f = pool.submit(work)
            f.add_done_callback(done)
        pass  #: end
        """,
        "work<called work<end",
        "",
    ),
    "barrier that is reset": (
        """
        barrier, turn = threading.Barrier(2), Turns()
        def waiter():
            turn.next()
            try: barrier.wait()
            except threading.BrokenBarrierError:
                pass  #: broken
        def breaker():
            turn.reach(1)
            while not barrier.n_waiting: pass
            pass  #: before
            barrier.reset()
            pass  #: after
        go(waiter, breaker)
        """,
        "before<broken",
        "after|broken",
    ),
    "condition wait_for": (
        """
        c, ok = threading.Condition(), []
        def waiter():
            with c:
                c.wait_for(lambda: ok)
            pass  #: woken
        def giver():
            with c:
                ok.append(1)
                pass  #: gives
                c.notify_all()
            pass  #: later
        go(waiter, giver)
        """,
        "gives<woken",
        "later|woken",
    ),
    "condition of a given lock": (
        """
        lock = threading.Lock()
        c = threading.Condition(lock)
        turn = Turns()
        def waiter():
            with lock:
                turn.next()
                c.wait()
                pass  #: woken
        def notifier():
            turn.reach(1)
            with c:
                pass  #: notifies
                c.notify_all()
            pass  #: later
        go(waiter, notifier)
        """,
        "notifies<woken",
        "later|woken",
    ),
    "exception of a future": (
        """
        from concurrent.futures import ThreadPoolExecutor
        def work():
            pass  #: work
            raise ValueError
        with ThreadPoolExecutor(1) as pool:
            f = pool.submit(work)
            pass  #: meanwhile
            assert f.exception()
            pass  #: after
        """,
        "work<after",
        "meanwhile|work",
    ),
    "inside of the library": (
        """
        import logging
        logging.basicConfig(stream=open('/dev/null','w'))
        turn = Turns()
        def one():
            pass  #: one
            logging.warning('x')
            turn.next()
        def two():
            turn.reach(1)
            logging.warning('y')
            pass  #: two
        go(one, two)
        """,
        "",
        "one|two",
    ),
    "own messages": (
        """
        import possibly
        turn = Turns()
        def one():
            pass  #: before
            possibly.send("key")
            turn.next()
            pass  #: after
        def two():
            turn.reach(1)
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
