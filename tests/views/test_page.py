"""The page: self-contained, and safe whatever the trace says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from possibly.order.computation import Computation
from possibly.records import replace
from possibly.trace import TraceBuilder
from possibly.verdict.model import (
    Atom,
    Change,
    Explanation,
    MissingOrder,
    Report,
    Step,
    Truth,
    Verdict,
    Witness,
)
from possibly.views.web import static
from possibly.views.web.document import Contents
from possibly.views.web.page import BUNDLE, asset, policy, render_page
from tests.views.samples import HOLDS, UNKNOWN, VIOLATED, mutex_trace, report_of
from tests.views.test_markup import Reader

ROOT = Path(__file__).parents[2]
ALLOWED = """
    html head meta title style body div noscript script h1 h2 p ul li code section table thead tbody tr th td
"""
TAGS = frozenset(ALLOWED.split())


def page_of(report: Report) -> str:
    found = mutex_trace()
    return render_page(found, Computation(found), report)


def document_in(page: str) -> dict[str, object]:
    """The document that a page carries."""
    (text,) = re.findall(r'<script id="document" type="application/json">(.*?)</script>', page, re.DOTALL)
    found: dict[str, object] = json.loads(text)
    return found


def without_script(page: str) -> Reader:
    (text,) = re.findall(r"<noscript>(.*?)</noscript>", page, re.DOTALL)
    return Reader(text)


def test_without_scripts_the_page_still_tells_the_whole_story() -> None:
    text = " ".join(without_script(page_of(report_of(VIOLATED))).texts)
    for part in (
        "run.jsonl",
        "2 processes, 5 events, causal order",
        "violated",
        "ctl AG(!(P1.cs & P2.cs))",
        "The recorded order satisfies it; another order of the same events does not.",
        "A failing order: it ends where P1.cs & P2.cs is true.",
        "Nothing orders P1:3 (internal, peer.py:6) before P2:2 (internal [enter], peer.py:10)",
        "P2.cs: false -> true",
        "P1.cs = true, P2.cs = true",
    ):
        assert part in text


def test_there_is_a_property_a_verdict() -> None:
    text = page_of(report_of(VIOLATED, HOLDS, UNKNOWN))
    assert re.findall(r'<section id="(property-\d)"', text) == ["property-0", "property-1", "property-2"]
    found = document_in(text)["properties"]
    assert isinstance(found, list)
    assert [each["truth"] for each in found] == ["violated", "holds", "unknown"]
    assert found[0]["path"] == [0, 1, 3, 4] and found[0]["cut"] == [2, 2]
    assert found[0]["missing"] == {"first": 2, "second": 4, "text": found[0]["missing"]["text"]}
    assert "Undecided: 1,000 cuts were visited; raise --max-cuts." in found[2]["facts"]


def test_commands_stand_with_the_answers() -> None:
    found = mutex_trace()
    contents = Contents(commands=lambda verdict: [("Show it again", f"possibly check {verdict.name}")])
    page = render_page(found, Computation(found), report_of(VIOLATED), contents)
    properties = document_in(page)["properties"]
    assert isinstance(properties, list)
    assert properties[0]["commands"] == [["Show it again", "possibly check mutex"]]


def test_nothing_is_loaded_and_nothing_runs_but_the_bundle() -> None:
    text = page_of(report_of(VIOLATED))
    reader = Reader(text)
    assert set(reader.tags) <= TAGS
    assert not [
        name for name, _ in reader.attributes if name.startswith("on") or name in ("src", "style", "href")
    ]
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = [b64encode(sha256(each.encode()).digest()).decode() for each in (script, style)]
    (found,) = (value for _, value in reader.attributes if value and value.startswith("default-src"))
    assert found == (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    assert "connect-src 'self'" in policy(live=True)


def test_the_bundle_evaluates_no_text_and_names_no_host() -> None:
    script, style = (asset(name) for name in BUNDLE)
    assert not re.search(r"\beval\(|\bFunction\(", script)
    sources = "".join(path.read_text() for path in (ROOT / "web-src/src").glob("*.ts"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\.html\(", sources)
    assert "</script" not in script.lower() and "</style" not in style.lower()
    assert set(re.findall(r"https?://[\w.]+", script)) <= {"http://www.w3.org"}, "names of XML spaces only"
    assert "http" not in style and "@import" not in style


def test_the_licences_of_the_libraries_are_shipped() -> None:
    text = asset("LICENCES.txt")
    wanted = json.loads((ROOT / "web-src/package.json").read_text())["dependencies"]
    for name, version in wanted.items():
        assert f"{name} {version} (" in text
    assert text.count("WARRANTIES") >= len(wanted)


@pytest.mark.skipif(
    shutil.which("node") is None or not (ROOT / "web-src/node_modules").is_dir(),
    reason="node or web-src/node_modules is missing: the bundle cannot be made again (make page)",
)
def test_the_bundle_is_up_to_date(tmp_path: Path) -> None:
    subprocess.run(
        ["node", "build.mjs", str(tmp_path)], cwd=ROOT / "web-src", check=True, capture_output=True
    )
    for name in (*BUNDLE, "LICENCES.txt"):
        assert (tmp_path / name).read_text() == asset(name), f"{name} is old: run make page"


EVIL = "</title></style><script>alert(1)</script><img src=x onerror='y'>\" onload=\"z"


def evil_report() -> Report:
    step = Step(EVIL, EVIL, EVIL, EVIL, EVIL, EVIL, EVIL, (Change(EVIL, EVIL, EVIL),))
    atoms = (Atom(EVIL, False, {EVIL: EVIL}),)
    explanation = Explanation(EVIL, (step,), {EVIL: EVIL}, atoms, MissingOrder(step, step))
    verdict = Verdict(
        EVIL, "ctl", EVIL, Truth.VIOLATED, observed=False, faults=(EVIL,), explanation=explanation
    )
    witness = Witness({EVIL: 1}, (EVIL,))
    return Report(EVIL, 1, 1, (replace(verdict, witness=witness), replace(UNKNOWN, reason=EVIL)), (EVIL,))


def test_a_hostile_trace_stays_text() -> None:
    builder = TraceBuilder(EVIL)
    builder.header([(EVIL, {EVIL: EVIL})])
    builder.add(EVIL, id=EVIL, kind=EVIL, set={EVIL: EVIL}, fn=EVIL, at=EVIL, label=EVIL, msg=EVIL)
    found = builder.finish()
    reader = Reader(render_page(found, Computation(found), evil_report()))
    assert set(reader.tags) <= TAGS
    assert reader.tags.count("script") == 2
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert sum(EVIL in text for text in reader.texts) >= 10


def test_of_a_long_order_the_static_report_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "MOST_STEPS", 3)
    assert "Left out: the first 1 step." in page_of(report_of(VIOLATED))


def test_the_page_is_the_same_every_time() -> None:
    assert page_of(report_of(VIOLATED, HOLDS)) == page_of(report_of(VIOLATED, HOLDS))
