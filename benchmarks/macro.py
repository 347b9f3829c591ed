"""`make bench`: macro-steps. The search alone; threads; sixteen ranks under mpiexec, the whole tree."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.run import rate, row, timed
from possibly.control.macro.controller import Controller
from possibly.control.macro.explore import Explorer
from possibly.control.macro.tree import Tree
from tests.control.macro.simulated import Program, explored

SIXTEEN = """\
from mpi4py import MPI

import possibly

possibly.claim("G(rank0.got <= 3)")
world = MPI.COMM_WORLD
rank = world.Get_rank()
got = 0
if rank == 0:
    while got < 3:
        world.recv(source=MPI.ANY_SOURCE, tag=1)
        got += 1
elif rank <= 3:
    world.send(rank, 0, tag=1)
total = world.allreduce(rank)
neighbour = world.sendrecv(rank, (rank + 1) % 16, source=(rank - 1) % 16)
assert total == 120
assert neighbour == (rank - 1) % 16
"""
"""Three of sixteen ranks report to the first in any order: 3! paths; then all talk to their neighbours."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the sixteen ranks")
    quick = parser.parse_args().quick
    print("macro-steps")
    _search(5 if quick else 6)
    threads = Path(__file__).parents[1] / "examples" / "macro" / "threads.py"
    _program("producer, buffer and consumer as threads", [str(threads), "right", "3", "2"], None)
    if not quick:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "sixteen.py"
            file.write_text(SIXTEEN)
            _program("sixteen ranks under mpiexec", [str(file)], 16)


def _search(senders: int) -> None:
    program: Program = {f"P{number}": [("send", "M")] for number in range(senders)}
    program["M"] = [("recv", None)] * senders
    spent, tree = timed(lambda: explored(program))
    row(f"{senders} senders, simulated: {len(tree.leaves):,} paths", rate(len(tree.leaves), spent, "paths"))


def _program(name: str, words: list[str], ranks: int | None) -> None:
    tree = Tree(tuple(words), ranks)
    spent, _ = timed(lambda: Explorer(lambda: Controller(words, ranks), tree).explore())
    assert tree.verdict is True, [leaf.detail for leaf in tree.leaves]
    steps = f"{len(tree.leaves)} paths, {len(tree.nodes):,} breakpoints"
    row(f"{name}: {steps}", rate(tree.executions, spent, "executions"), f"{spent:.1f} s")


if __name__ == "__main__":
    main()
