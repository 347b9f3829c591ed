"""The live server: who may ask, what it does, and the live page in a browser."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from possibly.views.cli.drawing.serve import live_page
from possibly.views.cli.main import main, parser
from possibly.views.web.server import Server, serving
from tests.views.web.conftest import Shown
from tests.waiting import PATIENCE

EXAMPLES = Path(__file__).parents[3] / "examples"
MUTEX = [str(EXAMPLES / "mutex/run.jsonl"), "--spec", str(EXAMPLES / "mutex/mutex.spec")]


def opened(*words: str) -> Any:
    return live_page(parser().parse_args(["view", *words]))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(opened(*MUTEX)) as found:
        yield found


def answer(
    server: Server, method: str, path: str, headers: Mapping[str, str | None], body: str | None = None
) -> tuple[int, str, Mapping[str, str]]:
    """Status, text and headers of the answer; a header that is None is not sent."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=True)
    given = {"Host": f"127.0.0.1:{server.server_port}", **headers}
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    content = (body or "").encode()
    if body is not None:
        connection.putheader("Content-Length", str(len(content)))
    connection.endheaders(content or None)
    found = connection.getresponse()
    text = found.read().decode()
    connection.close()
    return found.status, text, dict(found.getheaders())


def asking(server: Server, what: str, body: object, **changes: str | None) -> tuple[int, dict[str, Any]]:
    """A request as the page makes it, but for the changes."""
    headers = {
        "Origin": f"http://127.0.0.1:{server.server_port}",
        "X-Possibly-Token": server.token,
        "Content-Type": "application/json",
        **{name.replace("_", "-"): value for name, value in changes.items()},
    }
    status, text, _ = answer(server, "POST", f"/api/{what}", headers, json.dumps(body))
    return status, json.loads(text) if text.startswith("{") else {}


def test_it_listens_on_the_loopback_interface_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.socket.family == socket.AF_INET


def test_the_page_needs_the_token(server: Server) -> None:
    status, text, headers = answer(server, "GET", f"/?token={server.token}", {})
    assert status == 200 and "<!DOCTYPE html>" in text
    assert "connect-src 'self'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store" and headers["X-Frame-Options"] == "DENY"
    for path in ("/", "/?token=", "/?token=x", f"/?token={server.token}x", f"/?key={server.token}"):
        status, text, _ = answer(server, "GET", path, {})
        assert status == 403 and "mutex" not in text, path
    assert answer(server, "GET", f"/etc/passwd?token={server.token}", {})[0] == 404


