"""A run whose every text is markup and script: the page shows it and runs none of it."""

from __future__ import annotations

from collections.abc import Callable

from possibly.trace import TraceBuilder
from possibly.views.web.document import Contents, picture_document
from possibly.views.web.models import Node, Stack, StackStep, Tree
from possibly.views.web.page import page_of
from tests.views.web.conftest import Shown
from tests.views.web.pages import document_of, page_of_run

EVIL = "</script><script>window.owned=1</script><img src=x onerror='window.owned=2'>\"'`${window.owned=3}"
OWNED = "window.owned === undefined"


def evil_trace() -> TraceBuilder:
    builder = TraceBuilder(EVIL)
    builder.header([(EVIL, {EVIL: EVIL}), (EVIL + "2", {})], {EVIL: EVIL})
    builder.add(EVIL, id=EVIL, kind="send", msg=EVIL, to=EVIL + "2", set={EVIL: [EVIL]}, at=EVIL, label=EVIL)
    builder.add(EVIL + "2", kind="receive", msg=EVIL, write={EVIL: {EVIL: EVIL}}, fn=EVIL)
    builder.add(EVIL + "2", kind=EVIL, fn=EVIL, read=[EVIL])
    return builder


def test_a_hostile_run_executes_nothing_and_is_shown_as_text(written: Callable[[str], Shown]) -> None:
    trace = evil_trace().finish()
    shown = written(page_of_run(trace, f'ctl {"x" * 3} = AG(!done("{EVIL_QUOTED}"))'))
    page = shown.page
    assert page.evaluate(OWNED)
    assert EVIL in page.locator("h1").inner_text()
    page.mouse.move(*shown.place(EVIL))
    page.locator(".card").wait_for(state="visible")
    assert EVIL in page.locator(".card").inner_text()
    page.locator("canvas.diagram").click(position={"x": 400, "y": 80})
    for view in page.locator("nav button").all():
        view.click()
    page.locator("input[type=search]").fill("<script")
    shown.shot("hostile")
    assert page.evaluate(OWNED)
    assert page.locator("#app script, #app img").count() == 0
    tags = set(page.evaluate("[...document.querySelectorAll('body *')].map((e) => e.tagName.toLowerCase())"))
    assert tags <= ALLOWED


EVIL_QUOTED = EVIL.replace('"', '\\"')
ALLOWED = set(
    "div header h1 h2 h3 p nav button input span aside section code details summary label select option "
    "canvas dl dt dd ul li ol form dialog strong pre svg defs marker path g circle rect text title noscript "
    "script".split()
)


def test_hostile_trees_stacks_and_titles_are_text(written: Callable[[str], Shown]) -> None:
    node = Node("0", None, "", EVIL, ("false",), facts=((EVIL, EVIL),))
    tree = Tree(EVIL, (EVIL,), (node, Node("1", "0", EVIL, EVIL, ("true",))), notes=(EVIL,))
    stack = Stack(EVIL, (StackStep(EVIL, EVIL, (EVIL,), ((EVIL, EVIL),)),), ((EVIL, EVIL),), (EVIL,))
    contents = Contents(trees=[tree], stacks=[stack])
    shown = written(page_of(picture_document(EVIL, None, None, contents)))
    for view in shown.page.locator("nav button").all():
        view.click()
    shown.page.locator("[data-view=tree-0]").click()
    shown.page.locator(".node").first.click()
    assert EVIL in shown.page.locator(".details").inner_text()
    assert shown.page.evaluate(OWNED)


def test_even_a_script_in_the_page_would_not_run(written: Callable[[str], Shown]) -> None:
    """The policy holds by itself: a page that was tampered with executes nothing either."""
    text = page_of(document_of(evil_trace().finish()))
    tampered = text.replace(
        "<body>", "<body><script>window.owned = 4</script><a id=x onclick='owned=5'>x</a>"
    )
    assert tampered != text
    shown = written(tampered)
    assert shown.page.evaluate(OWNED)
    refused = [said for said in shown.complaints if "Content Security Policy" in said]
    assert len(refused) >= 1
    shown.page.evaluate("document.querySelector('#x').click()")
    assert shown.page.evaluate(OWNED)
    shown.page.evaluate("fetch('http://127.0.0.1:9/').catch(() => undefined)")
    assert not [url for url in shown.requests if url.startswith("http")]
    shown.complaints.clear()
