"""A law that holds beside whatever a test here is about: every execution is a trace.

Properties are checked on it and pictures are drawn from it, so a step that cannot be an event breaks both.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from possibly.control.execution import Execution, Scheduler
from possibly.control.forking.zygote import ControlledProgram
from possibly.session.exploring.traces import detailed_trace_of, trace_of

EACH = 8
"""Of the executions of one test, so many from the first on: the others have steps of the same kinds."""


@pytest.fixture(autouse=True)
def every_execution_is_a_trace(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found: list[Execution] = []
    plain = ControlledProgram.execute

    def execute(self: ControlledProgram, scheduler: Scheduler) -> Execution:
        execution = plain(self, scheduler)
        if len(found) < EACH:
            found.append(execution)
        return execution

    monkeypatch.setattr(ControlledProgram, "execute", execute)
    yield
    for execution in found:
        assert len(trace_of(execution)) == len(execution.steps)
        assert len(detailed_trace_of(execution).trace) >= len(execution.steps)
