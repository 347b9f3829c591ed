"""What a program imports, imported before it begins, so that no execution does it again.

The first execution tells what that is. A module that starts threads when it is imported is left to the
program: a process that is forked has no thread but one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NoReturn


class _StartsThreads(RuntimeError):
    """A module starts a thread as it is imported."""


def imported(names: Iterable[str]) -> None:
    kind: Any = threading.Thread
    plain = kind.start
    kind.start = _refuse
    try:
        for name in names:
            if name not in sys.modules:
                _import(name)
    finally:
        kind.start = plain


def _import(name: str) -> None:
    try:
        import_module(name)
    except Exception:  # noqa: BLE001 - the program meets it as well, and may catch it
        pass


def _refuse(*_: object) -> NoReturn:
    raise _StartsThreads("a thread that is started as a module is imported")
