"""What a tree of macro-steps was made from: it counts only for the same files, options and versions.

Law: a tree that is gone on with was explored in the very program that is there now. So its file holds digests
of the program's files and of the packages that it imported, and what was asked; if any of them is another
now, the file is refused, as that of `--resume` is.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable

from possibly.control.macro.tree import Tree
from possibly.errors import PossiblyError

AGAIN = "remove the file to begin anew, or give another --tree"
_known: dict[str, str] = {}
"""Digests of files that do not change while they are explored."""


def note_sources(tree: Tree, files: Iterable[str]) -> None:
    """More files of the program became known."""
    for file in files:
        if file not in tree.sources:
            tree.sources[file] = _known.setdefault(file, digest(file))


def versions() -> str:
    from importlib.metadata import version

    return f"possibly {version('possibly')}, Python {sys.version.split()[0]}"


def check_sources(tree: Tree, path: str, asked: list[str]) -> None:
    """Refuses a tree of another program than the one that is there now."""
    if tree.nodes and not tree.sources:
        raise PossiblyError("this tree does not say which files it is of", file=path, hint=AGAIN)
    for file, known in tree.sources.items():
        if digest(file) != known:
            raise PossiblyError(f"this tree is of another version of {file}", file=path, hint=AGAIN)
    if tree.versions != versions():
        raise PossiblyError(f"this tree was made with {tree.versions}", file=path, hint=AGAIN)
    if tree.asked != asked:
        raise PossiblyError("this tree was made with other options or properties", file=path, hint=AGAIN)


def digest(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return ""
