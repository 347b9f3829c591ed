"""What `mkdocs build` does beside writing the documents: the site has to be whole without the repository.

- Files of the repository that a document links to come along, in `sources`, and the links lead there.
- The gallery gets the page of each bug, as `possibly explore --html` draws it.
- `index.html` opens the first document of the site, the tutorial.

At the end every link of the site is followed; one that leads nowhere ends the build. `mkdocs.yml` names
this file.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"\]\(\.\./([^)#\s]+)")
FIXED = re.compile(r"\[fixed\]\(\.\./examples/bugs/([a-z-]+)/fixed\.py\)")
LEFT_OUT = ignore_patterns("node_modules", "__pycache__", ".*", "*.schedule", "*.so")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The text of a document with links that stay inside the site."""
    with_pages = FIXED.sub(r"\g<0>, [page](pages/\1.html)", markdown)
    return OUTSIDE.sub(r"](sources/\1", with_pages)


def on_post_build(config: Any, **_: Any) -> None:
    """Bring what the documents link to into the site, then follow all links."""
    site, documents = Path(config["site_dir"]), Path(config["docs_dir"])
    copy_sources(documents, site)
    draw_pages(documents, site)
    write_opening(site, "tutorial.html")
    if broken := sorted(broken_links(site)):
        raise SystemExit("links that lead nowhere:\n" + "\n".join(broken))


def linked_outside(documents: Path) -> set[str]:
    """Files and folders of the repository that documents link to."""
    texts = (path.read_text(encoding="utf-8") for path in documents.glob("*.md"))
    return {name.rstrip("/") for text in texts for name in OUTSIDE.findall(text)}


def copy_sources(documents: Path, site: Path) -> None:
    for name in linked_outside(documents):
        source, target = ROOT / name, site / "sources" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            copytree(source, target, ignore=LEFT_OUT, dirs_exist_ok=True)
            write_contents(target)
        else:
            target.write_bytes(source.read_bytes())


def write_contents(folder: Path) -> None:
    """An `index.html` in a folder that was copied, as a server of plain files shows none."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    rows = "\n".join(f'<li><a href="{escape(name)}">{escape(name)}</a></li>' for name in names)
    write_page(folder / "index.html", folder.name, f"<ul>\n{rows}\n</ul>")


def draw_pages(documents: Path, site: Path) -> None:
    """The page of each bug that the gallery names."""
    pages = site / "pages"
    pages.mkdir(exist_ok=True)
    with TemporaryDirectory() as schedules:
        for name in FIXED.findall((documents / "gallery.md").read_text(encoding="utf-8")):
            program = f"examples/bugs/{name}/buggy.py"
            page, schedule = str(pages / f"{name}.html"), f"{schedules}/{name}.schedule"
            command = [sys.executable, "-m", "possibly", "explore", "--html", page, "-o", schedule, program]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode != 1:
                raise SystemExit(f"{program} should be violated:\n{done.stdout}{done.stderr}")


def write_opening(site: Path, document: str) -> None:
    moved = f'<meta http-equiv="refresh" content="0; url={document}"><a href="{document}">possibly</a>'
    write_page(site / "index.html", "possibly", moved)


def write_page(path: Path, title: str, body: str) -> None:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    path.write_text(f'<!DOCTYPE html>\n<html lang="en">{head}\n{body}\n</html>\n', encoding="utf-8")


class Links(HTMLParser):
    """The places of a page that can be linked to, and where its own links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = {""}
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value or "")
            elif name in ("href", "src") and value:
                self.targets.append(value)


def broken_links(site: Path) -> Iterator[str]:
    """Links of a site into itself that lead to no file, or to no place of a page."""
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.resolve().rglob("*.html")}
    for path, links in pages.items():
        for target in links.targets:
            link = urlsplit(target)
            if link.scheme or link.netloc:
                continue
            found = linked_file(site.resolve(), path, unquote(link.path))
            if not found.is_file() or (found in pages and unquote(link.fragment) not in pages[found].places):
                yield f"{path.relative_to(site.resolve())}: {target}"


def linked_file(site: Path, page: Path, target: str) -> Path:
    """Where a link leads to; one that begins with `/`, as on the page for errors, begins at the site."""
    begin = site if target.startswith("/") else page.parent
    found = (begin / target.lstrip("/")).resolve() if target else page
    return found / "index.html" if found.is_dir() else found
