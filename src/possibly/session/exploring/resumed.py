"""A search that goes on where an earlier one stopped: its tree in a file.

Law: what was covered counts only for the program that it was covered in. So the file holds the arguments and
settings, and the digests of the user's source files; if any of them is another now, the file is refused.
What became visible on the way, and what leaves the search open for good, is kept too. A search that found a
failure is not saved: gone on with, it would find nothing.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, Protocol

from possibly import hashing
from possibly.control.schedulers.dpor import Dpor
from possibly.control.treefile import DAMAGES, damaged, load_tree, save_tree
from possibly.errors import PossiblyError
from possibly.verdict.reasons import Reason

if TYPE_CHECKING:
    from possibly.control.forking.zygote import ControlledProgram


class Found(Protocol):
    """What a search has found so far (`explore.Exploration`)."""

    executions: int
    earlier: int
    steps: int
    open: dict[str, Reason]
    failure: Any


class Kept:
    """The file of a search."""

    def __init__(self, path: str, words: tuple[str, ...], asked: list[str]) -> None:
        self.path = path
        self.words = words
        self.asked = asked
        """The properties that executions were looked at for, beside that they do not fail."""

    def begin(self, program: ControlledProgram, found: Found) -> Dpor:
        """An explorer that goes on with what the file holds; a new one if there is no file."""
        if not os.path.exists(self.path):
            return Dpor()
        tree, more = load_tree(self.path, self._about(program))
        try:
            self._check_sources({str(file): str(digest) for file, digest in more["sources"].items()})
            program.visible.update(map(str, more["visible"]))
            program.watching.update(map(str, more.get("watching", ())))
            found.executions = found.earlier = tree.executions
            found.steps = int(more["steps"])
            found.open.update(
                {what: Reason(str(where), str(remedy)) for what, (where, remedy) in more["open"].items()}
            )
        except DAMAGES:
            raise damaged(self.path) from None
        return Dpor(tree)

    def _check_sources(self, sources: dict[str, str]) -> None:
        for file, digest in sources.items():
            if _digest(file) != digest:
                raise PossiblyError(
                    f"this search is of another version of {file}",
                    file=self.path,
                    hint="remove the file to begin anew",
                )

    def save(self, program: ControlledProgram, found: Found, explorer: Any, passing: set[str]) -> None:
        """What was covered so far; `passing` are reasons for an open end that the next run does not have."""
        if found.failure is not None or not isinstance(explorer, Dpor):
            return
        more = {
            "sources": {file: _digest(file) for file in program.files},
            "visible": sorted(program.visible),
            "watching": sorted(program.watching),
            "steps": found.steps,
            "open": {
                what: [reason.where, reason.remedy]
                for what, reason in found.open.items()
                if what not in passing
            },
        }
        save_tree(explorer.tree, self.path, self._about(program), more)

    def _about(self, program: ControlledProgram) -> dict[str, Any]:
        settings = {name: _plain(value) for name, value in sorted(program.options.items())}
        about = {"program": list(self.words), "settings": settings, "properties": self.asked}
        return {**about, "hash_seed": hashing.known} if hashing.known else about


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, (set, frozenset)) else value


def _digest(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return ""
