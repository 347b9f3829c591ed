"""A test that runs under every schedule, or under that of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from possibly.errors import PossiblyError, UsageError
from possibly.hashing import GIVEN
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore
from possibly.session.exploring.functions import about_packages, about_world
from possibly.session.exploring.programs import function_program
from possibly.session.why.failure import Failure
from possibly.views.testing import artefacts, judged, measured
from possibly.views.testing.inside import Parts, execution_of
from possibly.views.testing.options import TestOptions, options_of
from possibly.views.testing.terminal import Debuggers, terminal_of
from possibly.views.text.exploration import failure_lines, report
from possibly.views.text.words import plain

if TYPE_CHECKING:
    from possibly.session.exploring.programs import ControlledProgram
    from possibly.session.exploring.replay import Replayed


NOTES = pytest.StashKey[list[str]]()
"""What is said at the end of the tests."""


class ExploredTest:
    """A marked test: its setup and its call, put aside to happen in each execution."""

    def __init__(self, item: Any, marker: pytest.Mark) -> None:
        self.item = item
        self.marker = marker
        self.parts = Parts(item.setup, item.runtest, item.teardown)
        self.debuggers = Debuggers(item.config)
        self.measure: measured.Measure | None = None

    def run(self) -> None:
        """Instead of the test's call."""
        try:
            options = options_of(self.item.config, self.marker.kwargs)
            file = self.item.config.getoption("--possibly-replay")
            self._replay(file, options) if file else self._explore(options)
        except PossiblyError as error:
            pytest.fail(f"possibly: {error}", pytrace=False)

    def _program(self, options: TestOptions, **more: Any) -> ControlledProgram:
        execution = execution_of(self.item, self.parts)
        return function_program(
            self.measure.around(execution) if self.measure else execution,
            **{
                "seed": options.seed,
                "early_timeouts": options.early_timeouts,
                "slack": options.slack,
                **about_world(options.split, options.faults, options.at_most),
                **about_packages(options.include, options.exclude, options.trust, self._within(options)),
                **more,
            },
        )

    def _within(self, options: TestOptions) -> tuple[str, ...]:
        """The test itself counts too."""
        module: Any = getattr(self.item, "module", None)
        return (*options.within, module.__name__) if options.within and module is not None else options.within

    def _explore(self, options: TestOptions) -> None:
        with measured.measuring() as self.measure, self._program(options) as program:
            found = explore(program, search_of(options))
            if found.failure is not None:
                self._fail(found, found.failure, program)
        judged.judge_open(found, options.open_is_failure)

    def _fail(self, found: Exploration, failure: Failure, program: ControlledProgram) -> None:
        judged.excuse(failure)
        path = artefacts.write(failure, program, self.item)
        file = os.path.relpath(path, Path.cwd())
        lines = report(found, self.item.nodeid, judged.again(self.item, file))
        if self.item.config.getoption("usepdb"):
            self._debug(path, program)
        pytest.fail(shown(lines), pytrace=False)

    def _debug(self, path: Path, program: ControlledProgram) -> None:
        """The failing schedule once more, with the line debugger at the line that fails."""
        from possibly.session.exploring.replay import replay_of

        with terminal_of(self.item.config):
            replay_of(
                str(path), program, lambda program, scheduler: program.debug(scheduler, at_failure=True)
            )
        self.debuggers.leave()

    def _replay(self, file: str, options: TestOptions) -> None:
        from possibly.session.exploring.replay import options_in, replay_of, schedule_in

        schedule = schedule_in(file)
        if schedule.header.get("program") != [artefacts.PROGRAM, self.item.nodeid]:
            of = " ".join(map(str, schedule.header.get("program", ())))
            raise UsageError(f"{file} is a schedule of another program: {of}")
        with self._program(options, **options_in(schedule)) as program:
            found = replay_of(file, program)
            if found.failure is not None and self.item.config.getoption("usepdb"):
                self._debug(Path(file), program)
        self._tell(found)

    def _tell(self, found: Replayed) -> None:
        if found.failure is not None:
            judged.excuse(found.failure)
            pytest.fail(shown(failure_lines(found.failure)), pytrace=False)
        followed = "the schedule was followed" if found.is_faithful else _PARTED
        note = f"{self.item.nodeid}: it does not fail any more ({followed})"
        self.item.config.stash.setdefault(NOTES, []).append(note)


_PARTED = f"the test has changed since, or goes through sets of texts in another order: {GIVEN} gives one"


def shown(lines: list[str]) -> str:
    """Lines for a terminal; a message may be several."""
    return "\n".join(map(plain, "\n".join(lines).split("\n")))


def search_of(options: TestOptions) -> Options:
    """The search that a test asks for."""
    return Options(
        options.scheduler,
        options.executions,
        options.seconds,
        options.preemptions,
        seed=options.seed,
        jobs=options.jobs,
        explain=True,
    )
