"""A monitor on a durable stream: whatever is killed, the verdicts are those of an undisturbed run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from possibly.errors import PossiblyError
from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options
from possibly.session.watching.intake import Intake
from possibly.session.watching.sending import Sender
from possibly.session.watching.streams.checkpoint import Checkpoint
from possibly.session.watching.streams.following import StreamLoop
from possibly.session.watching.streams.messages import Message, StreamAddress
from possibly.session.watching.streams.nats_stream import NatsSource
from possibly.session.watching.streams.redis_stream import RedisSource
from possibly.session.watching.watch import WatchedRun
from possibly.verdict.model import Truth
from tests.session.streams.servers import SCHEMES, Network, Server, until
from tests.waiting import PATIENCE

HOLDS, FAILS = "AG(!(P.x == 7 & Q.x == 7))", "AG(!(P.x == 5 & Q.x == 3))"
ROUNDS = 400
SOURCES = (NatsSource, RedisSource)
"""Imported here: two threads that import for the first time can meet in the parser of CPython 3.11."""


@pytest.fixture
def server(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    monkeypatch.setenv("POSSIBLY_OUTBOX", str(tmp_path / "outbox"))
    found = Server(request.param, tmp_path)
    yield found
    found.kill()


real = pytest.mark.parametrize("server", SCHEMES, indirect=True)


def specification() -> Specification:
    found = [property_from_text("ctl", text, name) for name, text in (("holds", HOLDS), ("fails", FAILS))]
    return Specification(properties=tuple(found))


def moments_of(run: WatchedRun) -> dict[str, int | None]:
    return {name: None if moment is None else moment.events for name, (_, moment) in run.moments().items()}


class Monitor:
    """A loop in a thread, which ends with the test."""

    def __init__(self, address: str, state: Path, senders: int = 1) -> None:
        self.run = WatchedRun(specification(), Options(), keep=0)
        self.said: list[PossiblyError] = []
        checkpoint = Checkpoint(str(state), "test")
        intake, place = Intake(self.run, connections=senders), StreamAddress.of(address)
        self.loop = StreamLoop(place, "test", intake, checkpoint, self.said.append, announced=senders)
        self.thread = threading.Thread(target=self.loop.run, daemon=True)
        self.thread.start()

    def result(self) -> tuple[int, dict[str, Truth], dict[str, int | None]]:
        self.thread.join(60)
        assert not self.thread.is_alive() and not self.run.errors
        report = self.run.report(is_whole=True)
        moments = moments_of(self.run)
        return self.run.events, {each.name: each.truth for each in report.verdicts}, moments


def events(first: int, last: int) -> Iterator[dict[str, Any]]:
    """Rounds of messages; at round 300 what must not be."""
    for number in range(first, last):
        x = 5 if number == 300 else number % 3
        yield {"p": "P", "set": {"x": x}}
        yield {"p": "P", "kind": "send", "msg": f"m{number}", "to": "Q", "set": {"x": 0}}
        yield {"p": "Q", "set": {"x": 3 if number == 300 else 0}}
        yield {"p": "Q", "kind": "receive", "msg": f"m{number}", "set": {"x": 1}}


def expected() -> tuple[int, dict[str, Truth], dict[str, int | None]]:
    """An undisturbed run, without any stream."""
    run = WatchedRun(specification(), Options(), keep=0)
    run.header({"processes": [{"name": name, "init": {"x": 0}} for name in "PQ"]})
    run.begin()
    for fields in events(0, ROUNDS):
        run.arrive(fields)
    moments = moments_of(run)
    report = run.report(is_whole=True)
    return run.events, {each.name: each.truth for each in report.verdicts}, moments


def test_the_undisturbed_run_is_what_the_others_are_compared_with() -> None:
    found = expected()
    assert found[0] == 4 * ROUNDS and found[1] == {"holds": Truth.HOLDS, "fails": Truth.VIOLATED}
    assert found[2] == {"holds": None, "fails": 1203}


def send(sender: Sender, first: int, last: int) -> None:
    for fields in events(first, last):
        sender.event(**fields)


def connected(address: str, *names: str) -> Sender:
    return Sender(address, {name: {"x": 0} for name in names or ("P", "Q")})


@real
def test_the_server_is_killed(server: Server, tmp_path: Path) -> None:
    monitor, sender = Monitor(server.address(), tmp_path / "state"), connected(server.address())
    send(sender, 0, 100)
    until(lambda: monitor.run.events > 0, "the first event")
    server.kill()
    send(sender, 100, 300)
    server.start()
    send(sender, 300, ROUNDS)
    sender.close()
    assert monitor.result() == expected()


@real
def test_the_network_is_cut(server: Server, tmp_path: Path) -> None:
    network = Network(server.port)
    address = server.address(network.port)
    monitor, sender = Monitor(address, tmp_path / "state"), connected(address)
    send(sender, 0, 200)
    until(lambda: monitor.run.events > 0, "the first event")
    network.cut()
    send(sender, 200, 350)
    network.mend()
    send(sender, 350, ROUNDS)
    sender.close()
    assert monitor.result() == expected()
    network.close()


SENDER = """
import json, os, signal, sys
from possibly.session.watching.sending import Sender
sender = Sender(sys.argv[1], {"P": {"x": 0}, "Q": {"x": 0}})
for line in sys.stdin:
    sender.event(**json.loads(line))
