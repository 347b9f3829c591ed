"""The cell magic `%%possibly` of notebooks; what it shows is in `inline`.

%load_ext possibly
%%possibly record --ctl "AG(total >= 0)"
%%possibly explore --time 30
"""

from __future__ import annotations

import io
import os
import shlex
import tempfile
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

from possibly.errors import PossiblyError, UsageError
from possibly.views.cli.progress import notebook_progress
from possibly.views.inline import preformatted, run_html

if TYPE_CHECKING:
    from possibly.order.computation import Computation
    from possibly.verdict.model import Report

USAGE = "%%possibly record [OPTIONS OF possibly run], or %%possibly explore [OPTIONS OF possibly explore]"


class Shown:
    """Something for a notebook to show."""

    def __init__(self, html: str, text: str) -> None:
        self._html = html
        self._text = text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


def load_ipython_extension(shell: Any) -> None:
    """For `%load_ext possibly`."""

    def possibly(line: str, cell: str) -> object:
        return magic(line, cell)

    shell.register_magic_function(possibly, "cell", "possibly")


def magic(line: str, cell: str) -> object:
    """Records or explores the program of a cell; mistakes are told in a sentence."""
    word, *words = shlex.split(line) or [""]
    try:
        if word == "record":
            return _recorded(words, cell)
        if word == "explore":
            return _explored(words, cell)
        raise UsageError("record or explore?", hint=USAGE)
    except PossiblyError as error:
        return Shown(preformatted(f"possibly: {error}"), f"possibly: {error}")


def _recorded(words: list[str], cell: str) -> object:
    """Runs the cell as a program of its own, records it, and checks what is asked."""
    from possibly.views import api
    from possibly.views.cli.main import main, parser
    from possibly.views.cli.properties import has_properties, specification_of

    with tempfile.TemporaryDirectory(prefix="possibly-") as folder:
        program, path = _written(folder, cell), os.path.join(folder, "cell.jsonl")
        given = parser(["run"]).parse_args(["run", *words, program])
        with redirect_stdout(io.StringIO()) as told:
            main(["run", "-o", path, *words, program])
        run = api.load(path, given.order)
    if not has_properties(given):
        return Shown(preformatted(told.getvalue()) + run_html(run.computation), told.getvalue())
    from possibly.session.checking.check import Options, check_trace

    with notebook_progress() or nullcontext() as progress:
        report = check_trace(run.trace, specification_of(given), Options(order=given.order), progress)
    return Shown(*_report(run.computation, report))


def _written(folder: str, cell: str) -> str:
    path = os.path.join(folder, "cell.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(cell)
    return path


def _report(computation: Computation, report: Report) -> tuple[str, str]:
    from possibly.views.text.report import render

    text = render(report)
    return preformatted(text) + run_html(computation, report.verdicts), text


def _explored(words: list[str], cell: str) -> object:
    """Explores the cell as a program of its own."""
    from possibly.session.exploring.exploration import Options
    from possibly.session.exploring.explore import explore
    from possibly.views.api import Explored
    from possibly.views.cli.controlled.explore import controlled
    from possibly.views.cli.main import parser

    with tempfile.TemporaryDirectory(prefix="possibly-") as folder:
        path = _written(folder, cell)
        given = parser(["explore"]).parse_args(["explore", *words, path])
        options = Options(
            given.scheduler,
            given.executions,
            given.time,
            given.preemptions,
            seed=given.seed,
            jobs=given.jobs,
            explain=True,
        )
        with controlled((path,), given) as program, notebook_progress() or nullcontext() as progress:
            found = Explored(explore(program, options, progress=progress), "the cell")
        html, text = (told.replace(f"{folder}/", "") for told in (found._repr_html_(), found.explain()))
        return Shown(html, text)
