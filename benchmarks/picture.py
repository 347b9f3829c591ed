"""`make bench`: how long a page of a large run takes to make, to load and to move, in a real Chromium.

Loading is measured by the page itself, from the start of its navigation to the first drawing; a frame is the
time from frame to frame while the picture moves, painting included. The ratio is to a page of one event.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from benchmarks.run import row, timed
from possibly.order.computation import Computation
from possibly.trace import Trace, TraceBuilder
from possibly.verdict.model import Report
from possibly.views.web.page import render_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZES = (10_000, 100_000, 1_000_000)
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
MOVES = """async (scale) => {
  const view = possibly.page().diagram;
  Object.assign(view.diagram, { scale, left: 100 });
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const times = [];
  let before = await frame();
  for (let count = 0; count < 24; count++) {
    view.diagram.left += 2.5;
    view.draw();
    const now = await frame();
    times.push(now - before);
    before = now;
  }
  return times.sort((a, b) => a - b)[8];
}"""
"""Milliseconds from frame to frame while the picture moves; what others do on the machine only adds to it, so
the fastest third counts."""


def large_trace(events: int, processes: int = 8) -> Trace:
    """Workers that send each other messages, call functions and assign variables."""
    random = Random(7)
    names = [f"worker-{number}" for number in range(processes)]
    builder = TraceBuilder("large.jsonl")
    builder.header([(name, {"x": 0}) for name in names])
    flight: list[tuple[str, str]] = []
    depth = dict.fromkeys(names, 0)
    for number in range(events):
        name, choice = random.choice(names), random.random()
        if choice < 0.15:
            to = random.choice([other for other in names if other != name])
            builder.add(name, kind="send", msg=f"m{number}", to=to, at="work.py:3")
            flight.append((f"m{number}", to))
        elif choice < 0.3 and flight:
            message, to = flight.pop(0)
            builder.add(to, kind="receive", msg=message, at="work.py:9")
        elif choice < 0.35:
            builder.add(name, kind="enter", fn=f"f{depth[name]}")
            depth[name] += 1
        elif choice < 0.42 and depth[name]:
            depth[name] -= 1
            builder.add(name, kind="exit", fn=f"f{depth[name]}")
        else:
            builder.add(name, set={"x": random.randrange(999)}, label=f"step{number % 30}")
    return builder.finish()


def page_text(trace: Trace) -> str:
    report = Report(trace.file or "run", len(trace.processes), len(trace), ())
    return render_page(trace, Computation(trace), report)


def chromium() -> str | None:
    given = os.environ.get("POSSIBLY_CHROMIUM")
    return given or next((path for name in NAMES if (path := shutil.which(name))), None)


def measured(page: Page, text: str, folder: Path) -> tuple[float, float]:
    """Seconds to load, the best of three, and milliseconds a frame, the slowest of three scales."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    loads = []
    for _ in range(3):
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", timeout=120_000)
        loads.append(float(page.get_attribute("html", "data-ready") or "inf") / 1000)
    frames = [page.evaluate(MOVES, scale) for scale in (40, 4, 0.05)]
    return min(loads), max(frames)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="at most 100,000 events")
    sizes = SIZES[:2] if parser.parse_args().quick else SIZES
    print("the picture: making, loading and moving the page of a run")
    path = chromium()
    if path is None:
        print("  no Chromium: loading and moving are not measured")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as api, tempfile.TemporaryDirectory() as folder:
        browser = api.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 860})
        empty = measured(page, page_text(large_trace(1)), Path(folder))
        row("one event", f"{empty[0]:.2f} s to load", f"{empty[1]:.0f} ms a frame")
        for size in sizes:
            trace = large_trace(size)
            spent, text = timed(lambda trace=trace: page_text(trace))  # type: ignore[misc]
            load, frame = measured(page, text, Path(folder))
            row(f"{size:,} events, to make", f"{spent:.1f} s, {len(text) / 1e6:.1f} MB")
            row("  to load", f"{load:.2f} s", f"{load / empty[0]:.1f} x")
            row("  a frame", f"{frame:.0f} ms", f"{frame / empty[1]:.1f} x")
        browser.close()


if __name__ == "__main__":
    main()
