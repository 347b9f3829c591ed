"""Made with care: contrast in light and dark, every control named and reached by keys, paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from possibly.views.web.document import Contents, picture_document
from possibly.views.web.models import Node, Tree
from possibly.views.web.page import page_of
from tests.views.web.conftest import Shown
from tests.views.web.pages import example_page, page_with_everything

Written = Callable[[str], Shown]
READABLE = 4.5
"""The contrast of small texts that the accessibility guidelines (WCAG 2.2, 1.4.3) ask for."""

CONTRASTS = """() => {
  const parsed = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => {
    const part = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const over = (top, below) => {
    const alpha = top[3] ?? 1;
    return [0, 1, 2].map((at) => top[at] * alpha + below[at] * (1 - alpha));
  };
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const own = parsed(getComputedStyle(element).backgroundColor);
    const below = behind(element.parentElement);
    return own.length && (own[3] ?? 1) > 0 ? over(own, below) : below;
  };
  const found = [];
  for (const element of document.querySelectorAll("#app *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || !box.width || !box.height || element.closest(":disabled, svg, option")) continue;
    const [ink, paper] = [parsed(getComputedStyle(element).color), behind(element)];
    const [one, two] = [light(over(ink, paper)), light(paper)];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    found.push([ratio, element.className + " " + element.textContent.slice(0, 30)]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.large("light")
def test_every_text_can_be_read(written: Written, scheme: Any) -> None:
    shown = written(page_with_everything())
    shown.page.emulate_media(color_scheme=scheme)
    shown.page.locator("canvas.diagram").click(position={"x": 160, "y": 82})
    for view in shown.page.locator("nav button").all():
        view.click()
        shown.settle()
        found = shown.page.evaluate(CONTRASTS)
        assert len(found) > 15
        assert [each for each in found if each[0] < READABLE] == []


UNNAMED = """() => [...document.querySelectorAll("button, input, select, canvas, svg.stage, [role=button]")]
  .filter((each) => each.getAttribute("aria-hidden") !== "true")
  .filter((each) => !each.getAttribute("aria-label") && !each.closest("label") && !each.textContent.trim())
  .map((each) => each.outerHTML)"""


def test_every_control_has_a_name(written: Written) -> None:
    shown = written(page_with_everything())
    for view in shown.page.locator("nav button").all():
        view.click()
        assert shown.page.evaluate(UNNAMED) == []


def test_the_tab_key_reaches_everything_and_stays_nowhere(written: Written) -> None:
    shown = written(page_with_everything())
    page = shown.page
    reached: list[str] = []
    for _ in range(80):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.dataset.keep ?? document.activeElement.tagName")
        if name == "BODY" or (reached and name == reached[0]):
            break
        reached.append(name)
    else:
        pytest.fail("the focus goes round in a part of the page")
    assert len(reached) == len(set(reached))
    wanted = {"tab/lattice", "search", "save the picture as DOT, for Graphviz", "property/mutex", "order"}
    assert wanted | {"diagram", "the observed order", "move/0/-1", "shown/kind/send"} <= set(reached)


TREE = Tree(
    "tree",
    ("safe",),
    (
        Node("0", None, "", "start", ("unknown",)),
        *(Node(str(n), "0", f"branch {n}", f"state {n}", ("true",)) for n in range(1, 6)),
        *(Node(str(n), "3", f"branch {n}", f"state {n}", ("false",)) for n in range(6, 40)),
    ),
)


def test_a_tree_is_walked_with_keys(written: Written) -> None:
    shown = written(page_of(picture_document("t", None, None, Contents(trees=[TREE]))))
    page = shown.page
    page.locator("svg.stage").focus()
    page.keyboard.press("Tab")
    here = "document.activeElement.dataset.id"
    assert page.evaluate(here) == "0", "of all nodes one is reached by Tab"
    page.keyboard.press("ArrowDown")
    middle = page.evaluate(here)
    assert middle in ("1", "2", "3", "4", "5")
    page.keyboard.press("ArrowLeft" if int(middle) > 3 else "ArrowRight")
    assert abs(int(page.evaluate(here)) - int(middle)) == 1
    while page.evaluate(here) != "3":
        page.keyboard.press("ArrowLeft" if int(page.evaluate(here)) > 3 else "ArrowRight")
    page.keyboard.press("Enter")
    assert "state 3" in page.locator(".details").inner_text()
    assert page.evaluate(here) == "3", "what is chosen keeps the focus"
    page.keyboard.press("ArrowDown")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    assert page.evaluate(here) == "39"
    shown.settle()
    box = page.locator(".node[data-id='39']").bounding_box()
    stage = page.locator("svg.stage").bounding_box()
    assert box is not None and stage is not None
    assert stage["x"] <= box["x"] <= stage["x"] + stage["width"], "what has the focus is in sight"
    page.locator("svg.stage").focus()
    before = page.locator("svg.stage > g").get_attribute("transform")
    page.keyboard.press("ArrowRight")
    assert page.locator("svg.stage > g").get_attribute("transform") != before, "the drawing itself moves"


PRINTED = """() => {
  const pixel = () => {
    const canvas = document.querySelector("canvas.diagram");
    const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
    pen.drawImage(canvas, 3 - canvas.width, 3 - canvas.height);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  addEventListener("beforeprint", () => {
    const { diagram } = possibly.page().diagram;
    window.printed = { paper: pixel(), room: diagram.height, needed: diagram.contentHeight };
  });
  addEventListener("afterprint", () => (window.after = pixel()));
}"""


def test_on_paper_the_diagram_is_light_and_whole(written: Written) -> None:
    shown = written(example_page("ringbuffer-tasks/faulty.jsonl", "ringbuffer-tasks/ringbuffer.spec"))
    page = shown.page
    page.emulate_media(color_scheme="dark")
    shown.settle()
    page.evaluate(PRINTED)
    content = page.pdf(format="A4", print_background=True)
    assert content.startswith(b"%PDF") and len(content) > 10_000
    found = page.evaluate("window.printed")
    assert found["paper"][:3] == [255, 255, 255], "the page is dark, the paper is not"
    assert found["room"] >= found["needed"], "every lane is on it"
    shown.settle()
    assert page.evaluate("window.after")[:3] == [20, 23, 27], "the screen is as it was"


COVERED = """() => {
  const texts = [...document.querySelectorAll("svg.stage text")];
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  const found = [];
  boxes.forEach(([one, a], at) => boxes.slice(at + 1).forEach(([two, b]) => {
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) {
      found.push([one, two]);
    }
  }));
  return found;
}"""


@pytest.mark.parametrize("page", ["tree", "everything", "tasks"])
def test_no_text_of_a_drawing_covers_another(written: Written, page: str) -> None:
    made: dict[str, Callable[[], str]] = {
        "tree": lambda: page_of(picture_document("t", None, None, Contents(trees=[TREE]))),
        "everything": page_with_everything,
        "tasks": lambda: example_page("ringbuffer-tasks/faulty.jsonl", "ringbuffer-tasks/ringbuffer.spec"),
    }
    shown = written(made[page]())
    for view in shown.page.locator("nav button").all():
        view.click()
        shown.settle()
        assert shown.page.evaluate(COVERED) == [], view.inner_text()


APART = """() => {
  const boxes = ["header", ".left", ".diagram-box", ".words", ".orders", ".right"]
    .map((name) => [name, document.querySelector(name).getBoundingClientRect()]);
  const overlaps = [];
  for (const [one, a] of boxes) for (const [two, b] of boxes) {
    const across = a.left < b.right - 1 && b.left < a.right - 1;
    if (one < two && across && a.top < b.bottom - 1 && b.top < a.bottom - 1) overlaps.push([one, two]);
  }
  return overlaps;
}"""


@pytest.mark.parametrize(
    ("media", "width"), [("print", 794), ("print", 1400), ("screen", 1400), ("screen", 700)]
)
@pytest.mark.large("screen-700", "print-1400")
def test_no_part_covers_another(written: Written, media: Any, width: int) -> None:
    shown = written(example_page("ringbuffer-tasks/faulty.jsonl", "ringbuffer-tasks/ringbuffer.spec"))
    shown.page.set_viewport_size({"width": width, "height": 1100})
    shown.page.emulate_media(media=media)
    shown.settle()
    shown.shot(f"{media}-{width}")
    assert shown.page.evaluate(APART) == []
