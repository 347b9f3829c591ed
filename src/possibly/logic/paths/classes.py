"""The five subclasses of data path expressions, each with its semantic model.

Here belongs table 3-2 of Modeling Concurrency in Parallel Debugging: the smallest subclass whose grammar
yields an expression, and why no smaller one does. `*n` counts as `*`; its counters are said beside the
class.
"""

from __future__ import annotations

from dataclasses import dataclass

from possibly.logic.paths.parser import subpaths
from possibly.logic.paths.syntax import (
    Expression,
    Many,
    Path,
    Repeat,
    Sequence,
    Together,
    path_text,
)

SUBCLASSES = ("sequential", "multiple", "safe", "general", "extended")
"""The smallest first."""
MODELS = {
    "sequential": "finite state automaton",
    "multiple": "safe net without branching before a split",
    "safe": "safe net",
    "general": "Petri net",
    "extended": "Petri net with zero tests",
}
ENGINES = {
    "sequential": "automaton",
    "multiple": "predecessor-automaton",
    "safe": "predecessor-automaton",
    "general": "net",
    "extended": "net-with-zero-tests",
}


@dataclass(frozen=True, slots=True)
class Subclass:
    name: str
    why: str

    @property
    def model(self) -> str:
        return MODELS[self.name]

    @property
    def engine(self) -> str:
        return ENGINES[self.name]


def subclass(expression: Expression) -> Subclass:
    """The smallest subclass of an expression, and the part that keeps it from a smaller one."""
    found = _subclass(expression.root)
    counters = sorted({part.variable for part in subpaths(expression.root)
                       if isinstance(part, Repeat) and part.variable})  # fmt: skip
    if counters:
        return Subclass(found.name, f"{found.why}; counts with {', '.join(counters)}")
    return found


def _subclass(root: Path) -> Subclass:
    together = next((part for part in subpaths(root) if isinstance(part, Together)), None)
    many = next((part for part in subpaths(root) if isinstance(part, Many)), None)
    if together is None and many is None:
        return Subclass("sequential", "it uses only ; + *")
    if many is None:
        nested = _nested(root)
        if nested is None:
            return Subclass("multiple", "& joins sequential parts at the top alone")
        return Subclass("safe", f"& stands inside {path_text(nested)}, and there is no @")
    joined = _joined(root)
    if joined is None:
        return Subclass("general", f"nothing follows the copies of {path_text(many)}")
    return Subclass("extended", f"{path_text(joined)} has to wait until all copies of an @ are done")


def _nested(path: Path) -> Path | None:
    """A part that is no `&` but contains one."""
    if isinstance(path, Together):
        return _nested(path.left) or _nested(path.right)
    return path if any(isinstance(part, Together) for part in subpaths(path)) else None


def _joined(path: Path) -> Path | None:
    """A sequence or repetition that contains an `@`: dpe4 has none."""
    for part in subpaths(path):
        if isinstance(part, Sequence | Repeat) and any(isinstance(below, Many) for below in subpaths(part)):
            return part
    return None
