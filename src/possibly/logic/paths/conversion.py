"""N(R): repetitions whose body is never empty.

Here belongs the first step of section 4.3 of Modeling Concurrency in Parallel Debugging, after Foster's
conversion theorem: for a body R that can be empty, R* = N(R)* where N(R) cannot. The fourth case, for `&`,
is the paper's own. Departures: it holds only where the two sides have no event in common (else a
synchronising event of one side alone would be allowed), and there is none for `@`; such bodies stay as
they are, which the machine does not mind.
"""

from __future__ import annotations

from possibly.logic.paths.parser import can_be_empty, subpaths
from possibly.logic.paths.syntax import Atom, Choice, Many, Path, Repeat, Sequence, Together


def converted(path: Path) -> Path:
    """The same language, with no empty body under a `*` where the conversion applies."""
    match path:
        case Atom():
            return path
        case Many(body):
            return Many(converted(body))
        case Repeat(body, None):
            inner = converted(body)
            return Repeat(never_empty(inner) or inner)
        case Repeat(body, variable):
            return Repeat(converted(body), variable)
        case Sequence(left, right) | Choice(left, right) | Together(left, right):
            return type(path)(converted(left), converted(right))


def never_empty(path: Path) -> Path | None:
    """N(R), None where no rule applies."""
    if not can_be_empty(path):
        return path
    match path:
        case Repeat(body, None):
            return never_empty(body)
        case Choice(left, right) | Sequence(left, right):
            first, second = never_empty(left), never_empty(right)
            return None if first is None or second is None else Choice(first, second)
        case Together(left, right) if not _symbols(left) & _symbols(right):
            first, second = never_empty(left), never_empty(right)
            if first is None or second is None:
                return None
            return Choice(Choice(Together(second, first), second), first)
    return None


def _symbols(path: Path) -> set[str]:
    return {part.symbol for part in subpaths(path) if isinstance(part, Atom)}
