"""The Python view: what `import possibly` offers to programs and notebooks.

Here belong thin wrappers that give answers a Python face; all work is done in `session`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from possibly.errors import UsageError
from possibly.logic.specification import Specification, property_from_text
from possibly.order.computation import Computation
from possibly.session.check import Checker, Options
from possibly.session.slicing import SlicedTrace
from possibly.trace import Trace
from possibly.trace import load as load_trace
from possibly.verdict.model import Verdict, Witness


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


@dataclass(frozen=True)
class Checked:
    """The answer to one property."""

    verdict: Verdict

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

    def cuts(self) -> Iterator[dict[str, int]]:
        """Every cut of the slice, found as they are asked for."""
        return self._found.cuts()


def slice_run(run: RecordedRun | Trace, predicate: str) -> SliceOfRun:
    """The slice of a run for a predicate."""
    from possibly.session.slicing import slice_trace

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
    ctl: str | None = None,
    ltl: str | None = None,
    max_cuts: int | None = 10_000_000,
    timeout: float | None = None,
    engine: str = "auto",
) -> Checked:
    """Whether one property holds over every order in which the run could have happened."""
    given = [(language, text) for language, text in (("ctl", ctl), ("ltl", ltl)) if text is not None]
    if len(given) != 1:
        raise UsageError("check takes one property", hint='for instance check(run, ctl="AG(P1.x >= 0)")')
    language, text = given[0]
    if isinstance(run, Trace):
        run = RecordedRun(run)
    found = property_from_text(language, text, language)
    checker = Checker(run.trace, Options(run.order, max_cuts, timeout, engine))
    return Checked(checker.verdict(found, checker.bound(found, Specification())))
