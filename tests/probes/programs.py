"""Small programs, really run and recorded, and the order of their labelled lines.

A program labels lines with `#: a`; `Run.before("a", "b")` asks for the order that synchronisation gives.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

from possibly.logic.specification import read_specification
from possibly.order.computation import Computation
from possibly.session.record import Request, record_program
from possibly.trace.model import Trace


@dataclass(frozen=True)
class Run:
    trace: Trace
    status: int
    computation: Computation

    def event(self, label: str) -> int:
        """The event of that label; the last one if there are several."""
        found = [e for e in range(len(self.trace)) if self.trace.text(self.trace.label, e) == label]
        assert found, f"no event has the label {label}: {self.lines()}"
        return found[-1]

    def before(self, first: str, second: str) -> bool:
        return self.computation.happened_before(self.event(first), self.event(second))

    def concurrent(self, first: str, second: str) -> bool:
        return self.computation.concurrent(self.event(first), self.event(second))

    def kinds(self, process: str) -> list[str]:
        events = [self.trace.event(e) for e in range(len(self.trace))]
        return [event.kind for event in events if event.process == process]

    @property
    def processes(self) -> list[str]:
        return [process.name for process in self.trace.processes]

    def lines(self) -> str:
        return "\n".join(str(self.trace.event(e)) for e in range(len(self.trace)))


def run(
    folder: Path,
    source: str,
    *arguments: str,
    watch: tuple[str, ...] = (),
    calls: tuple[str, ...] = (),
    races: bool = False,
    ranks: int | None = None,
    spec: str | None = None,
) -> Run:
    program = folder / "program.py"
    program.write_text(textwrap.dedent(source))
    specification = None if spec is None else read_specification(spec)
    output = str(folder / "run.jsonl")
    request = Request((str(program), *arguments), output, specification, watch, calls, races, ranks)
    done = record_program(request)
    return Run(done.trace, done.status, Computation(done.trace, "sync"))
