"""Finds the bug that possibly happened: temporal logic over every order of one recorded run.

    trace   = possibly.load("run.jsonl", order="causal")
    verdict = possibly.check(trace, ctl="AG(!(P1.critical & P2.critical))")
    verdict.holds, verdict.witness.path, verdict.explain()
    slice_  = possibly.slice(trace, "P1.x > 1 & P2.y <= 3")

(pytest, which loads the plug-in, is told PYTEST_DONT_REWRITE: it asserts nothing.)

Data flows down this list; each folder is named after what it yields, and its door lists what is in it:

    probes/     hooks in a live program: threads, locks, queues, loops, processes, MPI, variables, calls
    recorder/   listens to the probes and yields a trace
    trace/      recorded runs, their file format, importers
    models/     systems written as model files: flow graphs, states, successors
    order/      happened-before, cuts, the lattice, slices, the state at a cut
    logic/      predicates and formulas; no trace in sight
    verdict/    answers and explanations as data
    detection/  engines, and the table that picks one
    control/    live programs under our own scheduler: executions, their tree, macro-steps, temporal steps
    session/    one sequence of steps for every view
    views/      command line, text, pages, exports, and the Python names below
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from possibly.errors import FormulaError, PossiblyError, TraceError, UsageError
    from possibly.probes.claiming import claim, predicate
    from possibly.views.api import (
        Checked,
        Explored,
        RecordedRun,
        SliceOfRun,
        check,
        connect,
        debug,
        event,
        explore,
        load,
        receive,
        record,
        send,
    )
    from possibly.views.api import slice_run as slice  # noqa: A004
    from possibly.views.objects_api import Linearizable, linearizable
    from possibly.views.testing.decorator import explored

__version__ = "0.2.0"
__all__ = [
    "Checked",
    "Explored",
    "FormulaError",
    "Linearizable",
    "PossiblyError",
    "RecordedRun",
    "SliceOfRun",
    "TraceError",
    "UsageError",
    "check",
    "claim",
    "connect",
    "debug",
    "event",
    "explore",
    "explored",
    "linearizable",
    "load",
    "predicate",
    "receive",
    "record",
    "send",
    "slice",
]

_ERRORS = {"FormulaError", "PossiblyError", "TraceError", "UsageError"}
_CLAIMS = {"claim", "predicate"}
_ELSEWHERE = {
    "explored": "possibly.views.testing.decorator",
    "Linearizable": "possibly.views.objects_api",
    "linearizable": "possibly.views.objects_api",
}


def __getattr__(name: str) -> object:
    """Public names are imported when they are first used: `import possibly` costs nothing."""
    if name == "load_ipython_extension":  # for %load_ext in a notebook
        return getattr(import_module("possibly.views.notebook"), name)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _CLAIMS:  # kept, since a program may claim something in its innermost loop
        found: object = getattr(import_module("possibly.probes.claiming"), name)
        globals()[name] = found
        return found
    module = import_module(_module_of(name))
    return getattr(module, "slice_run" if name == "slice" else name)


def _module_of(name: str) -> str:
    if name in _ERRORS:
        return "possibly.errors"
    return _ELSEWHERE.get(name, "possibly.views.api")


def __dir__() -> list[str]:
    """The public names, and those that every module has."""
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
