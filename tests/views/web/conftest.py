"""A real Chromium for the tests of the page, one for all tests of this folder.

It is looked for under `POSSIBLY_CHROMIUM` and under its usual names; without one, or without Playwright, the
tests that need it are skipped and say so. Screenshots are kept in `build/pictures`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[3]
SHOTS = ROOT / "build" / "pictures"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def chromium() -> str | None:
    given = os.environ.get("POSSIBLY_CHROMIUM")
    return given or next((path for name in NAMES if (path := shutil.which(name))), None)


# Playwright keeps an event loop running in this thread, which tests of other folders would stumble over.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("no Chromium: install Debian's package chromium, or set POSSIBLY_CHROMIUM")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield found
        found.close()


FRAMES, MOST_FRAMES = 3, 600
_LOOK = """() => {
  const boxes = [...document.querySelectorAll("canvas, svg, .status, .card")].map((each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return [x, y, width, height];
  });
  const inside = window.possibly && possibly.page && possibly.page();
  const drawn = inside && inside.diagram && inside.diagram.diagram;
  const { cutXs, lanes, scale, left, top, height } = drawn || {};
  return JSON.stringify([boxes, cutXs, (lanes || []).map((lane) => lane.y), scale, left, top, height]);
}"""
"""Where everything stands on the screen."""


@dataclass
class Shown:
    """A page in the browser, with everything that it complained about or asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, address: str) -> Shown:
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready]")
        self.settle()
        return self

    def inside(self, expression: str, argument: Any = None) -> Any:
        """What the page itself says: `page` is its inside."""
        return self.page.evaluate(
            f"argument => {{ const page = possibly.page(); return ({expression}); }}", argument
        )

    def place(self, event: str) -> tuple[float, float]:
        """Where an event of the diagram stands on the screen, once it is drawn as it is now."""
        self.settle()
        found = self.inside("page.diagram.diagram.place(page.state.run.find(argument))", event)
        box = self.page.locator("canvas.diagram").bounding_box()
        assert found is not None and box is not None
        return box["x"] + found["x"], box["y"] + found["y"]

    def handle(self, process: str) -> tuple[float, float]:
        """Where the handle of a process's cut is, once it is drawn: a frame later than the cut has moved."""
        self.settle()
        found = self.inside(
            """(() => {
              const diagram = page.diagram.diagram;
              const number = page.state.run.processes.findIndex((each) => each.name === argument);
              const lane = diagram.lanes.findIndex((each) => each.process === number);
              return { x: diagram.cutXs[lane], y: diagram.lanes[lane].y - diagram.top };
            })()""",
            process,
        )
        box = self.page.locator("canvas.diagram").bounding_box()
        assert box is not None
        return box["x"] + found["x"], box["y"] + found["y"]

    def drag(self, start: tuple[float, float], x: float) -> None:
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + x) / 2, start[1])
        mouse.move(x, start[1])
        mouse.up()

    def cut(self) -> list[int]:
        found: list[int] = self.inside("page.state.cut")
        return found

    def settle(self) -> None:
        """Everything that was asked for is drawn, and nothing moves any more.

        What is drawn may change how much room there is, which is seen a frame later and drawn a frame after
        that: so it is over when the diagram looks the same for a few frames.
        """
        self.page.evaluate(f"""new Promise((done) => {{
          const look = {_LOOK};
          let before = "", same = 0, count = 0;
          const frame = () => {{
            const now = look();
            same = now === before ? same + 1 : 0;
            before = now;
            if (same >= {FRAMES} || ++count > {MOST_FRAMES}) done();
            else requestAnimationFrame(frame);
          }};
          requestAnimationFrame(frame);
        }})""")

    def shot(self, name: str) -> Path:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.settle()
        self.page.screenshot(path=SHOTS / f"{name}.png")
        return SHOTS / f"{name}.png"


@pytest.fixture
def shown(browser: Browser) -> Iterator[Shown]:
    """A fresh page; the test fails if anything in it went wrong."""
    context = browser.new_context(viewport={"width": 1400, "height": 860}, accept_downloads=True)
    found = Shown(context.new_page())
    found.page.set_default_timeout(90_000)  # a busy machine is slow, not wrong
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on(
        "console",
        lambda said: found.complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.on("dialog", lambda dialog: found.complaints.append(f"dialog {dialog.message}"))
    yield found
    complaints = list(found.complaints)
    context.close()
    assert complaints == []


@pytest.fixture
def written(tmp_path: Path, shown: Shown) -> Callable[[str], Shown]:
    """Opens a page's text from a file, offline."""

    def opened(text: str) -> Shown:
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        shown.page.context.set_offline(True)
        return shown.open(path.as_uri())

    return opened
