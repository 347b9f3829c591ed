"""What runs on a worker of a cluster: a process of its own in which programs are controlled.

A worker of Dask has threads and many modules, and a program under control is to be forked from neither. So
each thread of a worker has a helper, a plain interpreter, which it sends jobs to, one at a time, and which
ends with the worker.
"""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import IO, Any

from possibly import hashing
from possibly.control.cluster.branch import grown_of
from possibly.control.forking.execution import Job
from possibly.control.forking.patience import TimeIsUp
from possibly.control.forking.zygote import ControlledProgram, Knowledge, script

ABSENT = "none"
MODULE = "possibly.control.cluster.helper"


@dataclass(frozen=True)
class Place:
    """A program as it stands on a command line, and where."""

    folder: str
    words: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]
    hash_seed: int | None
    """How texts are hashed, if that is known: in each process alike."""


@dataclass(frozen=True)
class Order:
    """One execution, or the executions of some branches, that are wanted."""

    job: Job
    plan: bytes
    """A pickled scheduler, or branches of the tree."""
    fresh: bool
    knowledge: Knowledge
    seconds: float | None
    """At most so long."""


def executed(place: bytes, order: bytes) -> bytes:
    """What the execution gave, or the exception that ended it, pickled; called on a worker of Dask."""
    helper = _helper(place)
    try:
        pickle.dump(order, _stream(helper.stdin))
        _stream(helper.stdin).flush()
        answer: bytes = pickle.load(_stream(helper.stdout))
    except (OSError, EOFError):
        _mine.helpers.pop(place)
        helper.kill()
        helper.wait()
        raise RuntimeError("the process that ran the program died") from None
    return answer


_mine = threading.local()


def _helper(place: bytes) -> subprocess.Popen[bytes]:
    helpers: dict[bytes, subprocess.Popen[bytes]] = _mine.__dict__.setdefault("helpers", {})
    if place not in helpers:
        words = [sys.executable, "-m", MODULE]
        helpers[place] = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment(place)
        )
        _stream(helpers[place].stdin).write(place)
    return helpers[place]


def _environment(place: bytes) -> dict[str, str]:
    seed = pickle.loads(place).hash_seed
    return {**os.environ} if seed is None else {**os.environ, hashing.GIVEN: str(seed)}


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None, "it was asked for"
    return stream


def surroundings(words: tuple[str, ...], folder: str) -> dict[str, str]:
    """What must be the same on all machines: interpreter, possibly, packages and the program's sources."""
    from importlib.metadata import distributions, version

    found = {"python": sys.version.split()[0], "possibly": version("possibly")}
    found |= {f"package {each.metadata['Name']}": each.version for each in distributions()}
    if words:
        found |= {f"file {path}": _digest(os.path.join(folder, path)) for path in sources_of(words, folder)}
    return found


def sources_of(words: tuple[str, ...], folder: str) -> list[str]:
    """The program and the modules beside it that it imports, one through the other."""
    first = words[1].replace(".", "/") if words[0] == "-m" else words[0]
    beside = "" if words[0] == "-m" else os.path.dirname(first)
    found: dict[str, None] = {}
    waiting = _files_of(first, folder) or [first]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = None
        names = _imported(os.path.join(folder, path))
        waiting += [each for name in names for each in _files_of(os.path.join(beside, name), folder)]
    return sorted(found)


def _files_of(place: str, folder: str) -> list[str]:
    """The files that stand for a program or a module at that place."""
    forms = (place, f"{place}.py", f"{place}/__init__.py", f"{place}/__main__.py")
    return [form for form in forms if os.path.isfile(os.path.join(folder, form))]


def _imported(path: str) -> list[str]:
    """The places of all modules that a source names, as seen from the folder of the program."""
    try:
        with open(path, "rb") as file:
            nodes = list(ast.walk(ast.parse(file.read())))
    except (OSError, SyntaxError, ValueError):
        return []
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    parts = [name.split(".") for name in names]
    return ["/".join(each[:length]) for each in parts for length in range(1, len(each) + 1)]


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()[:12]
    except OSError:
        return ABSENT


# ---- inside the helper --------------------------------------------------------------------------


def serve() -> None:
    """Executes what comes by standard input; the program's own streams are elsewhere."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    place: Place = pickle.load(orders)
    os.chdir(place.folder)
    with script(place.words, **dict(place.options)) as program:
        while True:
            try:
                order: Order = pickle.loads(pickle.load(orders))
            except EOFError:
                return
            pickle.dump(_answer(program, order), answers)
            answers.flush()


def _answer(program: ControlledProgram, order: Order) -> bytes:
    program.take_over(order.knowledge)
    program.until = None if order.seconds is None else time.monotonic() + order.seconds
    plan = pickle.loads(order.plan)
    try:
        if isinstance(plan, tuple):
            return pickle.dumps(grown_of(program, plan))
        return pickle.dumps(program.answered(order.job, plan, order.fresh))
    except TimeIsUp as late:
        return pickle.dumps(late)


if __name__ == "__main__":
    serve()
