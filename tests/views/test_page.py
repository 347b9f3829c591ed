"""The page: self-contained, and safe whatever the trace says."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from possibly.order.computation import Computation
from possibly.records import replace
from possibly.trace import TraceBuilder
from possibly.verdict.model import (
    Atom,
    Change,
    Explanation,
    MissingOrder,
    Report,
    Step,
    Truth,
    Verdict,
    Witness,
)
from possibly.views.web import diagram, page
from possibly.views.web.page import render_page
from tests.views.samples import HOLDS, UNKNOWN, VIOLATED, mutex_trace, report_of
from tests.views.test_markup import Reader

ALLOWED = """
    html head meta title style body h1 h2 p ul li a span code section figure figcaption div
    svg defs marker path line polyline circle g text table thead tbody tr th td
"""
TAGS = frozenset(ALLOWED.split())


def page_of(report: Report) -> str:
    found = mutex_trace()
    return render_page(found, Computation(found), report)


def test_the_page_tells_the_whole_story() -> None:
    text = " ".join(Reader(page_of(report_of(VIOLATED))).texts)
    for part in (
        "run.jsonl",
        "2 processes, 5 events, causal order",
        "violated",
        "ctl AG(!(P1.cs & P2.cs))",
        "The recorded order satisfies it; another order of the same events does not.",
        "A failing order: it ends where P1.cs & P2.cs is true.",
        "Nothing orders P1:3 (internal, peer.py:6) before P2:2 (internal [enter], peer.py:10)",
        "P2.cs: false -> true",
        "P1.cs = true, P2.cs = true",
    ):
        assert part in text


def test_there_is_a_section_a_property_and_a_list_of_them() -> None:
    text = page_of(report_of(VIOLATED, HOLDS, UNKNOWN))
    assert re.findall(r'<section id="(property-\d)"', text) == ["property-0", "property-1", "property-2"]
    assert re.findall(r'href="#(property-\d)"', text) == ["property-0", "property-1", "property-2"]
    assert text.count("<svg") == 1
    assert "Undecided: 1,000 cuts were visited; raise --max-cuts." in text


def test_without_a_witness_the_recorded_run_is_drawn() -> None:
    for report in (report_of(), report_of(HOLDS)):
        text = page_of(report)
        assert text.count("<svg") == 1
        assert "The recorded run." in text


def test_nothing_is_loaded_and_nothing_runs() -> None:
    text = page_of(report_of(VIOLATED))
    reader = Reader(text)
    assert set(reader.tags) <= TAGS
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name in ("src", "style")]
    assert all(value and value.startswith("#") for name, value in reader.attributes if name == "href")
    assert "http:" not in text
    assert "https:" not in text
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = (
        dict(reader.attributes)["content"]
        if False
        else next(v for n, v in reader.attributes if n == "content")
    )
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


EVIL = "</title></style><script>alert(1)</script><img src=x onerror='y'>\" onload=\"z"


def evil_report() -> Report:
    step = Step(EVIL, EVIL, EVIL, EVIL, EVIL, EVIL, EVIL, (Change(EVIL, EVIL, EVIL),))
    atoms = (Atom(EVIL, False, {EVIL: EVIL}),)
    explanation = Explanation(EVIL, (step,), {EVIL: EVIL}, atoms, MissingOrder(step, step))
    verdict = Verdict(
        EVIL, "ctl", EVIL, Truth.VIOLATED, observed=False, faults=(EVIL,), explanation=explanation
    )
    witness = Witness({EVIL: 1}, (EVIL,))
    return Report(EVIL, 1, 1, (replace(verdict, witness=witness), replace(UNKNOWN, reason=EVIL)), (EVIL,))


def test_a_hostile_trace_stays_text() -> None:
    builder = TraceBuilder(EVIL)
    builder.header([(EVIL, {EVIL: EVIL})])
    builder.add(EVIL, id=EVIL, kind=EVIL, set={EVIL: EVIL}, fn=EVIL, at=EVIL, label=EVIL, msg=EVIL)
    found = builder.finish()
    reader = Reader(render_page(found, Computation(found), evil_report()))
    assert set(reader.tags) <= TAGS
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert sum(EVIL in text for text in reader.texts) >= 10


def test_of_a_long_run_the_page_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagram, "MOST_EVENTS", 3)
    monkeypatch.setattr(diagram, "LONGEST_TAIL", 2)
    monkeypatch.setattr(page, "MOST_STEPS", 3)
    text = page_of(report_of(VIOLATED))
    assert "Of 5 events only 3 are drawn: those near the end of the order." in text
    assert "The first 1 steps are left out." in text
    assert "only the first" in page_of(report_of())


def test_the_number_of_diagrams_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_DIAGRAMS", 2)
    assert page_of(report_of(VIOLATED, VIOLATED, VIOLATED)).count("<svg") == 2


def test_the_page_is_the_same_every_time() -> None:
    assert page_of(report_of(VIOLATED, HOLDS)) == page_of(report_of(VIOLATED, HOLDS))
