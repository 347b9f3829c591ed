"""Answers inside a notebook: the page's diagram in a frame.

A page is put into a frame of its own that may run scripts and nothing else: it sees neither the notebook nor
the network (its content security policy forbids every request, `views.web.page`).
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from possibly.order.computation import Computation
    from possibly.session.checking.slicing import SlicedTrace
    from possibly.session.why.failure import Failure
    from possibly.verdict.model import Report, Verdict

HEIGHT = 560
MARGIN = 30
"""Around a picture that is smaller."""


def framed(page: str, height: int = HEIGHT) -> str:
    """A page inside a notebook."""
    source = escape(page, quote=True)
    style = f"width: 100%; height: {height}px; border: 1px solid #ccc"
    return f'<iframe sandbox="allow-scripts" srcdoc="{source}" style="{style}"></iframe>'


def preformatted(text: str) -> str:
    """Text of a report; a line that is too long is broken between words, which a notebook would not do."""
    return f'<pre style="white-space: pre-wrap; word-break: normal">{escape(text)}</pre>'


def run_html(computation: Computation, verdicts: tuple[Verdict, ...] = ()) -> str:
    """The picture of a run, with answers on it."""
    from possibly.verdict.model import Report
    from possibly.views.web.contents import contents_of
    from possibly.views.web.page import render_page

    trace = computation.trace
    report: Report = Report(trace.file or "run", len(trace.processes), len(trace), verdicts)
    contents = contents_of(computation, report, None, commands=lambda _: [], quote=lambda _: None)
    return framed(render_page(trace, computation, report, contents))


def failure_html(failure: Failure, text: str, name: str) -> str:
    """A schedule that fails: its report, and its page below, with what decides it and the one that passes."""
    from possibly.views.text.source import Sources
    from possibly.views.web.failures import failure_page

    return preformatted(text) + framed(failure_page(failure, name, None, {}, Sources(("",)).quote))


def slice_html(found: SlicedTrace) -> str:
    """The components of a slice as a graph; one too large to draw says so."""
    from possibly.order.lattice import Lattice
    from possibly.views.export.boxes import render_svg_picture
    from possibly.views.export.graphs import slice_graph_picture
    from possibly.views.web.lattices import slice_document

    computation = found.slice.computation
    described = slice_document(found.slice, found.predicate, None, Lattice(computation))
    picture = render_svg_picture(slice_graph_picture(described, computation))
    return framed(picture, min(HEIGHT, _height_of(picture) + MARGIN))


def _height_of(svg: str) -> int:
    found = re.search(r'height="([0-9]+)', svg)
    return int(found[1]) if found else HEIGHT
