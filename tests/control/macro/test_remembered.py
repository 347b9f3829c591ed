"""What is told from memory is what would have been executed: trees with and without memory are compared."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from possibly.control.macro.explore import Explorer, Plan
from possibly.control.macro.model import Completion, Moment
from possibly.control.macro.program.controller import Controller
from possibly.control.macro.tree import Tree
from possibly.session.macro_steps.paths import PathJudge
from tests.control.macro.simulated import Program, Simulated, random_asking, random_queues, random_ranks

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
needs_mpi = pytest.mark.skipif(
    not (Path(sys.executable).parent / "mpiexec").exists(),
    reason="there is no mpiexec beside the interpreter",
)


def tree_of(file: Path, remembers: bool, ranks: int | None = None) -> Tree:
    words = [str(file)]
    plan = Plan(remembers=remembers)
    return Explorer(
        lambda: Controller(words, ranks), Tree(tuple(words), ranks), plan, judge=PathJudge()
    ).explore()


def paths(tree: Tree) -> list[tuple[object, ...]]:
    """Each path: what was matched, what was seen by claims, and how it ended."""
    found = []
    for leaf in tree.leaves:
        way = tree.path(leaf.number)
        matches = tuple(sorted(tuple(match) for node in way for match in node.matches))
        verdicts = tuple(
            (each["claim"], each["verdict"], str(each.get("everywhere"))) for each in leaf.verdicts
        )
        values = tuple(str(node.carried) for node in way)
        found.append((matches, values, leaf.end, leaf.detail, verdicts))
    return sorted(found)


def check_alike(file: Path, ranks: int | None = None) -> tuple[Tree, Tree]:
    plain, remembered = tree_of(file, False, ranks), tree_of(file, True, ranks)
    assert not plain.diverged
    assert not remembered.diverged
    assert paths(plain) == paths(remembered)
    assert sorted(plain.uncontrolled) == sorted(remembered.uncontrolled)
    assert remembered.executions <= plain.executions
    return plain, remembered


# ---- generated programs ---------------------------------------------------------------------------

KEEPING = (
    "total += item",
    "total = (total * 2 + item) % {modulus}",
    "kept.append(item)",
    "kept.append(item); kept.sort()",
    "known[item] = total",
    "account.balance += item",
    "account = Account(account, item)",
    "last = item",
    "pass",
    "total += item; box.put(total) if total == {modulus} else None",
    "counts[item % 2] += 1",
    "state['n'] = max(state['n'], item)",
)
"""What a receiver does with an item."""
CLAIMS = (
    "G(main.total < {modulus})",
    "F(main.total == {modulus})",
    "G(transit() < 3)",
    "G(total_is_small)",
)


def threads(random: Random) -> str:
    """Threads that put into one or two queues, and one or two that get."""
    modulus = random.randint(3, 7)
    senders = random.randint(2, 3)
    two = random.random() < 0.4
    lines = [
        "import possibly, queue, threading",
        "class Account:",
        "    def __init__(self, before=None, item=0):",
        "        self.balance = item + (before.balance if before else 0)",
        f"box = queue.{random.choice(['Queue()', 'SimpleQueue()', 'Queue(1)'])}",
        "other = queue.Queue()",
        "state = {'n': 0}",
        "@possibly.predicate",
        "def total_is_small(s):",
        f"    return s['main'].total < {modulus}",
        "def send(number):",
        f"    box.put({random.choice(['number', '1', 'number % 2', 'number * number'])})",
        f"    {random.choice(['pass', 'box.put(number)', 'other.put(number)'])}",
        "def receive(count):",
        "    total, kept, known, last, account, counts = 0, [], {}, None, Account(), [0, 0]",
        "    for _ in range(count):",
        "        item = box.get()",
        f"        {random.choice(KEEPING).format(modulus=modulus)}",
        f"        {random.choice(KEEPING[:-3]).format(modulus=modulus)}",
        f"    assert (total, last) != ({random.randint(0, 6)}, {random.randint(0, 3)}), 'order'",
        "    other.put(total)",
        "def main():",
        "    total = 0",
        f"    threads = [threading.Thread(target=send, args=(n,), name=f's{{n}}') for n in range({senders})]",
    ]
    each = senders // 2 if two else senders
    lines += [f"    threads.append(threading.Thread(target=receive, args=({each},), name='r'))"]
    lines += ["    threads.append(threading.Thread(target=receive, args=(1,), name='q'))"] if two else []
    lines += ["    for each in threads: each.start()"]
    lines += [f"    possibly.claim('{random.choice(CLAIMS).format(modulus=modulus)}')"]
    lines += ["    total += other.get()", "main()"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(2 * CASES))
def test_threads_are_told_as_they_are_executed(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(threads(Random(seed)))
    check_alike(file)


def ranks(random: Random) -> str:
    """Ranks that send to the first, or to the first two, which talk to each other at the end."""
    keeping = random.choice(["total += item", "total = total * 3 + item", "total = max(total, item)", "pass"])
    return (
        "\n".join(
            [
                "from mpi4py import MPI",
                "import possibly",
                "comm = MPI.COMM_WORLD",
                "rank = comm.Get_rank()",
                "def gather(count):",
                "    total = 0",
                "    for _ in range(count):",
                f"        item = comm.{random.choice(['recv()', 'recv(source=MPI.ANY_SOURCE, tag=1)'])}",
                f"        {keeping}",
                "    return total",
                "if rank < 2:",
                f"    possibly.claim('G(rank0.found < {random.randint(3, 9)})')",
                "    found = gather(2)",
                "    both = comm.allreduce(found)"
                if random.random() < 0.5
                else "    both = comm.sendrecv(found, 1 - rank)",
                f"    assert both != {random.randint(4, 14)}",
                "else:",
                "    comm.send(rank, dest=0, tag=1)",
                f"    comm.send({random.choice(['1', 'rank'])}, dest=1, tag=1)",
                "    both = comm.allreduce(0)",
            ]
        )
        + "\n"
    )


@needs_mpi
@pytest.mark.parametrize("seed", range(CASES))
def test_ranks_are_told_as_they_are_executed(seed: int, tmp_path: Path) -> None:
    text = ranks(Random(seed))
    if "sendrecv" in text:
        text = text.replace("    both = comm.allreduce(0)\n", "")
    file = tmp_path / "program.py"
    file.write_text(text)
    check_alike(file, 4)


@pytest.mark.parametrize("make", [random_queues, random_ranks, random_asking])
@pytest.mark.parametrize("seed", range(20 * CASES))
def test_any_system_is_told_as_it_is_executed(make: Callable[[Random], Program], seed: int) -> None:
    program = make(Random(seed))

    def found(remembers: bool) -> list[tuple[object, ...]]:
        plan = Plan(remembers=remembers)
        return paths(Explorer(lambda: Simulated(program), Tree(), plan).explore())

    assert found(True) == found(False)


# ---- what is saved --------------------------------------------------------------------------------

STAR = """\
import queue, threading
box = queue.Queue()
def main():
    threads = [threading.Thread(target=box.put, args=(n,), name=f"s{n}") for n in range(4)]
    for each in threads:
        each.start()
    total = 0
    for _ in threads:
        KEEP
    assert total != 5
