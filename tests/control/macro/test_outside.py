"""What no message shows is named, so that nothing is said to hold; what is harmless is not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from possibly.control.macro.before import Before
from possibly.control.macro.explore import Explorer
from possibly.control.macro.program.controller import Controller
from possibly.control.macro.touches import Touches
from possibly.control.macro.tree import Tree

BY_PROCESSES = """\
    import multiprocessing as mp
    {setup}
    def work({parameters}):
        {body}
    if __name__ == "__main__":
        {main}
        people = [mp.Process(target=work, args=({arguments}), name=f"w{{n}}") for n in (1, 2)]
        for each in people: each.start()
        for each in people: each.join()
        {after}
"""
OUTSIDE = {
    "multiprocessing.Pool": """\
        import multiprocessing as mp
        if __name__ == "__main__":
            with mp.Pool(2) as pool:
                list(pool.imap_unordered(abs, range(2)))
    """,
    "ProcessPoolExecutor": """\
        from concurrent.futures import ProcessPoolExecutor, as_completed
        if __name__ == "__main__":
            with ProcessPoolExecutor(2) as pool:
                [each.result() for each in as_completed([pool.submit(abs, n) for n in range(2)])]
    """,
    "manager": BY_PROCESSES.format(
        setup="", parameters="shared, lock, n", body="with lock: shared[n] = n",
        main="manager = mp.Manager(); shared = manager.dict(); lock = manager.Lock()",
        arguments="shared, lock, n", after="assert dict(shared) == {1: 1, 2: 2}",
    ),
    "shared_memory": BY_PROCESSES.format(
        setup="from multiprocessing import shared_memory", parameters="name, n",
        body="found = shared_memory.SharedMemory(name); found.buf[0] = n; found.close()",
        main="shared = shared_memory.SharedMemory(create=True, size=1)",
        arguments="shared.name, n", after="shared.close(); shared.unlink()",
    ),
    "the file ": BY_PROCESSES.format(
        setup="", parameters="n", body="open('log.txt', 'a').close()",
        main="open('log.txt', 'w').close()", arguments="n,", after="open('log.txt').close()",
    ),
    "os.pipe": """\
        import os, threading
        reading, writing = os.pipe()
        people = [threading.Thread(target=os.write, args=(writing, b"%d" % n)) for n in (1, 2)]
        for each in people: each.start()
        for each in people: each.join()
    """,
    "socket.socketpair": """\
        import socket, threading
        one, two = socket.socketpair()
        people = [threading.Thread(target=one.send, args=(b"%d" % n,)) for n in (1, 2)]
        for each in people: each.start()
        for each in people: each.join()
    """,
    "sockets": """\
        import asyncio
        async def serve(reader, writer):
            await reader.readline()
            writer.close()
        async def client(port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"one line\\n")
            await writer.drain()
            writer.close()
        async def main():
            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            await asyncio.gather(client(port), client(port))
            server.close()
        asyncio.run(main())
    """,
    "join() of an asyncio queue": """\
        import asyncio
        async def work(queue):
            while True:
                await queue.get()
                queue.task_done()
        async def main():
            queue = asyncio.Queue()
            task = asyncio.create_task(work(queue))
            await queue.put(1)
            await queue.join()
            task.cancel()
        asyncio.run(main())
    """,
    "a timer of an event loop": """\
        import asyncio
        async def main():
            await asyncio.gather(asyncio.sleep(0.001), asyncio.sleep(0.002))
        asyncio.run(main())
    """,
    "is_alive() of a thread": """\
        import threading
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.is_alive()
        thread.join()
        assert not thread.is_alive()
    """,
    "a thread that runs deque.append": """\
        import threading
        from collections import deque
        from functools import partial
        line = deque()
        thread = threading.Thread(target=partial(line.append, 1))
        thread.start()
        thread.join()
    """,
    "a thread that runs Timer.run": """\
        import threading
        timer = threading.Timer(0.001, abs, (1,))
        timer.start()
        timer.join()
    """,
    "the exitcode of a process": BY_PROCESSES.format(
        setup="", parameters="", body="pass", main="", arguments="",
        after="assert [each.exitcode for each in people] == [0, 0]; mp.Process().exitcode",
    ),
    "mmap": BY_PROCESSES.format(
        setup="import mmap; shared = mmap.mmap(-1, 8)", parameters="n", body="shared[0] = n",
        main="", arguments="n,", after="",
    ),
    "the file": BY_PROCESSES.format(
        setup="import os", parameters="n", body="os.path.exists('made') or os.mkdir(f'made{n}')",
        main="", arguments="n,", after="os.listdir()",
    ).replace("f'made{n}'", "'made' if n == 1 else 'other'"),
    "/*, which": BY_PROCESSES.format(
        setup="import os", parameters="n", body="os.mkdir('made') if n == 1 else os.listdir()",
        main="", arguments="n,", after="",
    ),
    "shared.db": BY_PROCESSES.format(
        setup="import sqlite3", parameters="n", body="sqlite3.connect('shared.db').close()",
        main="", arguments="n,", after="",
    ),
    "wait for other things than pipes": """\
        import multiprocessing as mp
        from multiprocessing.connection import wait
        if __name__ == "__main__":
            child = mp.Process(target=abs, args=(1,))
            child.start()
            wait([child.sentinel])
            child.join()
    """,
    "a task that is cancelled": """\
        import asyncio
        async def main():
            task = asyncio.create_task(asyncio.Queue().get())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        asyncio.run(main())
    """,
    "run_coroutine_threadsafe": """\
        import asyncio, threading
        async def main():
            loop, done = asyncio.get_running_loop(), asyncio.Queue()
            ask = lambda: asyncio.run_coroutine_threadsafe(done.put(1), loop)
            thread = threading.Thread(target=ask)
            thread.start()
            await done.get()
            thread.join()
        asyncio.run(main())
    """,
    "FIRST_COMPLETED": """\
        import asyncio
        async def main():
            tasks = [asyncio.create_task(asyncio.sleep(0)) for _ in range(2)]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait(tasks)
        asyncio.run(main())
    """,
}  # fmt: skip


def explored(tmp_path: Path, text: str) -> Tree:
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(text))
    words = [str(file)]
    return Explorer(lambda: Controller(words), Tree(tuple(words))).explore()


@pytest.mark.parametrize("what", OUTSIDE)
def test_it_is_named_and_nothing_is_said_to_hold(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tree = explored(tmp_path, OUTSIDE[what])
    assert [leaf.end for leaf in tree.leaves] == ["finished"]
    assert any(what in each for each in tree.uncontrolled), tree.uncontrolled
    assert tree.verdict is None


def test_what_a_task_blocks_on_blocks_its_thread_and_is_no_failure(tmp_path: Path) -> None:
    tree = explored(
        tmp_path,
        """\
        import asyncio, queue, threading
        box = queue.Queue()
        async def other(answers):
            await answers.put(1)
        async def main():
            answers = asyncio.Queue()
            task = asyncio.create_task(other(answers), name="other")
            thread = threading.Thread(target=box.put, args=(1,), name="t")
            thread.start()
            await asyncio.sleep(0)
            thread.join()
            assert box.get() + await answers.get() == 2
            await task
        asyncio.run(main())
        """,
    )
    assert ([leaf.end for leaf in tree.leaves], tree.uncontrolled) == (["finished"], [])


def test_a_file_that_is_written_before_its_readers_begin_is_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body = {"parameters": "n", "arguments": "n,", "setup": "", "after": "open('data.txt', 'w').close()"}
    text = BY_PROCESSES.format(main="open('data.txt', 'w').close()", body="open('data.txt').close()", **body)
    tree = explored(tmp_path, text)
    assert (tree.uncontrolled, tree.verdict) == ([], True)


@pytest.mark.parametrize("looks", ["get()", "get(timeout=0.1)"])
def test_a_daemon_that_waits_when_all_others_have_ended_is_no_deadlock(looks: str, tmp_path: Path) -> None:
    tree = explored(
        tmp_path,
        f"""\
        import queue, threading
        asked, answers = queue.Queue(), queue.Queue()
        def serve():
            while True:
                try:
                    answers.put(asked.{looks} + 1)
                except queue.Empty:
                    pass
        threading.Thread(target=serve, daemon=True).start()
        asked.put(1)
        assert answers.get() == 2
        """,
    )
    assert {leaf.end for leaf in tree.leaves} == {"finished"}


def test_two_that_add_files_to_a_folder_do_not_disturb_each_other() -> None:
    before = Before()
    one, two = before.event(), before.event()
    touches = Touches(before)
    touches.add("a", one, before.event(one), (("/folder/*", True),))
    touches.add("b", two, before.event(two), (("/folder/*", True),))
    assert list(touches.unordered()) == []
    touches.add("c", two, before.event(two), (("/folder/*", False),))
    assert list(touches.unordered()) == ["the file /folder/*, which a and c use"]


def test_the_order_of_two_that_open_a_file() -> None:
    before = Before()
    one = before.event()
    two = before.event(one)
    other = before.event()
    touches = Touches(before)
    touches.add("a", None, one, (("f", True), ("g", False)))
    touches.add("b", two, before.event(two), (("f", True),))
    touches.add("c", other, before.event(other), (("g", False),))
    assert list(touches.unordered()) == []
    touches.add("c", other, before.event(other), (("f", False),))
    assert list(touches.unordered()) == ["the file f, which a and c use"]
