"""What is asked of a search through executions, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from possibly.control.execution import Execution, Explorer, Outcome
from possibly.control.world import faults
from possibly.errors import UsageError
from possibly.session.why.failure import Failure
from possibly.verdict.answer import Answer

if TYPE_CHECKING:
    from possibly.control.cluster.client import Cluster
    from possibly.session.exploring.resumed import Kept

FAULTS = faults.KINDS
"""What may go wrong in the world around a program."""
BAD = (Outcome.FAILED, Outcome.DEADLOCK, Outcome.LIVELOCK)
Progress = Callable[[str, int, int | None], None]
Seen = Callable[[Execution, dict[str, Any] | None, int], None]
"""Told of an execution, what is wrong with it, and how often the search had begun anew before."""


@dataclass(frozen=True, slots=True)
class Options:
    scheduler: str = "dpor"
    executions: int | None = None
    seconds: float | None = None
    preemptions: int = 2
    depth: int = 3
    """Of the bugs that `pct` looks for."""
    seed: int = 0
    minimise: int = 200
    """So many executions are spent to make a failing schedule short; 0: none."""
    explain: bool = False
    """Other orders of a failing execution are tried, to say why it fails."""
    jobs: int = 1
    """So many executions run at a time."""
    kept: Kept | None = None
    """The file in which the explored part is kept."""
    seen: Seen | None = None
    """Told of each execution."""
    join: str = "none"
    """Which executions are joined: `none`, `state` (where their states are equal), or `all` ways."""
    cluster: Cluster | None = None
    """Where branches of the tree are explored."""
    told: Callable[[Failure], None] | None = None
    """Told of a failure whose schedule is still being made simple, if that is not done at once."""


@dataclass(slots=True)
class Exploration(Answer[Failure]):
    """The answer of executions under control."""

    earlier: int = 0
    """Executions of an earlier search that this one went on with."""
    steps: int = 0
    restarts: int = 0
    apart: str = ""
    """Why every execution had a process of its own in the end, if that was not so from the beginning."""
    broken: int = 0
    """Processes that ended by an error of ours; others have made their executions, so it only took longer."""
    cut_short: bool = False
    """There was no time to look for a simpler schedule that fails alike."""
    visible: tuple[str, ...] = ()
    """Families of memory that are choice points."""


def explorer_for(options: Options) -> Explorer:
    """The explorer of that name."""
    match options.scheduler:
        case "dpor":
            if options.join != "none":
                from possibly.control.joining.both import Both

                return Both()
            from possibly.control.schedulers.dpor import Dpor

            return Dpor()
        case "bounded":
            from possibly.control.schedulers.bounded import Bounded

            return Bounded(options.preemptions)
        case "random":
            from possibly.control.schedulers.random import RandomWalk

            return RandomWalk(options.seed)
        case "pct":
            from possibly.control.schedulers.pct import Pct

            return Pct(options.depth, options.seed)
    raise UsageError(f"there is no scheduler {options.scheduler!r}", hint="dpor, bounded, random or pct")
