"""The site of the documents in the browser, off-line: tutorial first, search, pages of the gallery."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.views.web.conftest import ROOT, Shown

pytestmark = pytest.mark.large


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="mkdocs-material is not installed (make docs)")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_it_opens_with_the_tutorial_and_its_pictures(site: Path, shown: Shown) -> None:
    shown.page.goto((site / "index.html").as_uri())
    shown.page.wait_for_url("**/tutorial.html")
    assert "fails once a week" in shown.page.inner_text("h1")
    loaded = "Array.from(document.images, each => each.complete && each.naturalWidth > 0)"
    shown.page.wait_for_function(f"{loaded}.every(Boolean)")
    assert shown.page.evaluate(f"{loaded}.length") >= 2
    shown.shot("site-tutorial")
    assert [each for each in shown.requests if not each.startswith(("file:", "data:", "blob:"))] == []


def test_it_is_searched_off_line(site: Path, shown: Shown) -> None:
    shown.page.goto((site / "tutorial.html").as_uri())
    words = shown.page.locator("input.md-search__input")
    words.click()
    words.press_sequentially("vacuity")
    shown.page.wait_for_selector(".md-search-result__item a")
    found = shown.page.locator(".md-search-result__item a").first.get_attribute("href")
    shown.shot("site-search")
    assert found is not None and ".html" in found
    assert [each for each in shown.requests if not each.startswith(("file:", "data:", "blob:"))] == []


def test_the_gallery_leads_to_the_page_of_a_bug(site: Path, shown: Shown) -> None:
    shown.page.goto((site / "gallery.html").as_uri())
    shown.page.locator("a[href='pages/lock-order.html']").click()
    shown.page.wait_for_selector("html[data-ready]")
    shown.shot("site-gallery-page")
    assert "lock order" in shown.page.inner_text("body")
