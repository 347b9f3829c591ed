"""Pages for the tests, made as the commands make them."""

from __future__ import annotations

import os
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

from possibly.logic.specification import Specification, read_specification
from possibly.order.computation import Computation
from possibly.records import replace
from possibly.session.checking.check import Options, check_trace
from possibly.trace import Trace, load
from possibly.verdict.model import Report
from possibly.views.text.source import Sources
from possibly.views.web.contents import contents_of
from possibly.views.web.document import Contents, picture_document
from possibly.views.web.models import Node, Stack, StackStep, Tree
from possibly.views.web.page import render_page

EXAMPLES = Path(__file__).parents[3] / "examples"


def document_of(trace: Trace, order: str = "causal", contents: Contents | None = None) -> dict[str, Any]:
    """The document of a run alone."""
    return picture_document(trace.file or "run", Computation(trace, order), None, contents or Contents())


def page_of_run(trace: Trace, specification: str | None = None, order: str = "causal") -> str:
    """The page of a run, with the answers to a specification."""
    found = read_specification(specification) if specification is not None else None
    return page_with(trace, found, order)


def page_with(trace: Trace, specification: Specification | None, order: str = "causal") -> str:
    name = trace.file or "run"
    report = Report(name, len(trace.processes), len(trace), ())
    if specification is not None:
        report = replace(check_trace(trace, specification, Options(order)), trace=name)
    computation = Computation(trace, order)
    quote = Sources((os.path.dirname(name),)).quote
    again = [("Show it again", "possibly check run.jsonl")]
    contents = contents_of(computation, report, specification, lambda verdict: again, quote)
    return render_page(trace, computation, report, contents)


def example_page(trace: str, specification: str | None, order: str = "causal") -> str:
    """The page of a run of the examples."""
    spec = None if specification is None else (EXAMPLES / specification).read_text(encoding="utf-8")
    return page_of_run(load(EXAMPLES / trace), spec, order)


def page_with_everything() -> str:
    """A page that has every kind of picture."""
    found = load(EXAMPLES / "mutex/run.jsonl")
    specification = read_specification(
        (EXAMPLES / "mutex/mutex.spec").read_text() + "ltl drains = G(P1.critical -> F !P1.critical)\n"
    )
    report = check_trace(found, specification, Options())
    computation = Computation(found)
    contents = changed(
        contents_of(computation, report, specification),
        trees=[Tree("Tree", ("c",), (Node("0", None, "", "start", ("true",)), Node("1", "0", "P1", "end")))],
        stacks=[Stack("Stack", (StackStep("step", "F x", ("a", "b")),), (("P1.x", "1"),))],
    )
    return render_page(found, computation, report, contents)
