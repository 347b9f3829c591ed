"""The buttons SVG, PNG and DOT of the page: every picture, in every form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from possibly.views.web.document import Contents, picture_document
from possibly.views.web.models import Node, Tree
from possibly.views.web.page import page_of
from tests.views.test_pictures import is_drawn_by_graphviz
from tests.views.web.conftest import Shown
from tests.views.web.pages import page_with_everything

Written = Callable[[str], Shown]


def test_every_picture_can_be_saved(written: Written) -> None:
    shown = written(page_with_everything())
    views = [view.get_attribute("data-view") for view in shown.page.locator("nav button").all()]
    assert views == ["diagram", "lattice", "slice", "stack-0", "tree-0", "graphs"]
    for view in views:
        shown.page.reload()  # Chromium saves no more than ten files of one visit without asking
        shown.page.locator(f"[data-view={view}]").click()
        for form in ("svg", "png", "dot"):
            with shown.page.expect_download() as download:
                shown.page.locator(f"[data-save={form}]").click()
            assert download.value.suggested_filename.endswith(f".{view}.{form}")
            check_saved(download.value.path(), form)


def check_saved(path: Path, form: str) -> None:
    content = path.read_bytes()
    if form == "png":
        assert content.startswith(b"\x89PNG") and len(content) > 1_500
    elif form == "dot":
        assert content.startswith(b"digraph ") and content.count(b"->") >= 1
        is_drawn_by_graphviz(str(path))
    else:
        root = ElementTree.fromstring(content)
        assert root.tag.endswith("svg") and len(list(root.iter())) > 10
        assert b"var(--" not in content, "the file has its colours inside"


def test_a_hostile_name_is_quoted_in_a_saved_file(written: Written) -> None:
    evil = 'a"];\nb [label="\\'
    nodes = (Node("0", None, "", evil), Node("1", "0", evil, evil))
    shown = written(page_of(picture_document("t", None, None, Contents(trees=[Tree(evil, (), nodes)]))))
    with shown.page.expect_download() as download:
        shown.page.locator("[data-save=dot]").click()
    is_drawn_by_graphviz(str(download.value.path()))
    lines = download.value.path().read_text().splitlines()
    assert sum(line.startswith(("  n0", "  n1")) for line in lines) == 3, "two nodes and an arrow"
