"""Recorded runs: the type `Trace`, how one is built, read and written.

Only what a small check needs is imported here; the columnar form, the importers and the compressors are
imported when they are used.
"""

from __future__ import annotations

from possibly.trace.build import TraceBuilder
from possibly.trace.files import load
from possibly.trace.jsonl import read_trace, write_lines, write_trace
from possibly.trace.model import NONE, Event, Process, Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from possibly.trace.compare import same_run

__all__ = [
    "NONE",
    "Event",
    "Process",
    "Trace",
    "TraceBuilder",
    "load",
    "read_trace",
    "same_run",
    "write_lines",
    "write_trace",
]


def __getattr__(name: str) -> object:
    """What a small check does without is imported when it is used."""
    if name != "same_run":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from possibly.trace.compare import same_run

    return same_run
