"""What a program imports, imported before it begins, so that no execution does it again.

What of the standard library it imports before it does anything else stands in its source, and the first
execution tells the rest. A module that starts threads when it is imported is left to the program: a process
that is forked has no thread but one.
"""

from __future__ import annotations

import ast
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, NoReturn

from possibly.control.loading.packages import STANDARD


class _StartsThreads(RuntimeError):
    """A module starts a thread as it is imported."""


def named_first(tree: ast.Module, folder: str) -> list[str]:
    """Modules of the standard library that a file in that folder imports before it does anything else."""
    found = [(name, name.partition(".")[0]) for name in _named_first(tree)]
    return [name for name, root in found if root in STANDARD and not _is_own(root, folder)]


def _named_first(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        match statement:
            case ast.Import(names):
                yield from (each.name for each in names)
            case ast.ImportFrom(str(module), _, 0):
                yield module
            case ast.Expr(ast.Constant()) | ast.ImportFrom():
                pass
            case _:
                return


def _is_own(name: str, folder: str) -> bool:
    """Whether the user has something of that name beside the file."""
    path = os.path.join(folder, name)
    return os.path.exists(path) or os.path.exists(f"{path}.py")


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