@pytest.mark.parametrize(
    "changes",
    [
        {"X_Possibly_Token": "guess"},
        {"X_Possibly_Token": None},
        {"Origin": "http://evil.example"},
        {"Origin": None},
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": None},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
def test_a_request_from_anywhere_else_is_refused(server: Server, changes: dict[str, str | None]) -> None:
    before = server.page.document()
    status, found = asking(server, "check", {"language": "ctl", "formula": "EF(P1.critical)"}, **changes)
    assert status == 403 and found == {}
    assert server.page.document()["properties"] == before["properties"], "nothing was done"


def test_a_good_request_is_answered(server: Server) -> None:
    status, found = asking(server, "check", {"language": "ctl", "formula": "EF(P1.critical & P2.critical)"})
    assert status == 200
    assert [(each["name"], each["truth"]) for each in found["properties"]] == [
        ("ctl1", "holds"),
        ("mutex", "violated"),
    ]
    status, found = asking(server, "slice", {"formula": "P1.critical"})
    assert status == 200 and found["slices"][0]["text"] == "P1.critical"
    assert "trace" not in found and "trace" in server.page.document(), "the page has the run already"


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("check", {"language": "ctl", "formula": "AG("}),
        ("check", {"language": "perl", "formula": "x"}),
        ("check", {"formula": "x"}),
        ("check", []),
        ("slice", {"formula": "P9.x"}),
        ("operate", {"what": "stacks", "index": 7, "action": "pop", "values": {}}),
        ("operate", {"what": "stacks", "index": 0, "action": "dance", "values": {}}),
        ("operate", {"what": "stacks", "index": 0, "action": "pop", "values": {}}),
        ("operate", {"what": "lists", "index": 0, "action": "pop", "values": {}}),
        ("nothing", {}),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_said_and_changes_nothing(server: Server, what: str, body: object) -> None:
    before = json.dumps(server.page.document())
    status, found = asking(server, what, body)
    assert status == 400 and found["error"]
    assert json.dumps(server.page.document()) == before


def test_a_body_that_is_no_document_is_refused(server: Server) -> None:
    for kind, body in (("text/plain", "{}"), ("application/json", "{"), ("application/json", "[" * 100_000)):
        headers = {
            "Origin": f"http://127.0.0.1:{server.server_port}",
            "X-Possibly-Token": server.token,
            "Content-Type": kind,
        }
        assert answer(server, "POST", "/api/check", headers, body)[0] == 400


def test_an_error_of_our_own_is_said_and_the_server_goes_on(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(server.page, "_parts", lambda: 1 / 0)
        status, text, _ = answer(server, "GET", f"/?token={server.token}", {})
        assert status == 500 and text.startswith("an error of possibly itself")
        status, found = asking(server, "slice", {"formula": "P1.critical"})
        assert status == 500 and "ZeroDivisionError" in found["error"]
    assert answer(server, "GET", f"/?token={server.token}", {})[0] == 200


def test_tokens_differ_and_are_long() -> None:
    page = opened(MUTEX[0])
    with Server(page) as one, Server(page) as two:
        assert one.token != two.token and len(one.token) > 40


@contextmanager
def served(*words: str) -> Iterator[str]:
    """The address that the command prints; it is interrupted in the end, and that is its normal end."""
    command = [sys.executable, "-m", "possibly", "view", *words, "--serve", "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "src")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().removeprefix("Page: ").strip()
            assert process.stdout.readline() == "Ctrl-C ends it.\n"
            yield address
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_the_command_serves_until_it_is_interrupted() -> None:
    with served(*MUTEX) as address, urlopen(address, timeout=PATIENCE) as page:
        assert b"<!DOCTYPE html>" in page.read()


def test_a_port_that_is_taken_is_named(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["view", *MUTEX, "--serve", "--no-browser", "--port", str(server.server_port)]
    assert main(words) == 2
    assert f"port {server.server_port}" in capsys.readouterr().err


# ---- in the browser -------------------------------------------------------------------------------


def test_the_live_page_asks_further_properties_and_slices(server: Server, shown: Shown) -> None:
    page = shown.open(server.address).page
    page.get_by_label("formula", exact=True).fill("EF(P1.critical & P2.critical)")
    page.get_by_role("button", name="check", exact=True).click()
    page.locator('[data-property="ctl1"]').wait_for()
    assert page.locator(".property .badge").all_inner_texts() == ["✓ HOLDS", "✗ VIOLATED"]
    page.get_by_label("language").select_option("slice")
    page.get_by_label("formula", exact=True).fill("P2.critical")
    page.get_by_role("button", name="check", exact=True).click()
    page.locator("[data-view=slice][aria-selected=true]").wait_for()
    assert page.get_by_label("predicate").input_value() == "0"
    page.get_by_label("formula", exact=True).fill("P2.(")
    page.get_by_role("button", name="check", exact=True).click()
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("alert").inner_text()
    shown.complaints[:] = [said for said in shown.complaints if "400" not in said]
    assert all(url.startswith(f"http://127.0.0.1:{server.server_port}/") for url in shown.requests)


def test_the_temporal_stack_of_a_run_is_operated_from_the_page(server: Server, shown: Shown) -> None:
    page = shown.open(server.address).page
    page.locator("[data-view=stack-0]").click()
    step = page.locator("form[data-action=step]")
    step.locator("input").fill("F(P1.critical & P2.critical)")
    step.locator("button").click()
    page.locator(".frame").wait_for()
    shown.shot("stack")
    assert "F(P1.critical & P2.critical)" in page.locator(".frame").inner_text()
    assert shown.cut() == [3, 2], "the run's cut follows the stack"
    facts = page.locator(".details").inner_text().split("\n")
    assert facts[facts.index("P1.critical") + 1] == "true"
    page.locator("[data-action=next]", has_text="next P2").click()
    page.locator(".frame").nth(1).wait_for()
    page.locator("[data-action=pop]").click()
    page.locator(".frame").nth(1).wait_for(state="detached")
    page.locator("[data-action=back]").click()
    page.get_by_text("There is no such step from here.").wait_for()
    assert page.locator(".frame").count() == 0, "the step had no other way"


def test_a_model_is_stepped_through_with_its_flow_graphs(shown: Shown) -> None:
    with serving(opened(str(EXAMPLES / "models/dekker.py"))) as server:
        page = shown.open(server.address).page
        step = page.locator("form[data-action=step]")
        step.locator("input").fill('F at(P0, "m8")')
        step.locator("button").click()
        page.locator(".frame").wait_for()
        page.locator("[data-view=graphs]").click()
        marked = page.locator(".node.marked text")
        assert marked.first.text_content() == "m8: critical = 0"
        shown.shot("flow-graph")


def test_a_plain_program_is_stepped_through_as_it_runs(shown: Shown) -> None:
    """Threads of an unchanged program: each step runs it again under control."""
    with served(str(EXAMPLES / "bugs/lost-update/buggy.py")) as address:
        page = shown.open(address).page
        step = page.locator("form[data-action=step]")
        step.locator("input").fill("F(balance == 10)")
        step.locator("button").click()
        page.locator(".frame").wait_for()
        assert "teller-1:10 write balance" in page.locator(".frame").inner_text()
        facts = page.locator(".details").inner_text().split("\n")
        assert facts[facts.index("balance") + 1] == "10"
        page.locator("[data-action=next]", has_text="next MainThread").click()
        page.locator(".frame").nth(1).wait_for()
        page.locator("[data-action=next]", has_text="next teller-2").click()
        page.locator(".frame").nth(2).wait_for()
        shown.shot("program")
        assert "read balance" in page.locator(".frame").first.inner_text()
        page.locator("[data-action=pop]").click()
        page.locator(".frame").nth(2).wait_for(state="detached")
        step.locator("input").fill("G(balance == 7)")
        step.locator("button").click()
        page.get_by_text("There is no such step from here.").wait_for()
