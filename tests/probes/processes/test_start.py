"""Processes of the operating system: fork, spawn, pipes, queues, pools, executors, ranks of MPI."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.probes.programs import run

PROGRAM = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
def child(queue, pipe):
    x = 1  #: begins
    queue.put("item")
    pass  #: has_put
    pipe.recv()
    x = 2  #: ends
def square(n):
    pass  #: works
    return n * n
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.Queue()
    here, there = context.Pipe()
    process = context.Process(target=child, args=(queue, there), name="child")
    pass  #: before
    process.start()
    pass  #: meanwhile
    queue.get()
    pass  #: got
    here.send("go on")
    process.join()
    pass  #: joined
    if sys.argv[2] == "pool":
        with context.Pool(1) as pool:
            assert pool.map(square, [2, 3]) == [4, 9]
            assert list(pool.imap(square, [4])) == [16]
            assert pool.apply(square, (5,)) == 25
    else:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            assert pool.submit(square, 3).result() == 9
    pass  #: learnt
"""


@pytest.mark.parametrize(("method", "pool"), [("fork", "pool"), ("spawn", "executor"), ("spawn", "pool")])
def test_processes(method: str, pool: str, tmp_path: Path) -> None:
    found = run(tmp_path, PROGRAM, method, pool, watch=("child.x",))
    assert found.status == 0
    assert "child" in found.processes
    for first, second in (
        ("before", "begins"), ("begins", "got"), ("got", "ends"), ("ends", "joined"), ("joined", "works"),
        ("works", "learnt"),
    ):  # fmt: skip
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in (("meanwhile", "begins"), ("has_put", "got")):
        assert found.concurrent(first, second), f"{first} and {second} are ordered"


PROGRAMS = """
import subprocess, sys
if sys.argv[1:] == ["inner"]:
    pass  #: inner
    print("from inside")
else:
    pass  #: before
    process = subprocess.Popen([sys.executable, __file__, "inner"], stdout=subprocess.PIPE)
    pass  #: meanwhile
    assert process.communicate()[0] == b"from inside\\n"
    pass  #: after
    assert subprocess.run([sys.executable, "-c", "pass"]).returncode == 0
"""


def test_programs(tmp_path: Path) -> None:
    found = run(tmp_path, PROGRAMS)
    assert found.status == 0
    assert found.processes == ["MainThread", "program"]
    assert found.before("before", "inner")
    assert found.before("inner", "after")
    assert found.concurrent("meanwhile", "inner")


SOCKETS = """
import multiprocessing, socket, threading
def serve(listener):
    client, _ = listener.accept()
    pass  #: accepted
    assert client.recv(100) == b"hello"
    pass  #: heard
    client.sendall(b"answer")
    pass  #: answered
listener = socket.create_server(("127.0.0.1", 0))
process = multiprocessing.get_context("fork").Process(target=serve, args=(listener,), name="server")
process.start()
with socket.create_connection(listener.getsockname()) as client:
    pass  #: asks
    client.sendall(b"hello")
    pass  #: asked
    parts = [client.recv(3), client.recv(3)]
    pass  #: knows
process.join()
left, right = socket.socketpair()
def other():
    pass  #: whispers
    right.send(b"x")
    pass  #: whispered
thread = threading.Thread(target=other)
thread.start()
left.recv(1)
pass  #: listened
"""


def test_sockets(tmp_path: Path) -> None:
    found = run(tmp_path, SOCKETS)
    assert found.status == 0
    for first, second in (("asks", "heard"), ("heard", "knows"), ("whispers", "listened")):
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in (("asked", "heard"), ("answered", "knows"), ("whispered", "listened")):
        assert found.concurrent(first, second), f"{first} and {second} are ordered"
    assert found.concurrent("accepted", "asked")


POOLS = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
def one(n):
    pass  #: one
    return n
def two(n):
    pass  #: two
    return n
def three(n):
    pass  #: three
    return n
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        pass  #: asks1
        result = pool.apply_async(one, (1,))
        pass  #: meanwhile1
        assert result.get() == 1
        pass  #: knows1
        results = pool.imap_unordered(two, [2])
        pass  #: meanwhile2
        assert next(results) == 2
        pass  #: knows2
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        pass  #: asks3
        future = pool.submit(three, 3)
        pass  #: meanwhile3
        assert future.result() == 3
        pass  #: knows3
"""


def test_pools(tmp_path: Path) -> None:
    found = run(tmp_path, POOLS)
    assert found.status == 0
    for first, second in (
        ("asks1", "one"), ("one", "knows1"), ("knows1", "two"), ("two", "knows2"), ("asks3", "three"),
        ("three", "knows3"),
    ):  # fmt: skip
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in (("meanwhile1", "one"), ("meanwhile2", "two"), ("meanwhile3", "three")):
        assert found.concurrent(first, second), f"{first} and {second} are ordered"


JOBS = """
import multiprocessing, time
from concurrent.futures import ProcessPoolExecutor
def begin():
    pass  #: begins
def one():
    pass  #: one
def two():
    pass  #: two
