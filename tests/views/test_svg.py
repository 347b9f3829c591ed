"""The space-time diagram: columns, arrows, the cut line, and how much is drawn."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from possibly.order.computation import Computation
from possibly.trace.notation import trace
from possibly.verdict.model import Witness
from possibly.views.export import svg as diagram
from possibly.views.export.svg import chosen_events, columns, render_diagram, tooltip
from tests.views.samples import VIOLATED, mutex_trace


def computation(text: str) -> Computation:
    return Computation(trace(text))


def named_columns(found: Computation) -> dict[str, int]:
    everything = columns(found, range(len(found.trace)))
    return {found.trace.name(event): column for event, column in everything.items()}


def test_causal_columns() -> None:
    found = computation("p: a send(m) b | q: c recv(m) d")
    named = {
        found.trace.name(event): column for event, column in columns(found, range(len(found.trace))).items()
    }
    assert named == {"a": 0, "p:2": 1, "b": 2, "c": 0, "q:2": 2, "d": 3}


def test_joint_events_share_a_column() -> None:
    found = computation("p: a b x%m | q: y%m c")
    named = {
        found.trace.name(event): column for event, column in columns(found, range(len(found.trace))).items()
    }
    assert named == {"a": 0, "b": 1, "x": 2, "y": 2, "c": 3}


def drawing(text: str, witness: Witness | None = None) -> ElementTree.Element:
    return ElementTree.fromstring(render_diagram(computation(text), witness, "caption"))


SVG = "{http://www.w3.org/2000/svg}"


def classes(svg: ElementTree.Element) -> list[str]:
    return [name for node in svg.iter() if (name := node.get("class"))]


def test_messages_order_and_joint_events_are_drawn_apart() -> None:
    found = classes(drawing("p: send(m) a x%j | q: recv(m) b<a y%j"))
    assert [found.count(kind) for kind in ("message", "order", "joint")] == [1, 1, 1]
    assert found.count("lane") == 2
    assert found.count("event") == 6


def test_an_empty_trace_and_a_process_without_events_are_drawn() -> None:
    assert classes(drawing("p: | q: a")).count("lane") == 2
    assert classes(drawing("p:")).count("event") == 0


def test_the_witness_is_numbered_and_its_cut_is_drawn() -> None:
    text = render_diagram(Computation(mutex_trace()), VIOLATED.witness, "caption")
    svg = ElementTree.fromstring(text)
    assert classes(svg).count("event on") == 4
    steps = [node.text for node in svg.iter(f"{SVG}text") if node.get("class") == "step"]
    assert sorted(steps, key=str) == ["1", "2", "3", "4"]
    (cut,) = (node for node in svg.iter(f"{SVG}polyline"))
    xs = [float(point.split(",")[0]) for point in (cut.get("points") or "").split()]
    centres = {node[0].text: float(node[1].get("cx") or 0) for node in svg.iter(f"{SVG}g")}
    first = next(x for title, x in centres.items() if title and title.startswith("P1:2"))
    after = next(x for title, x in centres.items() if title and title.startswith("P1:3"))
    assert first < xs[0] < after
    assert xs[2] > max(x for title, x in centres.items() if title and title.startswith("P2:2"))


def test_the_tooltip_has_all_facts() -> None:
    found = trace('p(x=0): a!send(m>q)&w(turn=1)&r(x)@"f.py:3"#here{x=1} | q: recv(m)')
    text = tooltip(found, 0).splitlines()
    assert text[0] == "a: send"
    assert {"label: here", "message: m", "to: q", "p.x = 1", "turn = 1", "reads x", "at f.py:3"} <= set(text)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagram, "MOST_EVENTS", 10)
    monkeypatch.setattr(diagram, "LONGEST_TAIL", 3)


LONG = "p: " + "_ " * 20 + "send(m) _ | q: " + "_ " * 5 + "recv(m) _ _"


@pytest.mark.usefixtures("small")
def test_of_a_long_run_the_neighbourhood_of_the_witness_is_drawn() -> None:
    found = computation(LONG)
    path = (*(f"p:{n}" for n in range(1, 22)), *(f"q:{n}" for n in range(1, 7)))
    drawn = chosen_events(found, Witness({"p": 21, "q": 6}, path))
    assert {found.trace.name(event) for event in drawn} == {"q:4", "q:5", "q:6", "p:21", "p:22", "q:7"}
    assert list(drawn) == sorted(drawn)


@pytest.mark.usefixtures("small")
def test_of_a_long_run_without_a_witness_the_first_events_are_drawn() -> None:
    assert list(chosen_events(computation(LONG), None)) == list(range(10))


@pytest.mark.usefixtures("small")
def test_a_partial_drawing_is_well_formed() -> None:
    witness = Witness({"p": 21, "q": 6}, tuple(f"p:{n}" for n in range(1, 22)))
    assert classes(drawing(LONG, witness)).count("event on") == 3


def test_names_are_kept_short_and_harmless() -> None:
    text = render_diagram(computation(f'"{"<script>" * 9}": a'), None, "<b>")
    assert "<script" not in text
    assert "<b>" not in text
    assert re.search(r">(&lt;script&gt;)+[^<]*…", text)
