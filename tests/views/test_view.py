"""`possibly view`: the page of a trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.views.cli.drawing.view import default_output
from possibly.views.cli.main import main
from tests.views.conftest import SAFE, TRUE

pytestmark = pytest.mark.usefixtures("run")


def test_a_page_beside_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "run.jsonl"]) == 0
    assert capsys.readouterr().out == "Page: run.html\n"
    assert "2 processes, 5 events, causal order" in Path("run.html").read_text()


def test_a_page_with_answers() -> None:
    assert main(["view", "run.jsonl", "-o", "p.html", "--ctl", SAFE, "--ctl", TRUE]) == 0
    assert "A failing order" in Path("p.html").read_text()


def test_a_page_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "run.jsonl", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


def test_a_bad_trace_gives_no_page() -> None:
    Path("bad.jsonl").write_text("")
    assert main(["view", "bad.jsonl"]) == 2
    assert not Path("bad.html").exists()


def test_a_search_to_be_resumed_is_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    from possibly.control.tree import ExecutionTree
    from possibly.control.treefile import save_tree

    save_tree(ExecutionTree(), "search", {})
    assert main(["view", "search"]) == 2
    assert "search: this is a search to be resumed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("trace", "page"),
    [
        ("run.jsonl", "run.html"),
        ("logs/a.b.jsonl.gz", "a.b.html"),
        ("x.columns", "x.html"),
        ("m.py", "m.html"),
        ("-", "-.html"),
    ],
)
def test_default_output(trace: str, page: str) -> None:
    assert default_output(trace) == page
