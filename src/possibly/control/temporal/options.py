"""How a temporal step is searched for: section 5 of "Temporal debugging for concurrent systems"."""

from __future__ import annotations

from dataclasses import dataclass

from possibly.errors import UsageError

SIZES = ("shortest", "each", "min", "max")
DEEPEST = 100
"""States that a memoryless step has at most, unless a bound is given."""


@dataclass(frozen=True, slots=True)
class Options:
    size: str = "shortest"
    """`shortest`: breadth first, a step is not continued past its end; `each`: breadth first, every state
    that
    ends a step, the nearest first; `min` and `max`: depth first, DFS_min and DFS_max as printed."""
    bound: int | None = None
    """A step has at most so many states."""
    new_ends: bool = False
    """Forbid a step that ends in the system state in which an earlier one ended."""
    new_sequences: bool = False
    """Forbid a step with the same sequence of system states as an earlier one."""
    all_paths: bool = False
    """Every path that enters no pair twice, instead of entering each pair once in the whole search."""
    memoryless: bool = False
    """Keep no states: iterative deepening, states are regenerated from the names of transitions."""
    printed: bool = False
    """Search with the tableau as the paper has it, not with the reduced automaton."""

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise UsageError(f"a step is {' or '.join(SIZES)}, not {self.size}")
        if self.bound is not None and self.bound < 1:
            raise UsageError("a step has at least one state: the bound is 1 or more")
        if self.memoryless and self.size == "max":
            raise UsageError(
                "a memoryless search deepens step by step, so it finds shortest steps, not maximal ones"
            )

    def words(self) -> tuple[str, ...]:
        """The options as a command writes them; those that are not the default."""
        flags = {
            "new-ends": self.new_ends,
            "new-paths": self.new_sequences,
            "all": self.all_paths,
            "memoryless": self.memoryless,
            "tableau": self.printed,
        }
        size = () if self.size == "shortest" else (self.size,)
        bound = () if self.bound is None else ("bound", str(self.bound))
        return (*size, *bound, *[word for word, on in flags.items() if on])
