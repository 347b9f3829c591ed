"""`possibly watch` and its senders, as processes of their own: real sockets, real signals, real programs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

import possibly
from possibly.errors import PossiblyError
from possibly.session.watching.listening import Address
from possibly.trace import load
from possibly.views.cli.main import main
from tests.views.formats.sarif_schema import LOG
from tests.waiting import PATIENCE

SAFE = "AG(!(P1.cs & P2.cs))"
POSSIBLY = [sys.executable, "-m", "possibly"]
HEADER = {
    "format": "possibly-trace",
    "version": 1,
    "processes": [{"name": "P1", "init": {"cs": False}}, {"name": "P2", "init": {"cs": False}}],
}
ENTERS = [
    {"p": "P1", "set": {"cs": True}},
    {"p": "P1", "set": {"cs": False}},
    {"p": "P2", "set": {"cs": True}},
]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POSSIBLY_TOKEN", raising=False)


def text(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def watch_input(sent: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*POSSIBLY, "watch", "-", *words]
    return subprocess.run(command, input=sent, capture_output=True, text=True, timeout=PATIENCE, check=False)


class Monitor:
    """A running `possibly watch`."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [*POSSIBLY, "watch", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None and self.process.stdout is not None
        self.announced = self.process.stderr.readline()
        found = re.match(r"listening on (\S+?)(?:,|$)", self.announced)
        assert found, self.announced + self.process.stderr.read()
        self.address = found[1]

    def line(self) -> str:
        """The next line of standard output, as soon as it is there."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self, number: int | None = None) -> tuple[int, str, str]:
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


@contextmanager
def monitor(*words: str) -> Iterator[Monitor]:
    found = Monitor(*words)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.process.kill()
            found.process.communicate()


# ---- standard input ---------------------------------------------------------------------------------


def test_changes_are_printed_and_the_report_is_that_of_a_check() -> None:
    done = watch_input(text(HEADER, *ENTERS), "--ctl", SAFE, "--output", "run.jsonl")
    assert done.returncode == 1
    lines = done.stdout.split("\n")
    assert lines[0] == "after 0 events: HOLDS so far ctl1"
    assert lines[1] == "after 3 events: VIOLATED ctl1, at the cut P1: 1, P2: 1, since P2:1"
    assert lines[2] == "standard input: 2 processes, 3 events"
    assert "Show it again: possibly check run.jsonl --ctl 'AG(!(P1.cs & P2.cs))'" in done.stdout
    assert main(["check", "run.jsonl", "--ctl", SAFE]) == 1


PLACED = [{**line, "at": f"peer.py:{number}"} for number, line in enumerate(ENTERS, 11)]


def watched_as(name: str) -> str:
    """The document that is printed, in a folder with the source that the events speak of."""
    Path("peer.py").write_text("\n" * 20, encoding="utf-8")
    done = watch_input(text(HEADER, *PLACED), "--ctl", SAFE, "--ctl", "EF(P2.cs)", "--format", name)
    assert done.returncode == 1 and "VIOLATED ctl1" in done.stderr
    return done.stdout


def test_in_a_workflow_a_violation_is_annotated_at_its_line() -> None:
    error, notice = watched_as("github").splitlines()
    assert error.startswith("::error file=peer.py,line=13,title=possibly%3A ctl1::VIOLATED  ctl1")
    assert notice.startswith("::notice file=peer.py,line=12,title=possibly%3A ctl1::P1:2")


def test_for_junit_every_property_is_a_case() -> None:
    (suite,) = ElementTree.fromstring(watched_as("junit"))
    violated, holds = suite
    assert (violated.get("name"), violated.get("file"), violated.get("line")) == ("ctl1", "peer.py", "13")
    assert violated.find("failure") is not None and len(holds) == 0


def test_sarif_follows_its_schema() -> None:
    found = json.loads(watched_as("sarif"))
    jsonschema.validate(found, LOG)
    (result,) = found["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("peer.py", 13)


def test_a_line_that_cannot_be_read_is_an_error_in_every_format() -> None:
    for name in ("github", "junit", "sarif"):
        done = watch_input(text(HEADER) + "{broken\n", "--ctl", SAFE, "--format", name)
        assert done.returncode == 2
        assert "standard input:2:2: broken JSON" in done.stdout


def test_json_is_one_document_and_the_rest_goes_elsewhere() -> None:
    done = watch_input(text(HEADER, *ENTERS), "--ctl", SAFE, "--ctl", "EF(P2.cs)", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and "VIOLATED ctl1" in done.stderr
    first, second = found["properties"]
    assert (first["verdict"], first["final"]) == ("violated", True)
    assert first["moment"] == {"event": "P2:1", "events": 3, "cut": {"P1": 1, "P2": 1}}
    assert first["witness"]["cut"] == {"P1": 1, "P2": 1}
    assert (second["verdict"], second["final"]) == ("holds", True)


@pytest.mark.parametrize(
    ("sent", "words", "status"),
    [
        (text(HEADER, *ENTERS[:2]), ["--ctl", SAFE], 0),
        (text(HEADER, *ENTERS), ["--ctl", SAFE], 1),
        (text(HEADER, *ENTERS), ["--ltl", "F(P1.cs & F P2.cs)", "--keep", "1"], 3),
        (text(HEADER) + "{", ["--ctl", SAFE], 2),
        ("", ["--ctl", SAFE], 2),
        (text(HEADER), [], 2),
        (text(HEADER), ["--ctl", "AG("], 2),
        (text(HEADER), ["--ctl", "AG(P3.x == 1)"], 2),
        (text(HEADER, {"p": "P1", "k": 2}), ["--ctl", SAFE], 2),
        (text(HEADER), ["--ctl", SAFE, "--keep", "0", "--output", "run.jsonl"], 2),
    ],
)
def test_the_exit_status_is_that_of_the_contract(sent: str, words: list[str], status: int) -> None:
    done = watch_input(sent, *words)
    assert done.returncode == status, done
    assert "Traceback" not in done.stderr and (status != 2 or "possibly: " in done.stderr)


def test_a_bad_line_is_named() -> None:
    done = watch_input(text(HEADER, *ENTERS) + '{"p": "P2", "set": {\n', "--ctl", SAFE, "--json")
    assert done.returncode == 2
    assert "possibly: standard input:5:21: broken JSON" in done.stderr
    found = json.loads(done.stdout)
    assert found["properties"][0]["verdict"] == "violated", "what was final before stays"
    assert found["errors"] == [done.stderr.split("possibly: ")[1].split("\n")[0]]


# ---- sockets ----------------------------------------------------------------------------------------


def test_several_connections_in_any_order() -> None:
    with monitor("0", "--connections", "2", "--token-file", "token", "--ctl", SAFE) as watching:
        assert stat.S_IMODE(os.stat("token").st_mode) == 0o600
        token = Path("token").read_text().strip()
        first = possibly.connect(watching.address, {"P1": {"cs": False}}, token=token)
        second = possibly.connect(watching.address, {"P2": {"cs": False}}, token=token)
        assert watching.line() == "after 0 events: HOLDS so far ctl1\n"
        first.event("P1", kind="receive", msg="m", set={"cs": True})  # before its send
        second.event("P2", kind="send", msg="m", to="P1", set={"cs": True})
        found = "after 2 events: VIOLATED ctl1, at the cut P1: 1, P2: 1, since P1:1\n"
        assert watching.line() == found, "while both are connected"
        first.close()
        second.close()
        status, out, _ = watching.end()
        assert status == 1 and "2 processes, 2 events" in out


def test_without_the_token_nothing_is_heard() -> None:
    with monitor("0", "--connections", "1", "--ctl", SAFE) as watching:
        port = int(watching.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.sendall(text(HEADER, *ENTERS).encode())
            assert stranger.recv(1) == b"", "it is closed"
        token = watching.announced.split()[-1]
        with possibly.connect(
            watching.address, {"P1": {"cs": False}, "P2": {"cs": False}}, token=token
        ) as own:
            own.event("P1", set={"cs": True})
        status, out, err = watching.end()
        assert status == 0 and "1 event" in out
        assert re.search(r'connection 1 \(127.0.0.1:\d+\):1: the header needs the "token"', err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_prints_the_verdicts_so_far(number: int) -> None:
    with monitor("unix:m.sock", "--ctl", SAFE, "--ctl", "EF(P2.cs)") as watching:
        assert stat.S_IMODE(os.stat("m.sock").st_mode) == 0o600
        with possibly.connect("unix:m.sock", {"P1": {"cs": False}, "P2": {"cs": False}}) as own:
            own.event("P2", set={"cs": True})
            own.event("P1", k=2)
            lines = [watching.line() for _ in range(3)]
            assert lines[-1] == "after 1 event: HOLDS ctl2, at the cut P1: 0, P2: 1, since P2:1\n"
            status, out, err = watching.end(number)
    assert status == 0 and "HOLDS     ctl1" in out and "HOLDS     ctl2" in out
    assert "1 line left out, P1:2 first, which waits for event" in err
    assert not Path("m.sock").exists()


def test_it_stops_when_every_verdict_is_final() -> None:
    processes = {"P1": {"cs": False}, "P2": {"cs": False}}
    with (
        monitor("unix:m.sock", "--stop", "--ctl", SAFE) as watching,
        possibly.connect("unix:m.sock", processes) as own,
    ):
        for fields in ENTERS:
            own.line(fields)
        status, _, _ = watching.end()
    assert status == 1


def test_a_monitor_that_was_killed_leaves_no_trouble() -> None:
    with monitor("unix:m.sock", "--ctl", SAFE) as first:
        first.end(signal.SIGKILL)
    assert Path("m.sock").exists()
    with monitor("unix:m.sock", "--ctl", SAFE):
        assert main(["watch", "unix:m.sock", "--ctl", SAFE]) == 2, "one is listening there"


def test_a_sender_outlives_its_monitor(capsys: pytest.CaptureFixture[str]) -> None:
    with monitor("unix:m.sock", "--ctl", SAFE) as watching:
        own = possibly.connect("unix:m.sock", {"P1": {"cs": False}, "P2": {"cs": False}})
        watching.line()
        watching.end(signal.SIGINT)
        while own.is_open:
            own.event("P1")
        own.event("P1")
    assert "the monitor is gone" in capsys.readouterr().err
    with pytest.raises(PossiblyError, match="no monitor answers at unix:m.sock"):
        possibly.connect("unix:m.sock")


@pytest.mark.parametrize("words", [["0.0.0.0:0"], ["example.org:80"], ["seven"], ["127.0.0.1:99999"]])
def test_only_this_machine_is_listened_to(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", *words, "--ctl", SAFE]) == 2
    assert capsys.readouterr().err.startswith("possibly: ")


def test_addresses() -> None:
    assert Address.of("7007") == Address("127.0.0.1", 7007)
    assert str(Address.of("[::1]:7")) == "[::1]:7" and Address.of("[::1]:7").host == "::1"
    assert str(Address.of("unix:a:b")) == "unix:a:b"


# ---- recorded programs ------------------------------------------------------------------------------

PROGRAM = """
import threading
import possibly

