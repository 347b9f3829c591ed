"""The Python view: what `import possibly` offers to programs and notebooks.

Here belong thin wrappers that give answers a Python face; all work is done in `session`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from possibly.errors import UsageError
from possibly.logic.languages import LANGUAGES
from possibly.logic.specification import Specification, property_from_text
from possibly.order.computation import Computation
from possibly.session.checking.check import Options, check_trace
from possibly.session.checking.slicing import SlicedTrace
from possibly.trace import Trace
from possibly.trace import load as load_trace
from possibly.verdict.model import Verdict, Witness

if TYPE_CHECKING:
    from possibly.control.temporal.stack import TemporalStack
    from possibly.logic.specification import Let
    from possibly.session.exploring.exploration import Exploration
    from possibly.session.record import Recorder
    from possibly.session.watching.sending import Sender
    from possibly.session.why.failure import Failure


@dataclass(frozen=True)
class RecordedRun:
    """A trace with the order in which it is to be read."""

    trace: Trace
    order: str = "causal"

    @property
    def processes(self) -> tuple[str, ...]:
        return tuple(process.name for process in self.trace.processes)

    @cached_property
    def computation(self) -> Computation:
        return Computation(self.trace, self.order)

    def __len__(self) -> int:
        return len(self.trace)

    def __repr__(self) -> str:
        return f"<{self.trace.file or 'run'}: {len(self.processes)} processes, {len(self)} events>"

    def _repr_html_(self) -> str:
        """The picture, for notebooks."""
        from possibly.views.inline import run_html

        return run_html(self.computation)


@dataclass(frozen=True)
class Checked:
    """The answer to one property."""

    verdict: Verdict
    run: RecordedRun | None = None
    """What was asked about."""

    @property
    def holds(self) -> bool | None:
        """True, False, or None where a limit was hit before the answer was known."""
        return self.verdict.holds

    @property
    def witness(self) -> Witness | None:
        return self.verdict.witness

    def explain(self) -> str:
        """The verdict and its reason as text for a person."""
        from possibly.views.text.report import Layout, verdict_lines

        return "\n".join(verdict_lines(self.verdict, Layout(full=True)))

    def __repr__(self) -> str:
        return f"<{self.verdict.name}: {self.verdict.truth.value}>"

    def _repr_html_(self) -> str:
        """The verdict and its picture, for notebooks."""
        from possibly.views.inline import preformatted, run_html

        picture = run_html(self.run.computation, (self.verdict,)) if self.run is not None else ""
        return preformatted(self.explain()) + picture


class SliceOfRun:
    """The cuts of a run that satisfy a predicate, as a structure: see the attributes."""

    def __init__(self, found: SlicedTrace) -> None:
        self._found = found
        self.is_empty: bool = found.slice.is_empty
        self.lean: bool | None = found.slice.lean
        """Every cut of the slice satisfies the predicate; None: not known."""
        self.exact: bool = found.slice.exact
        self.least = found.least
        self.greatest = found.greatest

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(e, f): a cut with f contains e."""
        return self._found.edges

    def skeleton(self) -> Iterator[tuple[str, str]]:
        """The skeletal representation: for each event e the first event f of each process that needs it."""
        return self._found.skeleton()

    def cuts(self) -> Iterator[dict[str, int]]:
        """Every cut of the slice, found as they are asked for."""
        return self._found.cuts()

    def _repr_html_(self) -> str:
        """What the slice is, and its graph, for notebooks."""
        from possibly.views.inline import preformatted, slice_html

        rows = [f"empty: {self.is_empty}", f"lean: {self.lean}", f"exact: {self.exact}"]
        rows += [f"least cut: {self.least}", f"greatest cut: {self.greatest}"]
        return preformatted("\n".join(rows)) + slice_html(self._found)


def slice_run(run: RecordedRun | Trace, predicate: str) -> SliceOfRun:
    """The slice of a run for a predicate."""
    from possibly.session.checking.slicing import slice_trace

    if isinstance(run, Trace):
        run = RecordedRun(run)
    return SliceOfRun(slice_trace(run.trace, predicate, run.order))


def load(path: str | os.PathLike[str], order: str = "causal") -> RecordedRun:
    """A trace file, checked and ready to be asked about."""
    run = RecordedRun(load_trace(Path(path)), order)
    _ = run.computation
    return run


def check(
    run: RecordedRun | Trace,
    *,
    max_cuts: int | None = 10_000_000,
    timeout: float | None = None,
    engine: str = "auto",
    **formula: str,
) -> Checked:
    """Whether one property holds over every order in which the run could have happened.

    The property is given by its language: `ctl=`, `ltl=`, `tl=`, `expect=`, `never=` or `watch=`.
    """
    if len(formula) != 1 or not formula.keys() <= set(LANGUAGES):
        raise UsageError("check takes one property", hint='for instance check(run, ctl="AG(P1.x >= 0)")')
    ((language, text),) = formula.items()
    if isinstance(run, Trace):
        run = RecordedRun(run)
    specification = Specification(properties=(property_from_text(language, text, language),))
    options = Options(run.order, max_cuts, timeout, engine)
    from possibly.views.cli.progress import notebook_progress

    with notebook_progress() or nullcontext() as progress:
        report = check_trace(run.trace, specification, options, progress)
    return Checked(report.verdicts[0], run)


# ---- exploring ----------------------------------------------------------------------------------


