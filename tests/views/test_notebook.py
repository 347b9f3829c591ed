"""Answers in a notebook: frames without network, and the cell magic in a real IPython."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

import possibly
from possibly.views.inline import HEIGHT, framed

EXAMPLE = Path(__file__).parents[2] / "examples" / "mutex" / "run.jsonl"
SAFE = "AG(!(P1.critical & P2.critical))"


def page_in(html: str) -> str:
    """The page inside the frame."""
    found = re.search(r'<iframe sandbox="allow-scripts" srcdoc="([^"]*)"', html)
    assert found is not None
    return unescape(found.group(1))


def test_a_run_is_shown_as_its_picture() -> None:
    run = possibly.load(EXAMPLE)
    page = page_in(run._repr_html_())
    assert "connect-src 'none'" in unescape(page) and "default-src 'none'" in unescape(page)
    assert "P1" in page and page.startswith("<!DOCTYPE html>")
    assert repr(run).endswith(": 2 processes, 6 events>")


def test_a_verdict_is_shown_with_its_reason_and_picture() -> None:
    html = possibly.check(possibly.load(EXAMPLE), ctl=SAFE)._repr_html_()
    style, told = html.split(">", 1)
    assert "word-break: normal" in style, "a notebook breaks lines within words"
    assert told.startswith("VIOLATED  ctl  ctl AG(!(P1.critical &amp; P2.critical))")
    assert "f2" in page_in(html)


def test_a_slice_is_shown() -> None:
    html = possibly.slice(possibly.load(EXAMPLE), "P1.critical & P2.critical")._repr_html_()
    assert "empty: False" in html and "least cut:" in html
    assert page_in(html).startswith("<svg") and "f2" in page_in(html)
    height = re.search(r"height: ([0-9]+)px", html)
    assert height is not None and int(height[1]) < HEIGHT, "a small picture leaves no hole"


def test_nothing_in_a_page_ends_its_frame() -> None:
    assert '"><script>' not in framed('"><script>alert(1)</script>')


EXPLORED = """\
import threading
n = 0
def add():
    global n
    n += 1
threads = [threading.Thread(target=add) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
assert n == 2
"""


@pytest.mark.alone
def test_the_cell_magic() -> None:
    from IPython.testing.globalipapp import get_ipython, start_ipython

    shell = start_ipython() or get_ipython()
    shell.run_line_magic("load_ext", "possibly")
    found = shell.run_cell_magic("possibly", "explore --time 60", EXPLORED)
    assert "the cell: violated (assertion)" in repr(found) and " at cell.py:9 in " in repr(found)
    page = page_in(found._repr_html_())
    assert "MainThread" in page and "hold one lock around line 5" in page, "what decides it, and the cure"
    found = shell.run_cell_magic("possibly", "record --ctl 'EF(n == 2)'", EXPLORED)
    assert "HOLDS" in repr(found), repr(found)
    assert "record or explore?" in repr(shell.run_cell_magic("possibly", "", "1"))