os.kill(os.getpid(), signal.SIGKILL)
"""


@real
def test_the_sender_is_killed_while_the_server_is_away(server: Server, tmp_path: Path) -> None:
    server.kill()
    lines = "".join(json.dumps(fields) + "\n" for fields in events(0, ROUNDS))
    command = [sys.executable, "-c", SENDER, server.address()]
    dead = subprocess.run(command, input=lines, text=True, capture_output=True, check=False)
    assert dead.returncode == -signal.SIGKILL
    server.start()
    monitor = Monitor(server.address(), tmp_path / "state", senders=2)
    connected(server.address(), "R").close()  # takes along what the dead one left
    assert monitor.result() == expected()
    assert not list((tmp_path / "outbox").rglob("*.lines"))


def watching(address: str, state: Path) -> subprocess.Popen[str]:
    words = ["watch", address, "--connections", "1", "--state", str(state), "--json"]
    words += ["--ctl", HOLDS, "--ctl", FAILS]
    command = [sys.executable, "-m", "possibly", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@real
def test_the_monitor_is_killed(server: Server, tmp_path: Path) -> None:
    sender, state = connected(server.address()), tmp_path / "state"
    send(sender, 0, 250)
    monitor = watching(server.address(), state)
    until((state / "checkpoint").exists, "a checkpoint")
    monitor.kill()
    monitor.communicate()
    send(sender, 250, ROUNDS)
    sender.close()
    monitor = watching(server.address(), state)
    found = json.loads(monitor.communicate(timeout=PATIENCE)[0])
    count, truths, moments = expected()
    assert monitor.returncode == 1 and found["events"] == count
    assert [each["verdict"] for each in found["properties"]] == [truths[name].value for name in truths]
    assert found["properties"][1]["moment"]["events"] == moments["fails"]


# ---- without a server ---------------------------------------------------------------------------


def loop(tmp_path: Path) -> StreamLoop:
    intake = Intake(WatchedRun(specification(), Options(), keep=0))
    address = StreamAddress.of("nats://127.0.0.1/run")
    return StreamLoop(
        address, "test", intake, Checkpoint(str(tmp_path / "state"), "test"), lambda error: None
    )


HEADER = b'{"format": "possibly-trace", "version": 1, "processes": [{"name": "P"}, {"name": "Q"}]}\n'


def test_lines_that_come_again_are_left_out(tmp_path: Path) -> None:
    here = loop(tmp_path)
    here._take([Message((1, 0), "a", 0, HEADER + b'{"p": "P"}\n{"p": "Q"}\n')])
    here._take([Message((1, 0), "a", 0, HEADER)])
    here._take([Message((2, 0), "a", 1, b'{"p": "P"}\n{"p": "Q"}\n{"p": "P"}\n')])
    here._take([Message((3, 0), "a", 4, b"")])
    here._take([Message((4, 0), "a", 4, b'{"p": "Q"}', is_last=True)])
    assert here.intake.run.events == 4 and not here.intake.refused and here.senders.over == {"a"}


def test_lines_that_are_missing_are_an_error(tmp_path: Path) -> None:
    here = loop(tmp_path)
    here._take([Message((1, 0), "a", 0, HEADER)])
    here._take([Message((2, 0), "a", 3, b'{"p": "P"}\n')])
    assert [str(error) for error in here.intake.refused] == [
        "sender a:1: lines 2 to 3 are missing in the stream"
    ]
    assert here.intake.run.errors and here.intake.run.events == 0


def test_what_does_not_say_its_numbers_is_taken_as_it_comes(tmp_path: Path) -> None:
    here = loop(tmp_path)
    here._take([Message((1, 0), "a", None, HEADER.rstrip())])
    here._take([Message((2, 0), "a", None, b'{"p": "P"}')])
    here._take([Message((3, 0), "a", None, b'{"p": "P"}')])
    assert here.intake.run.events == 2


def test_a_checkpoint_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    first = loop(tmp_path)
    first._take([Message((1, 0), "a", 0, HEADER + b'{"p": "P", "set": {"x": 5}}\n{"p": "Q", "k": 2}\n')])
    first.save()
    second = loop(tmp_path)
    assert second.senders.position == (1, 0) and second.intake.run.waiting() == [("Q:2", 'event "Q:1"')]
    second._take([Message((2, 0), "a", 3, b'{"p": "Q", "k": 1, "set": {"x": 3}}\n')])
    assert second.intake.run.events == 3
    assert second.intake.run.moments()["fails"][0] and not second.intake.run.moments()["holds"][0]
