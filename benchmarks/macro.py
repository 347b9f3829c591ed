"""`make bench`: macro-steps. The search alone; threads; a star beside `explore`; long paths; sixteen ranks.

The paths of a star are its matchings that matter, every order of its senders: what tools for MPI that explore
matchings (ISP, DAMPI) count as interleavings. CPU is that of all processes, so that others on the machine do
not count.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.run import rate, row, timed
from possibly.control.macro.explore import Explorer
from possibly.control.macro.program.controller import Controller
from possibly.control.macro.tree import Tree
from possibly.session.macro_steps.paths import PathJudge
from tests.control.macro.simulated import Program, explored

STAR = """\
import queue, sys, threading
count, box, total = int(sys.argv[1]), queue.Queue(), 0
def collect():
    global total
    for _ in range(count):
        total += box.get()
threads = [threading.Thread(target=box.put, args=(n,), name=f"s{n}") for n in range(count)]
threads.append(threading.Thread(target=collect, name="collect"))
for thread in threads: thread.start()
for thread in threads: thread.join()
assert total == sum(range(count))
"""
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
LONG = """\
import queue, sys, threading
ask, answer = queue.Queue(), queue.Queue()
count = int(sys.argv[1])
def serve():
    for _ in range(count):
        answer.put(ask.get())
server = threading.Thread(target=serve, name="server")
server.start()
for number in range(count):
    ask.put(number)
    assert answer.get() == number
server.join()
"""
"""One path, of four macro-steps a round."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the sixteen ranks")
    quick = parser.parse_args().quick
    print("macro-steps")
    _search(5 if quick else 6)
    threads = Path(__file__).parents[1] / "examples" / "macro" / "threads.py"
    _program("producer, buffer and consumer as threads", [str(threads), "right", "3", "2"], None)
    for senders in (3,) if quick else (5, 6, 7):
        _star(senders)
    for rounds in (250, 500) if quick else (2_500, 5_000, 24_000):
        _written("one long path", LONG, [str(rounds)], None)
    if not quick:
        _written("sixteen ranks under mpiexec", SIXTEEN, [], 16)


def _search(senders: int) -> None:
    program: Program = {f"P{number}": [("send", "M")] for number in range(senders)}
    program["M"] = [("recv", None)] * senders
    spent, tree = timed(lambda: explored(program))
    row(f"{senders} senders, simulated: {len(tree.leaves):,} paths", rate(len(tree.leaves), spent, "paths"))


def _star(senders: int) -> None:
    """The same program by macro-steps and step by step, each as a command of its own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "star.py").write_text(STAR)
        for name, words in (("macro-steps", ["--macro"]), ("plain explore", [])):
            begun = _spent()
            command = [sys.executable, "-m", "possibly", "explore", *words, "--json", "star.py", str(senders)]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout)
            paths = f", {found['paths']:,} paths" if "paths" in found else ""
            row(
                f"a star of {senders} senders, {name}: {found['executions']:,} executions{paths}",
                f"{_spent() - begun:.1f} s of CPU",
            )


def _spent() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def _written(name: str, text: str, words: list[str], ranks: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(text)
        _program(name, [str(file), *words], ranks)


def _program(name: str, words: list[str], ranks: int | None) -> None:
    tree = Tree(tuple(words), ranks)
    judge = PathJudge()
    spent, _ = timed(lambda: Explorer(lambda: Controller(words, ranks), tree, judge=judge).explore())
    assert tree.verdict is True, [leaf.detail for leaf in tree.leaves]
    steps = f"{len(tree.leaves)} paths, {len(tree.nodes):,} breakpoints"
    row(f"{name}: {steps}", rate(tree.executions, spent, "executions"), f"{spent:.1f} s")


if __name__ == "__main__":
    main()
