"""`python -m fuzz [TARGET ...]`: each target for some seconds; `--input FILE` shows one input again.

A target runs in a process of its own with a limit on its memory; an alarm ends an input that takes longer
than the bound. What was an error lies in `build/fuzz/` afterwards, with the command that shows it again.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from fuzz.mutations import mutated
from fuzz.targets import TARGETS, run

SEEDS = Path(__file__).parent / "seeds"
KEPT = Path("build") / "fuzz"
BOUND = 20
"""Seconds of one input, on a loaded machine."""
MEMORY = 4 << 30
"""Bytes of address space of a target."""
MOST_ERRORS = 5


class TooLong(BaseException):
    """An input took longer than the bound. No `except Exception` may swallow it."""


@contextmanager
def bounded(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TooLong(f"longer than {seconds} s")

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def fault_of(name: str, data: bytes, folder: Path) -> str | None:
    """What is wrong with this input, as a traceback; None if nothing is."""
    try:
        with bounded(BOUND):
            run(name, data, folder)
    except (Exception, TooLong, SystemExit):  # noqa: BLE001 - whatever it is, it is an error of ours
        return traceback.format_exc()
    return None


def seeds_of(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((SEEDS / name).iterdir())]


def kept(name: str, data: bytes) -> Path:
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def search(name: str, seconds: float, seed: int) -> tuple[int, int]:
    """How many inputs were tried, and how many were errors; those are printed."""
    chance, seeds = random.Random(f"{name} {seed}"), seeds_of(name)
    end = time.monotonic() + seconds
    tried, faults = 0, set[str]()
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end and len(faults) < MOST_ERRORS:
            data = seeds[tried] if tried < len(seeds) else mutated(chance, seeds)
            tried += 1
            fault = fault_of(name, data, Path(folder))
            if fault is not None and (last := fault.splitlines()[-1]) not in faults:
                faults.add(last)
                print(f"{fault}again: python -m fuzz {name} --input {kept(name, data)}\n", flush=True)
    return tried, len(faults)


def in_a_process(name: str, seconds: float, seed: int, memory: int) -> tuple[int, int]:
    """A search that may crash: then that is its error."""
    context = get_context("fork")
    reader, writer = context.Pipe(duplex=False)

    def job() -> None:
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        writer.send(search(name, seconds, seed))

    process = context.Process(target=job)
    process.start()
    writer.close()
    try:
        found: tuple[int, int] = reader.recv()
    except EOFError:
        found = 0, 1
        print(f"{name}: the process ended with {process.exitcode}: seed {seed}")
    process.join()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all if none")
    parser.add_argument("--seconds", type=float, default=10, help="for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-limit", action="store_true", help="of memory: sanitizers need much of it")
    parser.add_argument("--input", type=Path, help="one input, for the one target that is named")
    arguments = parser.parse_args()
    names = arguments.targets or list(TARGETS)
    if unknown := set(names) - set(TARGETS):
        parser.error(f"no target is called {', '.join(sorted(unknown))}")
    if arguments.input is not None:
        with tempfile.TemporaryDirectory() as folder:
            fault = fault_of(names[0], arguments.input.read_bytes(), Path(folder))
        print(fault or "nothing is wrong")
        return int(fault is not None)
    memory = 0 if arguments.no_limit else MEMORY
    total = wrong = 0
    for name in names:
        tried, faults = in_a_process(name, arguments.seconds, arguments.seed, memory)
        print(f"{name:14} {tried:>9,} inputs  {faults} errors", flush=True)
        total, wrong = total + tried, wrong + faults
    print(f"{'together':14} {total:>9,} inputs  {wrong} errors")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
