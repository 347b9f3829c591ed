"""Whoever waits, for whatever, goes on when it comes: not before, and at the time of whoever brought it.

Each program comes to a moment five seconds after its begin, in one way of waiting, while somebody else sleeps
for five and a half; without any slack it must not see that one's work before it has slept for a second more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

IN_A_LOOP = """\
import asyncio, threading, time
from concurrent.futures import ThreadPoolExecutor
done = []
async def later():
    await asyncio.sleep(5.5)
    done.append(1)
async def main():
    loop = asyncio.get_running_loop()
    begun = loop.time(), time.monotonic()
    task = asyncio.create_task(later())
{body}
    assert 5 <= loop.time() - begun[0] < 5.01
    assert 5 <= time.monotonic() - begun[1] < 5.01
    assert not done
    await asyncio.sleep(1)
    assert done
asyncio.run(main())
"""
IN_A_THREAD = """\
import multiprocessing, os, queue, select, socket, subprocess, sys, threading, time
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
done = []
def later():
    time.sleep(5.5)
    done.append(1)
begun = time.monotonic()
threading.Thread(target=later).start()
{body}
assert 5 <= time.monotonic() - begun < 5.01
assert not done
time.sleep(1)
assert done
"""
OF_A_TASK = {
    "event": """
    e=asyncio.Event()
    async def s():
        await asyncio.sleep(5); e.set()
    t=asyncio.create_task(s()); await e.wait()
""",
    "lock": """
    l=asyncio.Lock()
    async def s():
        async with l: await asyncio.sleep(5)
    t=asyncio.create_task(s()); await asyncio.sleep(1)
    async with l: pass
""",
    "queue": """
    q=asyncio.Queue()
    async def s():
        await asyncio.sleep(5); await q.put(1)
    t=asyncio.create_task(s()); await q.get()
""",
    "place in a queue": """
    q=asyncio.Queue(1); q.put_nowait(1)
    async def s():
        await asyncio.sleep(5); await q.get()
    t=asyncio.create_task(s()); await q.put(2)
""",
    "queue joined": """
    q=asyncio.Queue(1); q.put_nowait(1)
    async def s():
        await asyncio.sleep(5); await q.get(); q.task_done()
    t=asyncio.create_task(s()); await q.join()
""",
    "condition": """
    c=asyncio.Condition()
    async def s():
        await asyncio.sleep(5)
        async with c: c.notify()
    t=asyncio.create_task(s())
    async with c: await c.wait()
""",
    "semaphore": """
    c=asyncio.Semaphore(0)
    async def s():
        await asyncio.sleep(5); c.release()
    t=asyncio.create_task(s()); await c.acquire()
""",
    "future": """
    f=loop.create_future(); loop.call_later(5,f.set_result,1); await f
""",
    "future by two timers": """
    f=loop.create_future(); loop.call_later(2,lambda: loop.call_later(3,f.set_result,1)); await f
""",
    "gather": """
    await asyncio.gather(asyncio.sleep(5), asyncio.sleep(3))
""",
    "wait": """
    await asyncio.wait([asyncio.create_task(asyncio.sleep(5)), asyncio.create_task(asyncio.sleep(3))])
""",
    "first completed": """
    tasks = [asyncio.create_task(asyncio.sleep(seconds)) for seconds in (5, 30)]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
""",
    "wait with a time-out": """
    await asyncio.wait([asyncio.create_task(asyncio.sleep(50))],timeout=5)
""",
    "wait_for an event": """
    try: await asyncio.wait_for(asyncio.Event().wait(),5)
    except asyncio.TimeoutError: pass
""",
    "wait_for a sleep": """
    try: await asyncio.wait_for(asyncio.sleep(50),5)
    except asyncio.TimeoutError: pass
""",
    "task group": """
    async with asyncio.TaskGroup() as g:
        g.create_task(asyncio.sleep(5)); g.create_task(asyncio.sleep(2))
""",
    "timeout": """
    try:
        async with asyncio.timeout(5): await asyncio.sleep(50)
    except TimeoutError: pass
""",
    "as completed": """
    for f in asyncio.as_completed([asyncio.sleep(5), asyncio.sleep(3)]): await f
""",
    "to_thread": """
    await asyncio.to_thread(time.sleep,5)
""",
    "executor": """
    with ThreadPoolExecutor(1) as p: await loop.run_in_executor(p,time.sleep,5)
""",
    "call from a thread": """
    e=asyncio.Event()
    def th():
        time.sleep(5); loop.call_soon_threadsafe(e.set)
    threading.Thread(target=th).start(); await e.wait()
""",
    "coroutine from a thread": """
    e=asyncio.Event()
    async def st(): e.set()
    def th():
        time.sleep(5); asyncio.run_coroutine_threadsafe(st(),loop).result()
    threading.Thread(target=th).start(); await e.wait()
