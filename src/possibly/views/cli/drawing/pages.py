"""Writing the page of a run, with the commands that show each answer again."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from possibly.logic.languages import FORMULAS
from possibly.views.cli.files import write_text
from possibly.views.cli.properties import command_again

if TYPE_CHECKING:
    from possibly.logic.specification import Specification
    from possibly.order.computation import Computation
    from possibly.session.why.failure import Failure
    from possibly.trace.model import Trace
    from possibly.verdict.model import Report, Verdict
    from possibly.views.web.document import Contents
    from possibly.views.web.models import Tree


def write_page(
    trace: Trace,
    report: Report,
    specification: Specification | None,
    arguments: argparse.Namespace,
    path: str,
) -> None:
    from possibly.views.web.page import render_page

    computation = computation_of(trace, report, arguments.order)
    contents = page_contents(computation, report, specification, arguments)
    write_text(path, render_page(trace, computation, report, contents))


def computation_of(trace: Trace, report: Report, order: str) -> Computation:
    """The order to draw; where only the task logic has witnesses it is `sync`, which is always its order."""
    from possibly.order.computation import Computation

    shown = [verdict.language for verdict in report.verdicts if verdict.witness is not None]
    only_tasks = bool(shown) and all(language == "tl" for language in shown)
    return Computation(trace, "sync" if only_tasks else order)


def page_contents(
    computation: Computation,
    report: Report,
    specification: Specification | None,
    arguments: argparse.Namespace,
) -> Contents:
    """What the page shows beside the run; source lines are looked for beside the trace and here."""
    from possibly.views.text.source import Sources
    from possibly.views.web.contents import contents_of

    several = len(report.verdicts) > 1 or bool(arguments.only)
    folder = os.path.dirname(report.trace)
    return contents_of(
        computation,
        report,
        specification,
        commands=lambda verdict: commands_for(arguments, report.trace, verdict, several),
        quote=Sources((folder, "")).quote,
    )


def _property(arguments: argparse.Namespace, trace: str, verdict: Verdict) -> list[str]:
    """How `confirm` is told which property: by its name in the file, or by its formula."""
    if verdict.formula in getattr(arguments, verdict.language) or arguments.spec is None:
        return [trace, f"{verdict.language}: {verdict.formula}"]
    return ["--spec", arguments.spec, trace, verdict.name]


def commands_for(
    arguments: argparse.Namespace, trace: str, verdict: Verdict, several: bool
) -> list[tuple[str, str]]:
    """What to type to see the answer again, and to drive the program itself along a failing order."""
    import shlex

    from possibly.verdict.model import Truth

    again = command_again(arguments, trace, verdict, several)
    found = [("Show it again", again)]
    if verdict.truth is Truth.VIOLATED and verdict.witness is not None:
        found.append(("Write the failing order as a trace", f"{again} --write-order failing.jsonl"))
        if verdict.language in FORMULAS:
            words = shlex.join(["possibly", "confirm", *_property(arguments, trace, verdict)])
            found.append(("Confirm it on the program", f"{words} PROGRAM"))
    return found


def add_html_argument(group: Any) -> None:
    group.add_argument("--html", metavar="FILE", help="write a page that shows what failed, step by step")


def write_failure_page(
    failure: Failure | None,
    path: str | None,
    title: str,
    replay: str | None,
    initial: dict[str, Any],
    trees: Sequence[Tree] = (),
) -> None:
    """The page of an exploration, a confirmation or a replay, if it is asked for, or of a tree alone."""
    from possibly.views.cli.messages import remark
    from possibly.views.text.source import Sources
    from possibly.views.web.document import Contents, picture_document
    from possibly.views.web.failures import failure_page
    from possibly.views.web.page import page_of

    if path is None:
        return
    if failure is None and not trees:
        remark("nothing failed, so there is no page to write; --tree FILE keeps what was executed")
        return
    if failure is not None:
        page = failure_page(failure, title, replay, initial, Sources(("",)).quote, trees)
    else:
        page = page_of(picture_document(title, None, None, Contents(trees=trees)))
    write_text(path, page)
    if path != "-":
        remark(f"the page: {path}")
