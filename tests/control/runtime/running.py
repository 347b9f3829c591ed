"""Programs given as text, executed under control."""

from __future__ import annotations

from pathlib import Path

from possibly.control.execution import Choice, Execution, Step, Task
from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore


class Stay:
    """The same task as long as it can go on, then the first."""

    def choose(self, choice: Choice) -> Task | None:
        return choice.previous if choice.previous in choice.enabled else choice.enabled[0]

    def done(self, step: Step) -> None:
        pass


def once(tmp_path: Path, source: str, *arguments: str) -> Execution:
    path = tmp_path / "program.py"
    path.write_text(source)
    with script((str(path), *arguments)) as program:
        return program.execute(Stay())


def explored(tmp_path: Path, source: str, options: Options = Options(), **more: object) -> Exploration:  # noqa: B008
    path = tmp_path / "program.py"
    path.write_text(source)
    with script((str(path),), **more) as program:
        return explore(program, options)