""",
    "cancelled": """
    async def s():
        await asyncio.sleep(100)
    t=asyncio.create_task(s()); loop.call_later(5,t.cancel)
    try: await t
    except asyncio.CancelledError: pass
""",
    "shield": """
    t=asyncio.create_task(asyncio.sleep(5))
    await asyncio.shield(t)
""",
    "async generator": """
    async def g():
        for i in range(5):
            await asyncio.sleep(1); yield i
    async for _ in g(): pass
""",
    "stream": """
    async def h(r,w):
        await r.readline(); await asyncio.sleep(5); w.write(b"x" + bytes([10])); await w.drain(); w.close()
    srv=await asyncio.start_server(h,"127.0.0.1",0)
    r,w=await asyncio.open_connection(*srv.sockets[0].getsockname()[:2])
    w.write(b"a" + bytes([10])); await r.readline(); w.close(); srv.close()
""",
    "barrier": """
    b=asyncio.Barrier(2)
    async def s():
        await asyncio.sleep(5); await b.wait()
    t=asyncio.create_task(s()); await b.wait()
""",
}
OF_A_THREAD = {
    "event": """
e=threading.Event()
def s(): time.sleep(5); e.set()
threading.Thread(target=s).start(); e.wait()
""",
    "join": """
t=threading.Thread(target=time.sleep,args=(5,)); t.start(); t.join()
""",
    "join with a time-out": """
t=threading.Thread(target=time.sleep,args=(50,),daemon=True); t.start(); t.join(5)
""",
    "lock": """
l=threading.Lock(); l.acquire()
def s(): time.sleep(5); l.release()
threading.Thread(target=s).start(); l.acquire()
""",
    "lock with a time-out": """
l=threading.Lock(); l.acquire(); l.acquire(timeout=5)
""",
    "queue": """
q=queue.Queue()
def s(): time.sleep(5); q.put(1)
threading.Thread(target=s).start(); q.get()
""",
    "queue with a time-out": """
q=queue.Queue()
try: q.get(timeout=5)
except queue.Empty: pass
""",
    "condition": """
c=threading.Condition()
def s():
    time.sleep(5)
    with c: c.notify()
threading.Thread(target=s).start()
with c: c.wait()
""",
    "condition with a time-out": """
c=threading.Condition()
with c: c.wait(5)
""",
    "semaphore": """
c=threading.Semaphore(0)
def s(): time.sleep(5); c.release()
threading.Thread(target=s).start(); c.acquire()
""",
    "barrier": """
b=threading.Barrier(2)
def s(): time.sleep(5); b.wait()
threading.Thread(target=s).start(); b.wait()
""",
    "timer": """
t=threading.Timer(5,lambda: None); t.start(); t.join()
""",
    "future": """
p=ThreadPoolExecutor(1); f=p.submit(time.sleep,5); f.result()
""",
    "future with a time-out": """
p=ThreadPoolExecutor(1); f=p.submit(time.sleep,9)
try: f.result(5)
except TimeoutError: pass
""",
    "as completed": """
p=ThreadPoolExecutor(2)
for f in as_completed([p.submit(time.sleep,5),p.submit(time.sleep,3)]): pass
""",
    "wait": """
p=ThreadPoolExecutor(2); wait([p.submit(time.sleep,5),p.submit(time.sleep,3)])
""",
    "socket": """
a,b=socket.socketpair()
def s(): time.sleep(5); a.send(b"x")
threading.Thread(target=s).start(); b.recv(1)
""",
    "socket with a time-out": """
a,b=socket.socketpair(); b.settimeout(5)
try: b.recv(1)
except TimeoutError: pass
""",
    "select": """
a,b=socket.socketpair()
select.select([b],[],[],5)
""",
    "process": """
p=multiprocessing.Process(target=time.sleep,args=(5,)); p.start(); p.join()
""",
    "queue of a process": """
q=multiprocessing.Queue()
def s(): time.sleep(5); q.put(1)
p=multiprocessing.Process(target=s); p.start(); q.get()
""",
    "program": """
subprocess.run([sys.executable,"-c","import time; time.sleep(5)"])
""",
    "pipe": """
r,w=os.pipe()
def s(): time.sleep(5); os.write(w,b"x")
threading.Thread(target=s).start(); os.read(r,1)
""",
}


@pytest.mark.parametrize("name", OF_A_TASK)
def test_a_task_goes_on_in_time(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, IN_A_LOOP.format(body=OF_A_TASK[name].strip("\n")), slack=0.0)
    assert found.complete, (found.failure, found.open)


@pytest.mark.parametrize("name", OF_A_THREAD)
def test_a_thread_goes_on_in_time(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, IN_A_THREAD.format(body=OF_A_THREAD[name].strip("\n")), slack=0.0)
    assert found.complete, (found.failure, found.open)
