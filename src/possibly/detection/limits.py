"""How far an engine may go, and how it says that it went no further."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from possibly.records import dataclass, field

Progress = Callable[[int, int | None], None]
"""Told now and then how many cuts were visited, and of how many if that is known."""

LOOK_EVERY = 1024
"""Cuts between two looks at the clock."""


MEMORY_EVERY = 0.02
"""Seconds between two looks at the memory: it takes longer to ask for it than most work between two looks."""


class _Memory:
    """When this process asks for its memory again, whichever budget it works under."""

    next_look = 0.0


_memory = _Memory()


class LimitReachedError(Exception):
    """The answer is not known within the limits; the message says which one was hit."""


class MissingExtraError(Exception):
    """An engine needs a library that is not installed; the message names the extra that brings it."""


@dataclass(slots=True)
class Budget:
    """Counts visited cuts and stops at the limits; `None` is no limit."""

    max_cuts: int | None = None
    timeout: float | None = None
    progress: Progress | None = None
    visited: int = 0
    bound: int | None = None
    """An engine's own bound, below the user's: past it, another engine may go on."""
    started: float = field(default_factory=monotonic)
    max_memory: int | None = None
    """Bytes of this process."""
    stopped_at_bound: bool = False
    _next_look: int = 0

    def part(self, bound: int | None) -> Budget:
        """The same limits for the next engine, with a bound of its own on the cuts it adds."""
        return Budget(
            self.max_cuts,
            self.timeout,
            self.progress,
            self.visited,
            None if bound is None else self.visited + bound,
            self.started,
            self.max_memory,
        )

    def after_all(self) -> Budget:
        """What is left of the time, or a tenth of it if nothing is: for what a verdict tells beside it."""
        if self.timeout is None:
            return Budget(max_memory=self.max_memory)
        left = max(self.timeout - self.seconds, self.timeout / 10)
        return Budget(timeout=left, max_memory=self.max_memory)

    @property
    def seconds(self) -> float:
        """How long it has been in use."""
        return monotonic() - self.started

    @property
    def left(self) -> float | None:
        """Seconds that are left."""
        return None if self.timeout is None else max(self.timeout - self.seconds, 0.0)

    def bound_to(self, cuts: int | None) -> None:
        """Sets the bound of an engine on the cuts it adds."""
        self.bound = None if cuts is None else self.visited + cuts

    def visit(self, cuts: int = 1) -> None:
        self.visited += cuts
        if self.visited >= self._next_look:
            self.look()

    def look(self) -> None:
        """Stop if a limit is passed; long work that visits no cuts calls it now and then."""
        limits = [limit + 1 for limit in (self.max_cuts, self.bound) if limit is not None]
        self._next_look = min([self.visited + LOOK_EVERY, *limits])
        if self.max_cuts is not None and self.visited > self.max_cuts:
            raise LimitReachedError(f"more than {self.max_cuts} cuts to visit; raise --max-cuts")
        if self.timeout is not None and monotonic() - self.started > self.timeout:
            raise LimitReachedError(f"not decided within {self.timeout:g} s; raise --timeout")
        if self.max_memory is not None and monotonic() >= _memory.next_look:
            self.room_for(0)
            _memory.next_look = monotonic() + MEMORY_EVERY
        if self.bound is not None and self.visited > self.bound:
            self.stopped_at_bound = True
            raise LimitReachedError(f"more than {self.bound} cuts")
        if self.progress is not None:
            self.progress(self.visited, None)

    def room_for(self, more: int) -> None:
        """Stop if so many bytes more would pass the limit."""
        if self.max_memory is not None and resident() + more > self.max_memory:
            megabytes = self.max_memory >> 20
            raise LimitReachedError(f"needs more than {megabytes:,} MB of memory; raise --max-memory")


def resident() -> int:
    """The bytes of memory that this process holds; where that is not told, the most it ever held."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _page()
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if _is_bytes() else 1024)


def half_of_memory() -> int | None:
    """Half of what this machine has; None if it does not tell."""
    import os

    try:
        return os.sysconf("SC_PHYS_PAGES") * _page() // 2
    except (OSError, ValueError):
        return None


def _page() -> int:
    import os

    return os.sysconf("SC_PAGE_SIZE")


def _is_bytes() -> bool:
    import sys

    return sys.platform == "darwin"
