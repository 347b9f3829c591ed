"""Real programs under the controller: threads, processes and ranks under mpiexec, unchanged."""

from __future__ import annotations

import os
import sys
import textwrap
from contextlib import closing
from math import comb
from pathlib import Path

import pytest

from possibly.control.macro.explore import Explorer, Plan
from possibly.control.macro.program.controller import Controller
from possibly.control.macro.tree import Tree
from possibly.control.macro.why import violations
from possibly.errors import PossiblyError

EXAMPLES = Path(__file__).parents[3] / "examples" / "macro"
CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
needs_mpi = pytest.mark.skipif(
    not (Path(sys.executable).parent / "mpiexec").exists(),
    reason="there is no mpiexec beside the interpreter",
)


def tree_of(words: list[str], ranks: int | None = None, plan: Plan | None = None) -> Tree:
    tree = Tree(tuple(words), ranks)
    return Explorer(lambda: Controller(words, ranks), tree, plan).explore()


def program(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(text))
    return [str(file)]


def orders(tree: Tree, process: str) -> set[tuple[str, ...]]:
    """The messages that a process received, in their order, on each path."""
    found = set()
    for leaf in tree.leaves:
        done = [each for node in tree.path(leaf.number) for each in node.done if each["process"] == process]
        found.add(tuple(message for each in done for message in each["messages"]))
    return found


# ---- the paper's example --------------------------------------------------------------------------


