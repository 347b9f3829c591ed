"""The document of a page: columns, texts, and that nothing in it can become markup."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.trace import TraceBuilder
from possibly.trace.notation import trace
from possibly.views.export.boxes import Arrow, Box, Picture
from possibly.views.text.words import plain
from possibly.views.web import columns
from possibly.views.web.columns import packed, script_text, shown
from possibly.views.web.document import graph_document
from possibly.views.web.models import Action, Node, Stack, StackStep, Tree
from possibly.views.web.models import document_of as model_document
from tests.views.web.pages import document_of


@pytest.mark.parametrize("largest", [100, 30_000, 2_000_000])
def test_long_columns_are_bytes_of_the_narrowest_integers(largest: int) -> None:
    numbers = [Random(n).randint(-1, largest) for n in range(3_000)] + [largest]
    found = packed(numbers)
    size = {"b": 1, "h": 2, "i": 4}[found["code"]]
    data = b64decode(found["data"])
    assert [
        int.from_bytes(data[at : at + size], "little", signed=True) for at in range(0, len(data), size)
    ] == numbers
    assert packed(numbers[:5]) == numbers[:5]


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner), max_leaves=6
)


@given(values)
def test_no_document_contains_anything_that_looks_like_a_tag(value: Any) -> None:
    text = script_text({"value": value})
    assert not set(text) & set("<>&")
    assert json.loads(text) == {"value": shown(value)}


@given(st.text())
def test_texts_of_a_document_are_printable(text: str) -> None:
    assert shown({text: [text]}) == {plain(text): [plain(text)]}


def test_a_long_document_is_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "LONGEST_PLAIN", 1_000)
    document = {"text": "<" * 5_000}
    text = script_text(document)
    assert len(text) < 500
    assert json.loads(zlib.decompress(b64decode(json.loads(text)["deflate"]))) == document


def test_numbers_too_large_for_a_page_stay_exact() -> None:
    builder = TraceBuilder("big.jsonl")
    builder.header([("p", {"x": 2**70})])
    builder.add("p", set={"x": 2**53 + 1})
    found = document_of(builder.finish())["trace"]
    assert found["values"] == [str(2**53 + 1)]
    assert found["processes"][0]["init"] == [("x", str(2**70))]


def test_edges_carry_their_kind() -> None:
    found = document_of(trace("p: send(m) a x%j | q: recv(m) b<a y%j"))["trace"]["columns"]
    pairs = list(zip(found["edge_from"], found["edge_to"], found["edge_kind"], strict=True))
    kinds = sorted(kind for _, _, kind in pairs)
    assert kinds == [0, 1, 2, 2], "a message, an order, and a joint event both ways"
    assert "steps" in found


def test_graphs_trees_and_stacks_are_plain_data() -> None:
    picture = Picture("net", {"a": Box(("x",), 0, 0), "b": Box(("y",), 0, 1, "action", marked=True)})
    picture.arrows.append(Arrow("a", "b", label="go"))
    assert graph_document(picture) == {
        "title": "net",
        "direction": "TB",
        "nodes": [
            {"id": "a", "lines": ["x"], "kind": "state", "marked": False},
            {"id": "b", "lines": ["y"], "kind": "action", "marked": True},
        ],
        "edges": [{"from": "a", "to": "b", "kind": "flow", "label": "go"}],
    }
    tree = Tree("t", ("safe",), (Node("0", None, "", "start"), Node("1", "0", "P1", "end", ("false",))))
    found = model_document(tree)
    assert [node["parent"] for node in found["nodes"]] == [None, "0"]
    assert found["current"] is None
    stack = Stack("s", (StackStep("step", "F x"),), actions=(Action("step", "step", asks="formula"),))
    assert model_document(stack)["actions"] == [
        {"name": "step", "label": "step", "asks": "formula", "arguments": {}}
    ]