def work(name, key):
    possibly.event(cs=True)
    possibly.event(cs=False)

threads = [threading.Thread(target=work, args=(name, 0), name=name) for name in ("P1", "P2")]
for thread in threads:
    thread.start()
    thread.join()
input()  # whoever watches knows already
"""


def test_a_recorded_program_is_watched_while_it_runs() -> None:
    Path("program.py").write_text(PROGRAM)
    words = ["--process", "P1", "--process", "P2", "--ctl", "EF(P2.cs)", "--ctl", SAFE]
    with monitor("unix:m.sock", "--connections", "1", "--output", "watched.jsonl", *words) as watching:
        program = subprocess.Popen(
            [*POSSIBLY, "run", "--send", "unix:m.sock", "-o", "run.jsonl", "program.py"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        lines = [watching.line() for _ in range(3)]
        assert any(
            re.match(r"after \d+ events: HOLDS ctl1, at the cut .*, since P2:2", line) for line in lines
        )
        assert program.poll() is None, "it waits for us"
        _, err = program.communicate("\n", timeout=PATIENCE)
        assert program.returncode == 0, err
        status, out, _ = watching.end()
    assert status == 0 and "HOLDS     ctl2" in out
    whole, watched = load(Path("run.jsonl")), load(Path("watched.jsonl"))
    assert [whole.name(event) for event in range(len(whole))] == [
        watched.name(event) for event in range(len(watched))
    ]


# ---- the example ------------------------------------------------------------------------------------

EXAMPLE = Path(__file__).parents[2] / "examples" / "monitor"


def test_two_processes_of_their_own() -> None:
    words = ["--connections", "2", "--spec", str(EXAMPLE / "workers.spec"), "--json"]
    with monitor("unix:m.sock", *words) as watching:
        command = [sys.executable, str(EXAMPLE / "workers.py"), "unix:m.sock"]
        subprocess.run(command, check=True, timeout=PATIENCE)
        status, out, err = watching.end()
    apart, finished = json.loads(out)["properties"]
    # Whose header comes first is not known, and so not which of the two is named first.
    assert status == 1 and re.search(r"VIOLATED apart, at the cut (P1: 1, P2: 1|P2: 1, P1: 1), since", err)
    assert (apart["verdict"], apart["final"]) == ("violated", True)
    assert finished["verdict"] == "holds"


def test_whoever_is_silent_is_sent_away() -> None:
    """With a clock of its own: a minute passes when nothing comes, and then somebody else connects."""
    from possibly.logic.specification import Specification, property_from_text
    from possibly.session.checking.check import Options
    from possibly.session.watching.intake import Intake
    from possibly.session.watching.listening import Loop, listening
    from possibly.session.watching.watch import WatchedRun

    run = WatchedRun(Specification(properties=(property_from_text("ctl", SAFE, "safe"),)), Options())
    now = [0.0]

    def has_time() -> None:
        if not now[0]:
            now[0] = 60.0
            possibly.connect("unix:m.sock", {"P1": {"cs": False}, "P2": {"cs": False}}).close()

    with listening(Address(path="m.sock")) as (server, _), socket.socket(socket.AF_UNIX) as silent:
        silent.connect("m.sock")
        loop = Loop(Intake(run), has_time, print, announced=1, clock=lambda: now[0])
        loop.serve(server, needs_token=False)
        assert silent.recv(1) == b"" and run.has_begun
    assert not loop.is_interrupted
    run.close()
