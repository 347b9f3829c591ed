"""Finds the bug that possibly happened: temporal logic over every order of one recorded run.

    trace   = possibly.load("run.jsonl", order="causal")
    verdict = possibly.check(trace, ctl="AG(!(P1.critical & P2.critical))")
    verdict.holds, verdict.witness.path, verdict.explain()
    slice_  = possibly.slice(trace, "P1.x > 1 & P2.y <= 3")

Data flows down this list; each folder is named after what it yields:

    trace/      recorded runs, their file format, importers
    order/      happened-before, cuts, the lattice, the state at a cut
    logic/      predicates and formulas; no trace in sight
    verdict/    answers and explanations as data
    detection/  engines, and the table that picks one
    session/    one sequence of steps for every view
    views/      command line, text, pages, exports, and the Python names below
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from possibly.errors import FormulaError, PossiblyError, TraceError, UsageError
    from possibly.views.api import Checked, RecordedRun, SliceOfRun, check, event, load, receive, record, send
    from possibly.views.api import slice_run as slice  # noqa: A004

__version__ = "0.1.0"
__all__ = [
    "Checked",
    "FormulaError",
    "PossiblyError",
    "RecordedRun",
    "SliceOfRun",
    "TraceError",
    "UsageError",
    "check",
    "event",
    "load",
    "receive",
    "record",
    "send",
    "slice",
]

_ERRORS = {"FormulaError", "PossiblyError", "TraceError", "UsageError"}


def __getattr__(name: str) -> object:
    """Public names are imported when they are first used: `import possibly` costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module("possibly.errors" if name in _ERRORS else "possibly.views.api")
    return getattr(module, "slice_run" if name == "slice" else name)
