"""A program that is started by a fork is as one that is started afresh."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from possibly.control.macro.program import launch
from possibly.control.macro.program.controller import Controller
from possibly.control.macro.run import Run
from possibly.control.macro.tree import Tree
from possibly.errors import ControlError
from tests.control.macro.test_real import needs_mpi, program, tree_of

LOOKS = """\
    import json, os, queue, signal, sys
    queue.Queue().put(1)
    found = {
        "argv": sys.argv, "folder": os.getcwd(), "path": sys.path[0], "name": __name__, "file": __file__,
        "variable": os.environ["POSSIBLY_TEST"], "input": sys.stdin.read(),
        "leads": os.getsid(0) == os.getpid(),
        "children": str(signal.getsignal(signal.SIGCHLD)), "interrupt": str(signal.getsignal(signal.SIGINT)),
        "hash": hash("possibly"), "open": sorted(map(int, os.listdir("/proc/self/fd")))[:3],
    }
    print("said")
    print("warned", file=sys.stderr)
    with open("seen.json", "w") as opened:
        json.dump(found, opened)
"""
forks = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are always started afresh here")


def looked(words: list[str]) -> tuple[Any, str]:
    controller = Controller([*words, "one", "two"])
    with closing(controller):
        run = Run(controller, Tree().users)
        run.begin()
        run.step()
        return json.loads(Path("seen.json").read_text()), controller.output()


@forks
def test_a_fork_is_as_a_fresh_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = program(tmp_path, LOOKS)
    seen = []
    for value in ("fresh", "forked", "forked"):
        (tmp_path / value).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / value)
        monkeypatch.setenv("POSSIBLY_TEST", value)
        with monkeypatch.context() as patch:
            if value == "fresh":
                patch.delattr(os, "pidfd_open")
            found, output = looked(words)
        assert (found.pop("variable"), found.pop("folder")) == (value, str(tmp_path / value))
        assert sorted(output.split()) == ["said", "warned"]
        seen.append(found)
    assert seen[0] == seen[1] == seen[2]
    assert seen[0]["argv"][1:] == ["one", "two"] and seen[0]["leads"]


@forks
def test_a_template_that_was_killed_is_replaced(tmp_path: Path) -> None:
    words = program(tmp_path, "import queue\nqueue.Queue().put(1)\n")
    assert tree_of(words).verdict is True
    for template in launch._templates.values():
        template.process.kill()
        template.process.wait()
    assert tree_of(words).verdict is True
    assert tree_of(words).verdict is True


@forks
def test_a_child_that_has_ended_is_known_to_have() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    child = launch.Forked(pid)
    assert child.wait(10.0) == 0
    assert child.poll() == 0
    os.waitpid(pid, 0)
    assert launch.Forked(pid).poll() == 0


def test_what_a_template_imports_is_there() -> None:
    """Without it every execution would begin with a start of the interpreter, and nobody would notice."""
    from importlib.util import find_spec

    from possibly.control.macro.inside.ready.template import LATER, OURS, USUAL

    ours = [f"possibly.control.macro.inside.{name}" for name in OURS]
    assert all(find_spec(name) for name in (*USUAL, *ours, *LATER))


RANK = """\
    import json, os, signal, sys
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    other = 1 - world.rank
    found = {
        "argv": sys.argv, "folder": os.getcwd(), "name": __name__, "size": world.size,
        "variable": os.environ["POSSIBLY_TEST"], "children": str(signal.getsignal(signal.SIGCHLD)),
        "hash": hash("possibly"), "other": world.sendrecv(f"from {world.rank}", other, source=other),
    }
    print(f"said {world.rank}", flush=True)
    with open(f"seen{world.rank}.json", "w") as opened:
        json.dump(found, opened)
"""


@forks
@needs_mpi
def test_forked_ranks_are_as_fresh_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = program(tmp_path, RANK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POSSIBLY_TEST", "a value")
    seen, begun = [], []
    for is_forked in (False, True):
        with monkeypatch.context() as patch:
            if not is_forked:
                patch.delattr(os, "pidfd_open")
            controller = Controller([*words, "one"], 2)
            with closing(controller):
                run = Run(controller, Tree().users)
                point = run.begin()
                while not point.end:
                    point = run.finish() if run.is_over else run.step()
                begun.append(Path(f"/proc/{controller._pids['rank0']}/cmdline").read_bytes())
                assert point.end == "finished" and "said 0" in controller.output()
        seen.append([json.loads(Path(f"seen{rank}.json").read_text()) for rank in (0, 1)])
    assert seen[0] == seen[1]
    assert [each["other"] for each in seen[1]] == ["from 1", "from 0"]
    assert b"template" not in begun[0] and (b"template" in begun[1]) == launch._is_hydra(launch.mpiexec())


@forks
@needs_mpi
def test_a_forked_rank_that_never_stops_ends_with_its_execution(tmp_path: Path) -> None:
    source = "from mpi4py import MPI\nif MPI.COMM_WORLD.rank:\n    while True:\n        pass\n"
    controller = Controller(program(tmp_path, source), 2, patience=0.2)
    with closing(controller), pytest.raises(ControlError, match="rank1 did not come"):
        controller.begin()
    spinning = controller._pids["rank1"]
    deadline = time.monotonic() + 30
    while os.path.exists(f"/proc/{spinning}"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
