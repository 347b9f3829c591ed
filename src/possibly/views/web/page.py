"""The picture as one HTML page that needs nothing else: no network, no library, no other file.

The page carries its data as JSON in an element that no browser runs, and one script and one style sheet
that were bundled beforehand. Its content security policy names the two by their hashes and forbids every
other script, `eval`, and every request; only the page of a live server may ask that server. Without scripts
the same answers can be read as text: `static`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from possibly.views.text.words import plain
from possibly.views.web.columns import script_text
from possibly.views.web.document import Contents, picture_document
from possibly.views.web.markup import Markup, element, raw
from possibly.views.web.static import static_report

if TYPE_CHECKING:
    from possibly.order.computation import Computation
    from possibly.trace.model import Trace
    from possibly.verdict.model import Report

BUNDLE = ("picture.js", "picture.css")


@cache
def asset(name: str) -> str:
    """A bundled file of the package."""
    return files("possibly.views.web").joinpath("assets", name).read_text(encoding="utf-8")


def render_page(
    trace: Trace, computation: Computation, report: Report, contents: Contents | None = None
) -> str:
    """The page of a run and the answers on it."""
    contents = contents if contents is not None else Contents()
    document = picture_document(report.trace or trace.file or "run", computation, report, contents)
    return page_of(document, static_report(computation, report))


def page_of(document: dict[str, Any], without_script: Markup | None = None) -> str:
    """The page of any document."""
    script, style = (asset(name) for name in BUNDLE)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(bool(document.get("live")))),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content="possibly"),
        element("title", f"{plain(str(document['title']))} - possibly"),
        element("style", raw(style)),
    )
    body = element(
        "body",
        element("div", id="app"),
        element("noscript", without_script or element("p", "This picture needs scripts.")),
        element("script", raw(script_text(document)), id="document", type="application/json"),
        element("script", raw(script)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


@cache
def policy(live: bool = False) -> str:
    """Nothing may be loaded and nothing may run but the bundle, known by its hash."""
    from base64 import b64encode
    from hashlib import sha256

    script, style = (b64encode(sha256(asset(name).encode()).digest()).decode() for name in BUNDLE)
    rules = (
        "default-src 'none'",
        f"script-src 'sha256-{script}'",
        f"style-src 'sha256-{style}'",
        "img-src data: blob:",
        "connect-src 'self'" if live else "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)
