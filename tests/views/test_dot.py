"""DOT: exact quoting, all edges, the same text every time."""

from __future__ import annotations

import re

import pytest

from possibly.order.computation import Computation
from possibly.trace.notation import trace
from possibly.views.export.dot import quoted, render_dot
from tests.views.samples import mutex_trace

MUTEX = """\
digraph "run.jsonl" {
  rankdir=LR;
  newrank=true;
  node [shape=box, style=rounded, fontname="monospace", fontsize=10];
  edge [fontname="monospace", fontsize=9];
  subgraph cluster_0 {
    label="P1";
    p0 [label="P1\\ncs = false", shape=plaintext];
    e0 [label="P1:1\\nsend m1\\npeer.py:3"];
    e1 [label="P1:2\\ninternal [enter]\\ncs = true\\npeer.py:4"];
    e2 [label="P1:3\\ninternal\\ncs = false\\npeer.py:6"];
    p0 -> e0 -> e1 -> e2;
  }
  subgraph cluster_1 {
    label="P2";
    p1 [label="P2\\ncs = false", shape=plaintext];
    e3 [label="P2:1\\nreceive m1\\npeer.py:9"];
    e4 [label="P2:2\\ninternal [enter]\\ncs = true\\npeer.py:10"];
    p1 -> e3 -> e4;
  }
  e0 -> e3 [color=blue];
}
"""


def test_the_graph_of_the_sample() -> None:
    assert render_dot(Computation(mutex_trace())) == MUTEX


def test_order_and_joint_events_have_their_own_style() -> None:
    text = render_dot(Computation(trace("p: a x%j | q: b<a y%j | r:")))
    assert len(re.findall(r"-> e\d \[style=dashed\];", text)) == 1
    assert len(re.findall(r"-> e\d \[dir=none, style=bold\];", text)) == 1
    assert 'p2 [label="r", shape=plaintext];\n  }' in text


def test_causal_order_has_more_edges_than_sync() -> None:
    run = trace("shared(v=0) p: a&w(v=1) | q: b&w(v=2)")
    assert render_dot(Computation(run, "causal")).count("dashed") == 1
    assert render_dot(Computation(run, "sync")).count("dashed") == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", '"plain"'),
        ('a"b', '"a\\"b"'),
        ("a\\b", '"a\\\\b"'),
        ('\\"', '"\\\\\\""'),
        ("a\nb", '"a\\\\nb"'),
        ("", '""'),
    ],
)
def test_quoting_is_exact(text: str, expected: str) -> None:
    assert quoted(text) == expected


def test_hostile_names_stay_inside_their_quotes() -> None:
    builder_text = render_dot(Computation(trace('"x\\"]; evil [": a')))
    assert re.sub(r'"(?:[^"\\]|\\.)*"', "", builder_text).count("evil") == 0