def each(n):
    if n:
        pass  #: last
    else:
        pass  #: first
if __name__ == "__main__":
    if "{kind}" == "executor":
        pool = ProcessPoolExecutor({workers}, initializer=begin)
        results = [pool.submit(one), (time.sleep(0.3), pool.submit(two))[1]]
        for result in results: result.result()
        list(pool.map(each, [0, 1]))
        pool.shutdown()
    else:
        pool = multiprocessing.Pool({workers}, begin)
        results = [pool.apply_async(one), (time.sleep(0.3), pool.apply_async(two))[1]]
        for result in results: result.get()
        pool.map(each, [0, 1], chunksize={chunk})
        pool.close()
        pool.join()
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kind", ["executor", "pool"])
def test_jobs_of_a_process_are_ordered_if_there_is_no_other(kind: str, workers: int, tmp_path: Path) -> None:
    """The first process is free again when the second job comes, and may well do both."""
    source = JOBS.replace("{kind}", kind).replace("{workers}", str(workers))
    found = run(tmp_path, source.replace("{chunk}", "1"))
    assert found.status == 0
    are_ordered = workers == 1
    for first, second in (("one", "two"), ("first", "last")):
        assert found.before(first, second) is are_ordered, found.lines()
        assert found.concurrent(first, second) is not are_ordered, found.lines()


def test_what_is_in_one_chunk_is_done_in_turn(tmp_path: Path) -> None:
    found = run(tmp_path, JOBS.format(kind="pool", workers=2, chunk=2))
    assert found.before("first", "last") and found.concurrent("one", "two"), found.lines()


DATAGRAMS = """
import multiprocessing, socket, subprocess, sys
def serve(server):
    data, client = server.recvfrom(100)
    pass  #: heard
    server.sendto(b"answer", client)
    pass  #: answered
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 0))
process = multiprocessing.get_context("fork").Process(target=serve, args=(server,), name="server")
process.start()
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
pass  #: asks
client.sendto(b"question", server.getsockname())
pass  #: asked
client.recvfrom(100)
pass  #: knows
process.join()
"""


def test_datagrams(tmp_path: Path) -> None:
    found = run(tmp_path, DATAGRAMS)
    assert found.status == 0
    for first, second in (("asks", "heard"), ("heard", "knows")):
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in (("asked", "heard"), ("answered", "knows")):
        assert found.concurrent(first, second), f"{first} and {second} are ordered"


OUTSIDERS = """
import multiprocessing, socket, subprocess, sys
SPEAKER = (
    "import socket, sys; c = socket.create_connection(('127.0.0.1', int(sys.argv[1])));"
    "c.sendall(b'x'); c.recv(1); c.close()"
)
def child(queue):
    listener = socket.create_server(("127.0.0.1", 0))
    stranger = subprocess.Popen([sys.executable, "-c", SPEAKER, str(listener.getsockname()[1])])
    client, _ = listener.accept()
    assert client.recv(1) == b"x"
    pass  #: heard
    client.sendall(b"y")
    assert stranger.wait() == 0
    queue.put("item")
    pass  #: later
if __name__ == "__main__":
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=child, args=(queue,), name="child")
    process.start()
    queue.get()
    pass  #: got
    process.join()
"""


def test_what_comes_from_a_program_that_is_not_recorded_holds_nothing_up(tmp_path: Path) -> None:
    found = run(tmp_path, OUTSIDERS)
    assert found.status == 0
    assert found.before("heard", "got"), found.lines()
    assert found.concurrent("later", "got")


RANKS = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank = comm.Get_rank()
if rank == 0:
    pass  #: before
    comm.recv(source=1, tag=1)
    pass  #: got
    comm.irecv(source=2).wait()
    pass  #: got2
    comm.bcast(1, root=0)
    pass  #: sent_to_all
    comm.Send(b"x", dest=1)
    pass  #: sent_buffer
elif rank == 1:
    pass  #: sends
    comm.send("x", dest=0, tag=1)
    pass  #: sent
    comm.bcast(None, root=0)
    pass  #: told1
    comm.Recv(bytearray(1), source=0)
    pass  #: got_buffer
else:
    comm.isend("y", dest=0).wait()
    pass  #: sent2
    comm.bcast(None, root=0)
    pass  #: told2
comm.barrier()
if rank == 0:
    pass  #: behind
