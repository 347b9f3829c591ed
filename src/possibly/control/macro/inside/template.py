"""`python -m possibly.control.macro.inside.template DESCRIPTOR`: it is forked for each execution.

Law: a forked process is what a fresh interpreter would be that was started with the same words, folder,
environment and standard streams, but for the modules that are in memory already. It is asked for over the
socket that the descriptor names, and ends when nobody can ask any more.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from importlib import import_module
from typing import Any, NoReturn

from possibly.control.macro.inside import start
from possibly.control.macro.wire import ClosedError, Wire

USUAL = ("asyncio", "multiprocessing.connection", "multiprocessing.queues", "queue", "threading")
"""What programs that pass messages import."""
OURS = ("pipes", "primitives", "processes", "queues", "tasks", "threads")
"""The files here that put the operations in place."""
LATER = ("possibly.control.macro.inside.watching", "possibly.control.loading.instrumented")
"""What only programs with threads need: imported while the first execution is under way."""


def main() -> None:
    wire = Wire(socket.socket(fileno=int(sys.argv[1])))
    _import(*USUAL, *(f"possibly.control.macro.inside.{each}" for each in OURS))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    while True:
        try:
            words, environment, folder, output = wire.receive()
            child = os.fork()
            if child == 0:
                wire.close()
                _become(words, environment, folder, output)
            wire.send(child)
            _import(*LATER)
        except ClosedError:
            os._exit(0)


def _import(*names: str) -> None:
    for name in names:
        import_module(name)


def _become(words: tuple[str, ...], environment: dict[str, str], folder: str, output: str) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    _redirected(output)
    try:
        os.chdir(folder)
        sys.argv = [sys.argv[0], *words]
        start.main()
    except BaseException:  # noqa: BLE001 - nothing may return into the template
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


def _redirected(output: str) -> None:
    streams: list[tuple[str, int, tuple[int, ...]]] = [
        (os.devnull, os.O_RDONLY, (0,)),
        (output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, (1, 2)),
    ]
    for path, how, numbers in streams:
        opened: Any = os.open(path, how, 0o600)
        for number in numbers:
            os.dup2(opened, number)
        os.close(opened)


if __name__ == "__main__":
    main()