main()
"""


def test_sums_join_where_lists_do_not(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(STAR.replace("KEEP", "total += box.get()"))
    plain, remembered = check_alike(file)
    assert plain.executions == 24
    assert remembered.executions < 24
    file.write_text(STAR.replace("KEEP", "total = total * 10 + box.get()"))
    plain, remembered = check_alike(file)
    assert (plain.executions, remembered.executions) == (24, 24)


HIDDEN = """\
import queue, threading
from functools import partial
box, simple = queue.Queue(), queue.SimpleQueue()
class Account:
    value = 0
def keep(item, values=[0]):
    values[0] = values[0] * 2 + item
    return values[0]
def later():
    total = 0
    while True:
        total = total * 2 + (yield total)
def main():
    threads = [threading.Thread(target=partial(box.put, n), name=f"s{n}") for n in (1, 2, 3)]
    for each in threads:
        each.start()
    generated = later()
    next(generated)
    INIT
    for _ in threads:
        KEEP
    assert FOUND != 13, "2, 1, 3"
main()
"""
KEPT = {
    "typing.mine = typing.mine * 2 + box.get()": "typing.mine",
    "Account.value = Account.value * 2 + box.get()": "Account.value",
    "keep(box.get())": "keep(0) / 2",
    "keep.value = keep.value * 2 + box.get()": "keep.value",
    "generated.send(box.get())": "generated.send(0) / 2",
    "box.value = box.value * 2 + box.get()": "box.value",
    "simple.value = simple.value * 2 + box.get()": "simple.value",
    "threads[0].value = threads[0].value * 2 + box.get()": "threads[0].value",
}


@pytest.mark.parametrize("kept", KEPT)
def test_the_order_is_seen_wherever_it_is_kept(kept: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    name = KEPT[kept]
    begin = f"{name} = 0" if "." in name and "(" not in name else "pass"
    imports = "import typing\n" if "typing" in kept else ""
    text = HIDDEN.replace("KEEP", kept).replace("FOUND", name).replace("INIT", begin)
    file.write_text(imports + text)
    tree = tree_of(file, True)
    assert sorted(leaf.end for leaf in tree.leaves) == ["failed"] + ["finished"] * 5


PAIRS: Program = {
    "a": [("recv", None), ("recv", None)],
    "b": [("send", "a")],
    "c": [("send", "a")],
    "d": [("recv", None), ("recv", None)],
    "e": [("send", "d")],
    "f": [("send", "d")],
    "g": [("recv", None), ("recv", None)],
    "h": [("send", "g")],
    "i": [("send", "g")],
}


def test_what_does_not_know_of_each_other_is_not_multiplied_out() -> None:
    plan = Plan(remembers=False)
    plain = Explorer(lambda: Simulated(PAIRS), Tree(), plan).explore()
    remembered = Explorer(lambda: Simulated(PAIRS), Tree(), Plan(remembers=True)).explore()
    assert paths(plain) == paths(remembered)
    assert (len(plain.leaves), plain.executions) == (8, 8)
    assert remembered.executions <= 4  # one receiver's other order each, and the first execution


class Restless(Simulated):
    """Shows another value each time."""

    times = 0

    def begin(self) -> Moment:
        Restless.times += 1
        return super().begin()

    def proceed(self, completions: list[Completion], going: list[str]) -> Moment:
        found = super().proceed(completions, going)
        breaks = {p: s._replace(variables={"time": Restless.times}) for p, s in found.breaks.items()}
        return found._replace(breaks=breaks)


def test_other_values_each_time_are_never_told_from_memory() -> None:
    remembered = Explorer(lambda: Restless(PAIRS), Tree(), Plan(remembers=True)).explore()
    assert (len(remembered.leaves), remembered.diverged) == (8, [])
    assert remembered.executions > 8


RACING = """\
import queue, threading
box = queue.Queue()
def collect():
    print([box.get(), box.get()])
for name, run, given in (("a", box.put, (1,)), ("b", box.put, (2,)), ("c", collect, ())):
    threading.Thread(target=run, args=given, name=name).start()
"""


def test_variables_that_threads_see_at_any_time_are_no_reason_to_begin_anew(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(RACING)
    for _ in range(4):
        assert tree_of(file, True).executions == 2
