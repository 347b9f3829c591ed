"""The site of the documents: links stay inside it, and one that leads nowhere is told."""

from __future__ import annotations

from pathlib import Path

from tools.documents import (
    ROOT,
    broken_links,
    copy_sources,
    linked_outside,
    on_page_markdown,
    write_opening,
)

DOCUMENTS = ROOT / "docs"


def test_links_to_the_repository_lead_to_copies_in_the_site(tmp_path: Path) -> None:
    copy_sources(DOCUMENTS, tmp_path)
    assert len(linked_outside(DOCUMENTS)) > 30
    for name in linked_outside(DOCUMENTS):
        copy = tmp_path / "sources" / name
        assert (copy / "index.html").is_file() if (ROOT / name).is_dir() else copy.is_file()
    assert list(broken_links(tmp_path)) == []


def test_every_bug_of_the_gallery_has_its_page() -> None:
    text = on_page_markdown((DOCUMENTS / "gallery.md").read_text(encoding="utf-8"))
    bugs = [path.name for path in (ROOT / "examples/bugs").iterdir() if path.is_dir()]
    assert len(bugs) >= 17 and all(f"[page](pages/{name}.html)" in text for name in bugs)
    assert "](../" not in text


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    write_opening(tmp_path, "tutorial.html")
    assert list(broken_links(tmp_path)) == ["index.html: tutorial.html"]
    (tmp_path / "tutorial.html").write_text(
        '<h2 id="one">1</h2><a href="#one">1</a><a href="index.html">0</a><a href="#two">2</a>'
        '<img src="no.png"><a href="/tutorial.html#one">1</a><a href="https://example.org/x">x</a>'
    )
    assert sorted(broken_links(tmp_path)) == ["tutorial.html: #two", "tutorial.html: no.png"]