"""


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not there")
def test_ranks(tmp_path: Path) -> None:
    found = run(tmp_path, RANKS, ranks=3)
    assert sorted(found.processes) == ["rank0", "rank1", "rank2"]
    for first, second in (
        ("sends", "got"), ("got2", "told1"), ("got", "told2"), ("got2", "got_buffer"),
        ("got_buffer", "behind"), ("told2", "behind"),
    ):  # fmt: skip
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in (("before", "sends"), ("sent", "got"), ("told1", "told2"), ("sent2", "got2")):
        assert found.concurrent(first, second), f"{first} and {second} are ordered"


NON_BLOCKING = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank = comm.Get_rank()
if rank == 0:
    pass  #: posts
    buffers = [bytearray(1), bytearray(1)]
    requests = [comm.Irecv(buffers[0], source=1), comm.Irecv(buffers[1], source=2)]
    MPI.Request.Waitall(requests)
    pass  #: has_both
    values = [comm.irecv(source=1, tag=5), comm.irecv(source=2, tag=5)]
    assert MPI.Request.waitall(values) == ["a", "b"]
    pass  #: has_values
    request = comm.irecv(source=2, tag=6)
    while not request.test()[0]:
        pass
    pass  #: tested
    status = MPI.Status()
    assert comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status) == "any"
    assert status.Get_source() == 1
    pass  #: got_any
    comm.sendrecv("there", dest=1, source=1)
    pass  #: exchanged0
elif rank == 1:
    pass  #: sends1
    comm.Isend(b"x", dest=0).Wait()
    pass  #: sent1
    comm.isend("a", dest=0, tag=5).wait()
    pass  #: before_any
    comm.send("any", dest=0, tag=9)
    pass  #: after_any
    comm.sendrecv("back", dest=0, source=0)
    pass  #: exchanged1
else:
    pass  #: sends2
    comm.Isend(b"y", dest=0).Wait()
    comm.isend("b", dest=0, tag=5).wait()
    pass  #: before_test
    comm.isend("c", dest=0, tag=6).wait()
    pass  #: after_test
"""


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not there")
def test_requests_and_wildcards(tmp_path: Path) -> None:
    found = run(tmp_path, NON_BLOCKING, ranks=3)
    assert found.status == 0
    for first, second in (
        ("sends1", "has_both"), ("sends2", "has_both"), ("sent1", "has_values"), ("before_test", "tested"),
        ("before_any", "got_any"), ("got_any", "exchanged1"), ("after_any", "exchanged0"),
    ):  # fmt: skip
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in (
        ("posts", "sends1"), ("sent1", "has_both"), ("after_test", "tested"), ("after_any", "got_any"),
        ("exchanged0", "exchanged1"),
    ):  # fmt: skip
        assert found.concurrent(first, second), f"{first} and {second} are ordered"


MANAGER = """
import multiprocessing, sys
def work(things, channel, event):
    pass  #: child
    things["x"] = 1
    channel.put(3)
    pass  #: put
    event.wait()
    pass  #: woken
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Manager() as manager:
        things, channel, event = manager.dict(), manager.Queue(), manager.Event()
        process = multiprocessing.Process(target=work, args=(things, channel, event), name="worker")
        pass  #: starts
        process.start()
        pass  #: started
        channel.get()
        pass  #: got
        event.set()
        pass  #: set
        process.join()
        pass  #: joined
        assert dict(things) == {"x": 1}
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_managers_and_every_start_method(method: str, tmp_path: Path) -> None:
    found = run(tmp_path, MANAGER, method)
    assert found.status == 0
    assert "worker" in found.processes
    for first, second in (("starts", "child"), ("child", "got"), ("got", "woken"), ("woken", "joined")):
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in (("started", "child"), ("put", "got"), ("set", "woken")):
        assert found.concurrent(first, second), f"{first} and {second} are ordered"


COLLECTIVES = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank = comm.Get_rank()
if rank == 1:
    pass  #: gives
comm.gather(rank, root=0)
if rank == 0:
    pass  #: gathered
elif rank == 1:
    pass  #: gave
comm.scatter(list(range(3)) if rank == 0 else None, root=0)
if rank == 2:
    pass  #: scattered
half = comm.Split(rank % 2)
if rank == 1:
    pass  #: alone
half.barrier()
if rank == 0:
    pass  #: before_half
half.allreduce(1)
if rank == 2:
    pass  #: after_half
if rank == 0:
    status = MPI.Status()
    comm.probe(source=MPI.ANY_SOURCE, tag=7, status=status)
    pass  #: probed
    while not comm.iprobe(source=1, tag=8):
        pass
    comm.recv(source=status.Get_source(), tag=7)
    pass  #: received
    message = comm.mprobe(source=1, tag=8)
    message.recv()
    pass  #: matched
elif rank == 1:
    pass  #: sends
    comm.send("x", dest=0, tag=7)
    pass  #: sent
    comm.send("y", dest=0, tag=8)
    pass  #: sent_again
request = comm.Ibarrier()
if rank == 2:
    pass  #: entered
request.Wait()
if rank == 0:
    pass  #: behind
"""


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not there")
def test_collectives_split_communicators_and_probes(tmp_path: Path) -> None:
    found = run(tmp_path, COLLECTIVES, ranks=3)
    assert found.status == 0
    for first, second in (
        ("gives", "gathered"), ("gathered", "scattered"), ("before_half", "after_half"), ("sends", "probed"),
        ("sends", "received"), ("sent", "matched"), ("matched", "behind"), ("sent_again", "behind"),
    ):  # fmt: skip
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in (
        ("gave", "gathered"), ("alone", "after_half"), ("sent", "probed"), ("sent_again", "matched"),
        ("entered", "behind"),
    ):  # fmt: skip
        assert found.concurrent(first, second), f"{first} and {second} are ordered"