class Explored:
    """What the schedules of a function showed."""

    def __init__(self, found: Exploration, name: str = "the function") -> None:
        self._found, self._name = found, name
        self.holds: bool | None = found.holds
        """True if every schedule is covered, False if one fails, None if something leaves it open."""
        self.complete: bool = found.complete
        self.executions: int = found.executions
        self.failure: Failure | None = found.failure
        """With `schedule` (the tasks in the order in which they go on), `kind` and `message`."""
        self.open: tuple[str, ...] = tuple(found.open)
        """What leaves it open."""
        self.inputs: tuple[Any, ...] | None = None
        """If inputs were drawn: the smallest that fails, or the first that was left open."""

    def explain(self) -> str:
        """The verdict, and the failing schedule in source lines."""
        from possibly.views.text.exploration import report

        return "\n".join(report(self._found, self._name, None))

    def _repr_html_(self) -> str:
        """The verdict, and the failing schedule as a picture, for notebooks."""
        from possibly.views.inline import failure_html, preformatted

        if self.failure is None:
            return preformatted(self.explain())
        return failure_html(self.failure, self.explain(), self._name)

    def __repr__(self) -> str:
        return f"<{self._found.truth.value} after {self.executions} executions>"


def explore(
    function: Callable[..., object],
    *given: object,
    scheduler: str = "dpor",
    executions: int | None = None,
    seconds: float | None = None,
    jobs: int = 1,
    preemptions: int = 2,
    seed: int = 0,
    early_timeouts: bool = False,
    slack: float = 1.0,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    trust: Sequence[str] = (),
    within: Sequence[str] = (),
    split: bool = False,
    faults: Sequence[str] = (),
    at_most: int = 1,
    replay: str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | None = None,
    examples: int = 30,
) -> Explored:
    """Calls a function, or runs a coroutine function, under every schedule, each in a process of its own.

    It is called with the given arguments; whatever it raises is a failure. The caller's process is not
    touched. `keep` is a file for the failing schedule; `replay` is such a file, and runs that schedule alone.
    Arguments that are strategies of Hypothesis are drawn, so many `examples`, and each is explored.
    """
    from possibly.session.exploring.exploration import Options as Search
    from possibly.session.exploring.functions import (
        about_packages,
        about_world,
        explore_function,
        replay_function,
    )
    from possibly.session.exploring.inputs import is_strategy
    from possibly.session.exploring.programs import function_program

    options = Search(scheduler, executions, seconds, preemptions, seed=seed, jobs=jobs, explain=True)
    how = {
        "seed": seed, "early_timeouts": early_timeouts, "slack": slack,
        **about_packages(include, exclude, trust, within), **about_world(split, faults, at_most),
    }  # fmt: skip

    def explored(arguments: Sequence[object]) -> Explored:
        with function_program(function, *arguments, **how) as program:
            if replay is not None:
                return Explored(replay_function(program, str(replay)))
            return Explored(explore_function(program, options, function, None if keep is None else str(keep)))

    if any(map(is_strategy, given)):
        from possibly.views.objects_api import explored_inputs

        found: Explored = explored_inputs(given, explored, examples, seed)
        return found
    return explored(given)


def debug(
    path: str | os.PathLike[str],
    *arguments: str,
    order: str = "causal",
    spec: str | os.PathLike[str] | None = None,
) -> TemporalStack:
    """A model file or a trace to be stepped through by formulas; see `TemporalStack`."""
    from possibly.logic.specification import read_specification
    from possibly.session.debugging.temporal import Opening, opened

    head = Path(path).read_text(encoding="utf-8") if str(path).endswith(".py") else ""
    lets: Sequence[Let] = ()
    if spec is not None:
        lets = read_specification(Path(spec).read_text(encoding="utf-8"), str(spec)).lets
    return opened(Opening(str(path), head, order, arguments), lets).stack


# ---- recording ----------------------------------------------------------------------------------


def record(
    path: str | os.PathLike[str],
    *,
    watch: Sequence[str] = (),
    calls: Sequence[str] = (),
    spec: str | os.PathLike[str] | None = None,
    races: bool = False,
    times: bool = False,
) -> Recorder:
    """A context manager: what the program does inside is recorded in a trace file.

    Threads, locks and queues must be made inside; functions that were loaded before are watched all the same.
    """
    from possibly.logic.specification import read_specification
    from possibly.session.record import Recorder

    specification = None
    if spec is not None:
        specification = read_specification(Path(spec).read_text(encoding="utf-8"), str(spec))
    return Recorder(path, watch, calls, specification, races, times)


def event(label: str | None = None, **variables: object) -> None:
    """An event of the program's own making: a label, and values of local variables."""
    _own("internal", None, label, variables)


def send(key: str | int, label: str | None = None, **variables: object) -> None:
    """What happens here happens before the `receive` of the same key; each key is sent and received once."""
    _own("send", key, label, variables)


def receive(key: str | int, label: str | None = None, **variables: object) -> None:
    """What was done before the `send` of that key happens before what comes now."""
    _own("receive", key, label, variables)


def connect(
    address: str,
    processes: Mapping[str, Mapping[str, object]] | None = None,
    shared: Mapping[str, object] | None = None,
    *,
    token: str | None = None,
    told: Callable[[Mapping[str, Any]], None] | None = None,
) -> Sender:
    """A connection to `possibly watch`: what is given to its `event` goes there while the program runs.

    `processes` are those that events will come from, with the initial values of their variables. The token
    is that of the monitor, unless the environment variable POSSIBLY_TOKEN holds it. With `told`, an event
    waits until the monitor has taken it in, and `told` gets what path expressions say of the processes, with
    "property", "text", "event", "events", "task", and "stops" where a `break` is performed.
    """
    from possibly.session.watching.sending import Sender

    return Sender(address, processes, shared, token=token, told=told)


def _own(kind: str, key: str | int | None, label: str | None, variables: Mapping[str, object]) -> None:
    from possibly.recorder import recording

    if recording.current is not None:
        recording.current.own(kind, key, label, variables)
