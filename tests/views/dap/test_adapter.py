"""The debug adapter, driven by a real client over pipes and sockets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from debugpy.common.messaging import MessageHandlingError

from possibly.views.cli.main import main
from tests.views.dap.client import ROOT, Client, connected, started
from tests.waiting import PATIENCE

MUTEX = "examples/mutex/run.jsonl"
SAFE = "AG(!(P1.critical & P2.critical))"


@pytest.fixture(scope="module")
def launched() -> Iterator[Client]:
    """One adapter on a run that violates a property; each test begins anew."""
    with connected() as client:
        client.launch(program=MUTEX, ctl=SAFE)
        client.wait("stopped")
        yield client


@pytest.fixture
def mutex(launched: Client) -> Client:
    launched.ask("setFunctionBreakpoints", breakpoints=[])
    launched.ask("setBreakpoints", source={"path": str(ROOT / "examples/mutex/mutex.py")}, breakpoints=[])
    launched.ask("setExceptionBreakpoints", filters=["failure"])
    launched.ask("restart")
    launched.wait("stopped")
    while not launched.events.empty():
        launched.events.get()
    return launched


def test_capabilities_and_the_first_stop() -> None:
    with connected(over_socket=True) as client:
        capabilities = client.launch(program=MUTEX, ctl=SAFE)
        assert capabilities["supportsStepBack"] and capabilities["supportsGotoTargetsRequest"]
        assert "ctl is violated" in client.wait("output")["output"]
        assert client.wait("stopped")["reason"] == "entry"


def test_threads_stacks_and_variables(mutex: Client) -> None:
    assert [each["name"] for each in mutex.ask("threads")["threads"]] == ["P1", "P2"]
    assert mutex.go("next", 2)["reason"] == "step"
    assert mutex.go("next", 2)["threadId"] == 2
    assert mutex.lines() == {"P1": 0, "P2": 29}
    (frame,) = mutex.ask("stackTrace", threadId=2)["stackFrames"]
    assert Path(frame["source"]["path"]) == ROOT / "examples/mutex/mutex.py"
    assert mutex.variables(2, 0) == {"critical": "true"}
    assert mutex.variables(1, 0) == {"critical": "false"}


def test_step_back_and_reverse_continue(mutex: Client) -> None:
    mutex.go("next", 2)
    mutex.go("next", 2)
    assert mutex.evaluate("P2.critical") == "true"
    assert mutex.go("stepBack", 2)["reason"] == "step"
    assert mutex.evaluate("P2.critical") == "false"
    mutex.go("stepBack", 2)
    assert mutex.go("reverseContinue")["text"] == "the beginning"


def test_continue_stops_where_the_property_is_violated(mutex: Client) -> None:
    stopped = mutex.go("continue")
    assert stopped["reason"] == "exception"
    assert mutex.evaluate("P1.critical & P2.critical") == "true"
    assert mutex.ask("exceptionInfo")["exceptionId"] == "ctl"
    assert mutex.go("continue")["text"] == "the end"
    (target,) = mutex.ask("gotoTargets", source={}, line=1)["targets"]
    assert mutex.go("goto", targetId=target["id"])["reason"] == "goto"
    assert mutex.evaluate("P1.critical & P2.critical") == "true"


def test_a_breakpoint_may_be_a_line_a_condition_or_a_formula(mutex: Client) -> None:
    mutex.ask("setExceptionBreakpoints", filters=[])
    source = {"path": str(ROOT / "examples/mutex/mutex.py")}
    mutex.ask("setBreakpoints", source=source, breakpoints=[{"line": 23}])
    assert mutex.go("continue")["reason"] == "breakpoint"
    assert mutex.lines()["P1"] == 23
    assert mutex.go("reverseContinue")["text"] == "the beginning"
    mutex.ask("setBreakpoints", source=source, breakpoints=[{"line": 24, "condition": "!P2.critical"}])
    assert mutex.go("continue")["text"] == "the end"
    mutex.go("reverseContinue")
    mutex.ask("setBreakpoints", source=source, breakpoints=[])
    (found,) = mutex.ask("setFunctionBreakpoints", breakpoints=[{"name": "P2.critical"}])["breakpoints"]
    assert found["verified"]
    assert mutex.go("continue")["reason"] == "function breakpoint"
    assert mutex.evaluate("P2.critical") == "true"


def test_continue_to_a_temporal_formula_goes_another_way(mutex: Client) -> None:
    formula = "F(P1.critical & !P2.critical)"
    rows = mutex.ask("setFunctionBreakpoints", breakpoints=[{"name": formula}, {"name": "F("}])["breakpoints"]
    assert [row["verified"] for row in rows] == [True, False]
    assert mutex.go("continue")["text"] == formula
    assert mutex.evaluate("P1.critical & !P2.critical") == "true"


def test_the_schedule_is_in_the_users_hands(mutex: Client) -> None:
    mutex.go("next", 1)
    mutex.ask("next", threadId=1)
    assert "P1 cannot go on; able to: P2" in mutex.wait("output")["output"]
    mutex.wait("stopped")
    assert mutex.evaluate("next P2", "repl") == "after 2 steps"
    assert mutex.evaluate("order", "repl").splitlines()[0].startswith("1  e0")
    assert mutex.evaluate("decides", "repl").startswith("ctl is violated")
    assert mutex.evaluate("step F(done(P2))", "repl").startswith("after")


@pytest.mark.parametrize(
    ("command", "arguments", "told"),
    [
        ("launch", {"program": "gone.jsonl"}, "no such file"),
        ("launch", {}, "launch needs `program`"),
        ("stackTrace", {"threadId": 99}, "do not fit"),
        ("stackTrace", {}, "do not fit"),
        ("next", {"threadId": 7}, "there is no thread 7"),
        ("evaluate", {"expression": "P9.x"}, "P9"),
        ("evaluate", {"expression": "((("}, "expected"),
        ("setVariable", {}, "do not fit"),
        ("setEverything", {}, "there is no request"),
        ("source", {"source": {"path": "x.py"}}, "the source is in its file"),
    ],
)
def test_mistakes_are_answered(command: str, arguments: dict[str, Any], told: str, mutex: Client) -> None:
    with pytest.raises(MessageHandlingError, match=told):
        mutex.ask(command, **arguments)
    assert mutex.evaluate("1 + 1") == "2"


def test_nothing_is_debugged_before_it_is_launched() -> None:
    with connected() as client:
        client.ask("initialize", adapterID="possibly")
        with pytest.raises(MessageHandlingError, match="nothing is debugged yet"):
            client.ask("threads")


def test_a_schedule_stops_at_its_failing_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples/bugs/lost-update/buggy.py", "buggy.py")
    assert main(["explore", "buggy.py"]) == 1
    with connected(tmp_path) as client:
        client.launch(program="buggy.schedule", stopOnEntry=False)
        stopped = client.wait("stopped")
        assert (stopped["reason"], stopped["description"]) == ("exception", "assertion")
        names = [each["name"] for each in client.ask("threads")["threads"]]
        assert names[1:] == ["teller-1", "teller-2"]
        assert client.lines()["teller-1"] == 10
        assert client.variables(1, 1)["balance"] == "10"


def test_a_live_program(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples/bugs/lost-update/buggy.py", tmp_path / "buggy.py")
    with connected(tmp_path) as client:
        client.launch(program="buggy.py")
        client.wait("stopped")
        assert client.evaluate('step F(outcome == "failed")', "repl").startswith("after")
        assert client.evaluate("outcome") == '"failed"'
        client.go("stepBack")
        assert client.lines()["MainThread"] == 18


def test_rubbish_ends_with_a_sentence() -> None:
    for sent in (b"hello\r\n\r\n", b"Content-Length: 3\r\n\r\n{x}", b"Content-Length: 999999999999\r\n\r\n"):
        process = started()
        out, err = process.communicate(sent, timeout=PATIENCE)
        assert (process.returncode, out) == (2, b"")
        assert err.startswith(b"possibly: a message of the client") and err.count(b"\n") == 1


def test_the_temporal_stack_is_shown_and_popped(mutex: Client) -> None:
    assert mutex.ask("possibly/stack") == {"steps": [], "position": 0}
    assert mutex.evaluate("step F P2.critical", "repl").startswith("after ")
    assert mutex.evaluate("step F P1.critical", "repl").startswith("after ")
    first, second = mutex.ask("possibly/stack")["steps"]
    assert (first["formula"], second["formula"]) == ("F P2.critical", "F P1.critical")
    assert first["start"] == 0 and first["end"] == second["start"]
    assert len(second["moves"]) == second["end"] - second["start"]
    assert [each["formula"] for each in mutex.ask("possibly/pop")["steps"]] == ["F P2.critical"]
    assert mutex.evaluate("P1.critical") == "false"
    mutex.ask("possibly/pop")
    with pytest.raises(MessageHandlingError, match="no temporal step"):
        mutex.ask("possibly/pop")


def test_another_way_forgets_the_steps_that_lay_ahead(mutex: Client) -> None:
    mutex.evaluate("step F P2.critical", "repl")
    mutex.go("stepBack", 2)
    assert mutex.ask("possibly/stack")["steps"] == []
    mutex.evaluate("step F P1.critical", "repl")
    assert [each["formula"] for each in mutex.ask("possibly/stack")["steps"]] == ["F P1.critical"]


def test_variables_of_a_model_can_be_set() -> None:
    """The walk goes on from there, and back to before."""
    with connected() as client:
        assert client.launch(program="examples/models/peterson.py")["supportsSetVariable"]
        client.wait("stopped")
        (frame, *_) = client.ask("stackTrace", threadId=1)["stackFrames"]
        scope = client.ask("scopes", frameId=frame["id"])["scopes"][1]["variablesReference"]
        before = client.evaluate("turn")
        other = str(1 - int(before))
        assert client.ask("setVariable", variablesReference=scope, name="turn", value=other)["value"] == other
        assert client.evaluate("turn") == other
        client.go("stepBack", 1)
        assert client.evaluate("turn") == before


def test_what_was_recorded_cannot_be_set(mutex: Client) -> None:
    (frame, *_) = mutex.ask("stackTrace", threadId=1)["stackFrames"]
    scope = mutex.ask("scopes", frameId=frame["id"])["scopes"][0]["variablesReference"]
    with pytest.raises(MessageHandlingError, match="cannot be changed"):
        mutex.ask("setVariable", variablesReference=scope, name="critical", value="true")