@needs_mpi
@pytest.mark.parametrize(("items", "capacity", "paths"), [(3, 1, 1), (3, 2, 4), (3, 3, comb(6, 3) // 4)])
def test_ranks_that_shake_hands_counted_by_hand(items: int, capacity: int, paths: int) -> None:
    """A path is a sequence of puts and gets that never goes below 0 or above the capacity."""
    tree = tree_of([str(EXAMPLES / "ranks.py"), "right", str(items), str(capacity)], 3)
    assert tree.is_complete
    assert len(tree.leaves) == paths
    assert [leaf.holds for leaf in tree.leaves] == [True] * paths
    # A put is one macro-step, a get two; the root and the end are one more each.
    assert {leaf.depth for leaf in tree.leaves} == {3 * items + 1}
    assert tree.verdict is True


@needs_mpi
def test_ranks_that_lose_a_message_when_full() -> None:
    tree = tree_of([str(EXAMPLES / "ranks.py"), "lossy"], 3)
    assert tree.verdict is False
    found = violations(tree)[0]
    assert found.atoms == (("no_lost_message", False),)
    assert found.broken == ("G no_lost_message",)
    assert found.difference is not None
    # Two messages are in the buffer; the third comes before the consumer asks.
    assert (found.difference.chosen.message, found.difference.other.message) == ("rank0#3", "rank2#1")


@needs_mpi
@pytest.mark.parametrize(("count", "size"), [(150, 1), (1, 3_000_000)])
def test_more_is_sent_than_mpi_takes_at_once(count: int, size: int, tmp_path: Path) -> None:
    text = f"""\
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        if comm.rank == 0:
            got = [comm.recv(source=MPI.ANY_SOURCE) for _ in range({count})]
            assert [(number, len(data)) for number, data in got] == [(n, {size}) for n in range({count})]
        else:
            for number in range({count}):
                comm.send((number, bytes({size})), dest=0)
    """
    tree = tree_of(program(tmp_path, text), 2)
    assert (len(tree.leaves), tree.verdict) == (1, True)


@pytest.mark.parametrize("name", ["threads", "processes", "tasks"])
def test_threads_processes_and_tasks_with_queues(name: str) -> None:
    """In each of the two rounds the buffer gets the item first or the request first."""
    tree = tree_of([str(EXAMPLES / f"{name}.py"), "right", "2", "1"])
    assert (len(tree.leaves), tree.verdict, tree.uncontrolled) == (4 if name != "tasks" else 2, True, [])


@pytest.mark.parametrize("name", ["threads", "processes", "tasks"])
def test_a_message_is_lost_when_the_buffer_is_full(name: str) -> None:
    tree = tree_of([str(EXAMPLES / f"{name}.py"), "lossy", "2", "1"])
    found = violations(tree)[0]
    assert found.atoms == (("no_lost_message", False),)
    assert found.difference is not None
    pair = found.difference.chosen.message, found.difference.other.message
    # Both puts of the task that produces are one piece.
    assert pair == ("Producer#1" if name == "tasks" else "Producer#2", "Consumer#1")


@pytest.mark.parametrize("name", ["threads", "processes", "tasks", pytest.param("ranks", marks=needs_mpi)])
def test_a_buffer_that_never_drains_is_found_at_the_end_of_every_path(name: str) -> None:
    capacity = "2" if name == "ranks" else "1"
    tree = tree_of([str(EXAMPLES / f"{name}.py"), "stuck", "2", capacity], 3 if name == "ranks" else None)
    assert [leaf.holds for leaf in tree.leaves] == [False] * len(tree.leaves)
    found = violations(tree)[0]
    assert found.only_at_the_end
    assert found.broken == ("G(!empty -> F empty)",)
    waits = [node.verdicts[0].get("waits", []) for node in tree.path(found.leaf) if node.verdicts]
    assert ["waits for F empty"] in [each[:1] for each in waits]


# ---- breakpoints and replay -----------------------------------------------------------------------

MASTER = """\
    import possibly
    from queue import Queue
    from threading import Thread

    inbox = Queue()

    def worker(number):
        inbox.put(number)

    def master():
        total = 0
        for _ in range(3):
            item = inbox.get()  #: got
            total = 10 * total + item

    possibly.claim("F(Master.total == 123)")
    threads = [Thread(target=worker, args=(n,), name=f"W{n}") for n in (1, 2, 3)]
    threads.append(Thread(target=master, name="Master"))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_processes_stop_directly_after_the_statement_of_their_operation(tmp_path: Path) -> None:
    """The item has been assigned there, the line below has not been executed."""
    explorer = Explorer(lambda: Controller(program(tmp_path, MASTER)), Tree())
    tree = explorer.explore()
    assert len(orders(tree, "Master")) == len(tree.leaves) == 6
    node = next(node for node in tree.nodes if any(each["process"] == "Master" for each in node.done))
    run, point = explorer.open(node.number)
    with closing(run.system):
        seen = point.state.seen["Master"]
        assert (seen.label, seen.function) == ("got", "master")
        assert seen.variables["item"] in (1, 2, 3)
        assert seen.variables["total"] == 0
        assert point.state.seen["W1"].variables["number"] == 1


def replayed_states(words: list[str], ranks: int | None, tries: int) -> list[object]:
    """What every process shows at the last leaf but one of the tree, met again and again."""
    explorer = Explorer(lambda: Controller(words, ranks), Tree(), Plan(most=4))
    tree = explorer.explore()
    leaf = tree.leaves[-2]
    states: list[object] = []
    for _ in range(tries):
        run, point = explorer.open(leaf.number)
        with closing(run.system):
            seen = {name: (each.variables, each.at) for name, each in point.state.seen.items()}
            states.append((seen, point.state.transit, point.digest))
    assert not tree.diverged
    return states


PAIR = """\
    from queue import Queue
    from threading import Thread
    inbox = Queue()
    threads = [Thread(target=inbox.put, args=(n,), name=f"W{n}") for n in (1, 2)]
    for thread in threads:
        thread.start()
    order = [inbox.get(), inbox.get()]
    for thread in threads:
        thread.join()
"""


def test_a_replay_meets_the_same_state_every_time(tmp_path: Path) -> None:
    states = replayed_states(program(tmp_path, PAIR), None, min(20 * CASES, 100))
    assert all(state == states[0] for state in states)


@pytest.mark.parametrize(
    ("name", "ranks"), [("threads", None), ("processes", None), pytest.param("ranks", 3, marks=needs_mpi)]
)
def test_a_replay_of_the_paper_s_example_meets_the_same_state(name: str, ranks: int | None) -> None:
    words = [str(EXAMPLES / f"{name}.py"), "right", "2", "2"]
    states = replayed_states(words, ranks, 2 if CASES == 1 else 100)
    assert all(state == states[0] for state in states)


def test_one_path_of_six_fulfils_the_claim(tmp_path: Path) -> None:
    tree = tree_of(program(tmp_path, MASTER))
    assert sorted(str(leaf.holds) for leaf in tree.leaves) == ["False"] * 5 + ["True"]


# ---- MPI ------------------------------------------------------------------------------------------


@needs_mpi
def test_requests_wildcards_tags_probes_and_collectives(tmp_path: Path) -> None:
    text = """\
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        rank = world.Get_rank()
        seed = world.bcast(7 if rank == 0 else None, root=0)
        if rank == 0:
            first = world.irecv(source=MPI.ANY_SOURCE, tag=1)
            status = MPI.Status()
            world.probe(source=MPI.ANY_SOURCE, tag=2, status=status)
            second = world.recv(source=status.Get_source(), tag=2)
            assert second == 10 * status.Get_source() + seed, second
            one = first.wait()
            rest = [world.recv(tag=MPI.ANY_TAG) for _ in range(2)]
            assert sorted([one, second, *rest]) == [1, 2, 17, 27]
        else:
            request = world.isend(rank, 0, tag=1)
            request.wait()
            world.send(10 * rank + seed, 0, tag=2)
        total = world.allreduce(rank)
        part = world.Split(rank % 2)
        assert part.allgather(rank) == ([0, 2] if rank % 2 == 0 else [1]), part.allgather(rank)
        world.Barrier()
        assert total == 3
    """
    tree = tree_of(program(tmp_path, text), 3)
    assert [leaf.detail for leaf in tree.leaves] == [""] * len(tree.leaves)
    assert tree.verdict is True
    # The request gets tag 1 of either rank, the probe tag 2 of either; then the two that are left come in
    # either order, unless both are of one rank.
    assert len(tree.leaves) == 2 * 1 + 2 * 2


@needs_mpi
def test_a_root_need_not_wait_for_the_others(tmp_path: Path) -> None:
    """What it sends after the broadcast can overtake what comes before it elsewhere."""
    text = """\
        from array import array
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        rank = world.Get_rank()
        got = [world.recv(source=MPI.ANY_SOURCE)] if rank == 2 else []
        if rank == 0:
            world.send("before", 2)
        word = world.bcast("word" if rank == 1 else None, root=1)
        if rank == 1:
            world.send("after", 2)
        if rank == 2:
            got.append(world.recv(source=MPI.ANY_SOURCE))
            assert sorted(got) == ["after", "before"]
        assert word == "word"
        part = world.scatter([10, 11, 12] if rank == 0 else None)
        assert part == 10 + rank
        assert world.gather(part, root=2) == ([10, 11, 12] if rank == 2 else None)
        assert world.reduce(rank, op=MPI.MAX) == (2 if rank == 0 else None)
        box = array("i", [7 if rank == 0 else 0])
        world.Bcast(box, root=0)
        assert box[0] == 7
    """
    tree = tree_of(program(tmp_path, text), 3)
    assert [leaf.detail for leaf in tree.leaves] == [""] * len(tree.leaves)
    assert (len(tree.leaves), tree.verdict) == (2, True)


@needs_mpi
def test_buffers_and_waiting_for_one_of_several(tmp_path: Path) -> None:
    text = """\
        from array import array
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        rank = world.Get_rank()
        if rank == 0:
            boxes = [array("i", [0]), array("i", [0])]
            requests = [world.Irecv(boxes[0], source=1), world.Irecv(boxes[1], source=2)]
            first = MPI.Request.Waitany(requests)
            assert boxes[first][0] == first + 1
            MPI.Request.Waitall(requests)
            assert [box[0] for box in boxes] == [1, 2]
        else:
            world.Send(array("i", [rank]), dest=0)
    """
    tree = tree_of(program(tmp_path, text), 3)
    assert [leaf.detail for leaf in tree.leaves] == [""] * len(tree.leaves)
    assert (len(tree.leaves), tree.verdict) == (2, True)


@needs_mpi
def test_asking_without_waiting(tmp_path: Path) -> None:
    """A probe and a test find the message or find nothing; what is found is what was sent."""
    text = """\
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        if world.Get_rank() == 1:
            world.send("one", 0, tag=1)
            world.send("two", 0, tag=2)
        else:
            status = MPI.Status()
            probed = world.iprobe(source=MPI.ANY_SOURCE, tag=2, status=status)
            assert not probed or (status.Get_source(), status.Get_tag()) == (1, 2)
            request = world.irecv(source=1, tag=1)
            tested, word = request.test()
            assert word == ("one" if tested else None)
            assert request.wait() == (None if tested else "one")
            assert world.recv(source=1, tag=2) == "two"
    """
    tree = tree_of(program(tmp_path, text), 2)
    assert [leaf.detail for leaf in tree.leaves] == [""] * len(tree.leaves)
    # The probe finds or not, the test finds or not: each with each.
    assert (len(tree.leaves), tree.verdict) == (4, True)


@needs_mpi
def test_some_of_several_requests(tmp_path: Path) -> None:
    text = """\
        from array import array
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        rank = world.Get_rank()
        if rank > 0:
            world.Sendrecv(array("i", [rank]), 0, recvbuf=array("i", [0]), source=0)
        else:
            boxes = [array("i", [0]), array("i", [0])]
            requests = [world.Irecv(boxes[k], source=k + 1) for k in range(2)]
            requests += [world.isend(None, 1), world.isend(None, 2)]
            seen = []
            while (some := MPI.Request.Waitsome(requests)) is not None:
                seen += some
            assert sorted(seen) == [0, 1, 2, 3]
            assert [box[0] for box in boxes] == [1, 2]
            assert MPI.Request.waitany(requests) == (MPI.UNDEFINED, None)
            assert MPI.Request.testany(requests) == (MPI.UNDEFINED, True, None)
            assert MPI.Request.testall(requests) == (True, [None] * 4)
            assert MPI.Request.testsome(requests) == (None, None)
    """
    tree = tree_of(program(tmp_path, text), 3, Plan(most=4))
    assert {leaf.detail for leaf in tree.leaves} == {""}
    assert tree.uncontrolled == []


@needs_mpi
def test_what_mpi_can_do_besides_is_noted(tmp_path: Path) -> None:
    text = """\
        from mpi4py import MPI
        MPI.COMM_WORLD.Create_cart([2])
        MPI.COMM_WORLD.Ibarrier().Wait()
        MPI.Win.Create_dynamic()
    """
    tree = tree_of(program(tmp_path, text), 2)
    assert sorted(tree.uncontrolled) == ["MPI Create_cart", "MPI Create_dynamic", "MPI Ibarrier"]
    assert ([leaf.detail for leaf in tree.leaves], tree.verdict) == ([""], None)


@needs_mpi
def test_a_receive_that_nobody_answers_is_a_deadlock_with_places(tmp_path: Path) -> None:
    text = """\
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        if world.Get_rank() == 0:
            world.recv(source=1)
        else:
            world.recv(source=0)
    """
    tree = tree_of(program(tmp_path, text), 2)
    assert [leaf.end for leaf in tree.leaves] == ["deadlock"]
    assert "rank0 waits in recv(rank1) at" in tree.leaves[0].detail
    assert "program.py:4" in tree.leaves[0].detail


# ---- processes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pipes_and_waiting_for_several(tmp_path: Path, method: str) -> None:
    text = f"""\
        import multiprocessing
        from multiprocessing.connection import wait

        def worker(number, end):
            end.send(number)
            assert end.recv() == number + 1

        if __name__ == "__main__":
            context = multiprocessing.get_context("{method}")
            pipes = [context.Pipe() for _ in range(2)]
            workers = [
                context.Process(target=worker, args=(n, theirs), name=f"W{{n}}")
                for n, (_, theirs) in enumerate(pipes)
            ]
            for each in workers:
                each.start()
            ends = [ours for ours, _ in pipes]
            while ends:
                for end in wait(ends):
                    end.send(end.recv() + 1)
                    ends.remove(end)
            for each in workers:
                each.join()
            assert [each.exitcode for each in workers] == [0, 0]
    """
    tree = tree_of(program(tmp_path, text))
    assert [leaf.detail for leaf in tree.leaves] == [""] * len(tree.leaves)
    assert tree.verdict is True
    assert {order[0] for order in orders(tree, "main")} == {"W0#1", "W1#1"}


# ---- tasks ----------------------------------------------------------------------------------------


def test_tasks_that_wait_for_other_things_than_messages_too(tmp_path: Path) -> None:
    text = """\
        import asyncio
        import possibly

        async def worker(number, inbox):
            await asyncio.sleep(0)
            inbox.put_nowait(number)

        async def master(inbox):
            total = 0
            for _ in range(2):
                total = 10 * total + await inbox.get()
                inbox.task_done()
            return total

        async def main():
            inbox = asyncio.Queue()
            possibly.claim("F(Master.total > 0)")
            workers = [asyncio.create_task(worker(n, inbox), name=f"W{n}") for n in (1, 2)]
            boss = asyncio.create_task(master(inbox), name="Master")
            await asyncio.gather(*workers)
            total = await boss
            assert total in (12, 21), total

        asyncio.run(main())
    """
    tree = tree_of(program(tmp_path, text))
    assert [leaf.detail for leaf in tree.leaves] == [""] * len(tree.leaves)
    assert tree.verdict is True
    assert orders(tree, "Master") == {("W1#1", "W2#1"), ("W2#1", "W1#1")}


def test_tasks_that_wait_for_each_other_are_a_deadlock(tmp_path: Path) -> None:
    text = """\
        import asyncio

        async def main():
            await asyncio.Queue().get()

        asyncio.run(main())
    """
    tree = tree_of(program(tmp_path, text))
    assert [leaf.end for leaf in tree.leaves] == ["deadlock"]
    assert "Task-1 waits in get from Task-1.queue1 at" in tree.leaves[0].detail


def test_what_makes_no_macro_step_is_refused_and_no_failure_of_the_program(tmp_path: Path) -> None:
    text = """\
        import asyncio

        async def main():
            inbox = asyncio.Queue()
            inbox.put_nowait(1)
            inbox.get_nowait()

        asyncio.run(main())
    """
    with pytest.raises(PossiblyError, match="get_nowait of an asyncio queue cannot be controlled"):
        tree_of(program(tmp_path, text))


def test_a_claim_holds_from_where_it_was_made(tmp_path: Path) -> None:
    """Before that x was 0 at a breakpoint, which neither the future nor the past of the claim sees."""
    text = """\
        import possibly, queue
        line = queue.Queue()
        x = 0
        line.put(1)
        x = 1
        possibly.claim("G(main.x == 1 & H(main.x == 1))")
        line.put(2)
        line.put(3)
    """
    tree = tree_of(program(tmp_path, text))
    judged = [node.number for node in tree.nodes if node.verdicts]
    assert (tree.verdict, judged) == (True, [2, 3, 4])
    early = text.replace("x = 0", 'x = 0; possibly.claim("G(main.x == 1)")')
    assert tree_of(program(tmp_path, early)).verdict is False


def test_an_error_in_one_branch_is_found(tmp_path: Path) -> None:
    text = MASTER + "    assert True\n"
    text = text.replace("total = 10 * total + item", "total = 10 * total + item; assert total != 321")
    tree = tree_of(program(tmp_path, text))
    failed = [leaf for leaf in tree.leaves if leaf.end == "failed"]
    assert len(failed) == 1
    assert "Master: AssertionError, at" in failed[0].detail
    assert orders(tree, "Master") >= {("W3#1", "W2#1", "W1#1")}


def test_a_get_with_a_time_limit_finds_nothing_only_when_nothing_can_come(tmp_path: Path) -> None:
    text = """\
        from queue import Empty, Queue
        from threading import Thread
        inbox = Queue()
        found = []
        def worker():
            inbox.put(1)
        thread = Thread(target=worker, name="W")
        thread.start()
        thread.join()
        found.append(inbox.get(timeout=1))
        try:
            inbox.get(timeout=1)
        except Empty:
            found.append(None)
        assert found == [1, None]
    """
    tree = tree_of(program(tmp_path, text))
    assert (len(tree.leaves), tree.verdict) == (1, True)


def test_a_program_that_cannot_be_started_is_told_in_a_sentence(tmp_path: Path) -> None:
    tree = tree_of(program(tmp_path, "this is no Python"))
    assert tree.leaves[0].end == "failed"
    assert "SyntaxError" in tree.leaves[0].detail


@pytest.mark.parametrize(
    "made",
    ["multiprocessing.Lock", "multiprocessing.Event", "asyncio.Lock"],
)
def test_ways_to_wait_that_are_no_messages_are_noted_and_leave_the_answer_open(
    tmp_path: Path, made: str
) -> None:
    tree = tree_of(program(tmp_path, f"import {made.partition('.')[0]}\n{made}()\n"))
    assert tree.uncontrolled == [made]
    assert tree.verdict is None


@pytest.mark.parametrize("made", ["Lock", "RLock", "Condition", "Semaphore", "Event", "Barrier(1)"])
def test_what_threads_wait_for_each_other_by_is_noted_when_there_are_two(tmp_path: Path, made: str) -> None:
    alone = f"import threading\nthreading.{made if '(' in made else made + '()'}\n"
    tree = tree_of(program(tmp_path, alone))
    assert (tree.uncontrolled, tree.verdict) == ([], True)
    for start in (
        "threading.Thread(target=print).start()",
        "import _thread; _thread.start_new_thread(print, ())",
    ):
        tree = tree_of(program(tmp_path, alone + start))
        assert f"threading.{made.partition('(')[0]}" in tree.uncontrolled
        assert tree.verdict is None


@needs_mpi
def test_random_numbers_of_numpy_are_no_obstacle(tmp_path: Path) -> None:
    """Its generators have locks."""
    pytest.importorskip("numpy")
    text = """\
        import numpy
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        drawn = float(numpy.random.rand() + numpy.random.default_rng().random())
        if world.rank:
            world.send(drawn, 0)
        else:
            assert 0 <= world.recv(source=MPI.ANY_SOURCE) < 2
    """
    tree = tree_of(program(tmp_path, text), 2)
    assert (tree.uncontrolled, tree.verdict) == ([], True)


def test_a_process_that_waits_for_something_else_is_told(tmp_path: Path) -> None:
    text = """\
        import threading
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
    """
    words = program(tmp_path, text)
    explorer = Explorer(lambda: Controller(words, patience=0.5), Tree())
    with pytest.raises(PossiblyError, match="main did not come to a communication operation"):
        explorer.explore()
