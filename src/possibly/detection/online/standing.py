"""What a formula is worth on a run so far: the words that all on-line parts share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from possibly.order.growing.batches import Batch
from possibly.order.growing.lines import Step


@dataclass(frozen=True, slots=True)
class Moment:
    """When an answer became final, and the cut that shows it."""

    cut: dict[str, int] | None
    """How many events of each process there are so far; None: no single cut shows it."""
    event: str | None
    """The event whose arrival decided; None: it was so from the beginning."""
    events: int
    """How many events had been taken in by then."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a formula is worth on the run so far."""

    value: bool
    is_final: bool
    """No event that may still arrive changes it."""
    moment: Moment | None = None


class Part(Protocol):
    """A part of a formula that follows the run."""

    @property
    def wants_steps(self) -> bool:
        """Whether it has no use for many lines at once, and is told step by step."""

    def take(self, step: Step) -> None: ...

    def take_batch(self, batch: Batch) -> None: ...

    @property
    def standing(self) -> Standing: ...

    @property
    def faults(self) -> tuple[str, ...]: ...

    @property
    def size(self) -> int:
        """How many entries it keeps beside a few a process, for bounds, tests and figures."""


class ByStep:
    """For parts that are told step by step alone."""

    @property
    def wants_steps(self) -> bool:
        return True

    def take_batch(self, batch: Batch) -> None:
        raise AssertionError("it wants steps")
