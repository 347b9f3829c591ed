"""`possibly debug` as a user runs it: a script, standard input, a terminal, pictures, mistakes."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import possibly
from possibly.session.debugging.temporal import Opening, opened
from possibly.views.cli.debugger.commands import commands, execute, split_options
from possibly.views.cli.debugger.debug import completions
from possibly.views.cli.main import main
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
DEKKER = str(ROOT / "examples" / "models" / "dekker.py")
BUFFER = str(ROOT / "examples" / "models" / "bounded-buffer.py")

SESSION = """\
# both want to enter
step F(at(P0, "m2") & at(P1, "n2"))
state
step G at(P1, "n2") & F at(P0, "m8")
why
step G at(P1, "n2") each
back
back
pop
step F at(P0, "m8") min
stack
cycle
next P0
vars
eval [c0, c1, turn]
path
graph P0
automaton
"""


def output(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert main(["debug", *words]) == status
    return capsys.readouterr().out


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "session.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_script_shows_commands_and_replies(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = 'step F(at(P0, "m2") & at(P1, "n2"))\nstep G at(P1, "n2") & F at(P0, "m8")\nwhy\nstate\n'
    assert (
        output(capsys, DEKKER, "--script", script(tmp_path, text))
        == """\
(possibly) step F(at(P0, "m2") & at(P1, "n2"))
step 1: 4 transitions (18 pairs)
  P0:m1  c0 = 1
  P0:m2  c0 = 0                          c0: 1 -> 0
  P1:n1  c1 = 1
  P1:n2  c1 = 0                          c1: 1 -> 0
(possibly) step G at(P1, "n2") & F at(P0, "m8")
no step: no sequence from here satisfies it (3 pairs); `why` says which part
(possibly) why
every part of it is needed for the failure:
  G at(P1, "n2") & F at(P0, "m8")
the predicates that matter: at(P1, "n2"), at(P0, "m8")
(possibly) state
P0  at m2: c0 = 0, next m7: c1 == 0
P1  at n2: c1 = 0, next n7: c0 == 0
possible next: P0:m7, P1:n7
"""
    )


def test_standard_input_is_a_script(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = output(capsys, DEKKER, "--script", script(tmp_path, SESSION))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SESSION.encode())))
    assert output(capsys, DEKKER) == expected
    commands = [word for line in SESSION.splitlines() for word in ("--command", line)]
    assert output(capsys, DEKKER, *commands) == expected


def test_json_is_one_document(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = json.loads(output(capsys, DEKKER, "--json", "--script", script(tmp_path, SESSION)))
    replies = {reply["command"]: reply for reply in document["replies"]}
    assert len(document["replies"]) == len(SESSION.splitlines())
    assert replies['step F(at(P0, "m2") & at(P1, "n2"))']["step"]["transitions"][0] == "P0:m1"
    assert replies['step G at(P1, "n2") & F at(P0, "m8")']["outcome"] == "none"
    assert replies["eval [c0, c1, turn]"]["value"] == [1, 1, 0]
    assert replies["state"]["enabled"] == ["P0:m7", "P1:n7"]


MISTAKES = [
    ("stpe F x", "session.txt:2: stpe is no command (did you mean step?)"),
    ("step F(", "session.txt:2:3:"),
    ("step F nothing == 1", "no event ever sets nothing"),
    ("step F turn == 0 bound", "session.txt:2:"),
    ("step", "session.txt:2: step needs a formula"),
    ("next Nobody", "there is no process Nobody"),
    ("back", "the stack is empty: there is no step to backtrack"),
    ("pop", "the stack is empty"),
    ("continue", "no search was stopped"),
    ("why", "nothing to explain"),
    ("load nowhere.json", "nowhere.json: No such file or directory"),
    ("graph Nobody", "there is no process Nobody"),
    ("picture stack.gif", "ends in .svg, .png or .dot"),
    ("help nothing", "nothing is no command"),
]


@pytest.mark.parametrize(("command", "message"), MISTAKES, ids=[command for command, _ in MISTAKES])
def test_a_script_stops_at_a_mistake_and_says_where(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, message: str
) -> None:
    assert main(["debug", DEKKER, "--script", script(tmp_path, f"state\n{command}\nstate\n")]) == 2
    shown = capsys.readouterr()
    assert message in shown.err and shown.out.count("(possibly) state") == 1


def test_an_assertion_decides_the_status(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    good, bad = "assert turn == 0\n", "assert turn == 1\nassert turn == 0\n"
    assert "holds" in output(capsys, DEKKER, "--script", script(tmp_path, good))
    shown = output(capsys, DEKKER, "--script", script(tmp_path, bad), status=1)
    assert "does not hold: turn == 1" in shown


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.py", "@process\ndef P():\n    del x\n", "bad.py:3:5: `del x` is no statement"),
        ("program.py", "print(1\n", "program.py:1: not Python"),
        ("bad.jsonl", "{", "bad.jsonl"),
        ("notes.txt", "hello", "neither a trace nor a model"),
    ],
)
def test_files_that_cannot_be_stepped_through(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert main(["debug", str(path), "--command", "state"]) == 2
    assert message in capsys.readouterr().err
    assert main(["debug", str(tmp_path / "missing.py"), "--command", "state"]) == 2


def test_a_session_is_saved_and_taken_up(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "saved.json")
    first = [
        'step F at(P0, "m2") min all',
        "back",
        'step F at(P1, "n8")',
        f"save {file}",
        "path",
        "back",
        "stack",
    ]
    second = [f"load {file}", "path", "back", "stack"]
    one = output(capsys, DEKKER, *[word for line in first for word in ("--command", line)])
    two = output(capsys, DEKKER, *[word for line in second for word in ("--command", line)])
    assert one.split("(possibly) path\n")[1] == two.split("(possibly) path\n")[1]
    Path(file).write_text('{"format": "possibly-debug"}', encoding="utf-8")
    assert main(["debug", DEKKER, "--command", f"load {file}"]) == 2
    assert "not a saved session" in capsys.readouterr().err


def test_a_session_of_another_model_is_refused_whole(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = str(tmp_path / "saved.json")
    output(capsys, DEKKER, "--command", 'step F at(P0, "m8")', "--command", f"save {file}")
    debugger = opened(Opening(BUFFER, Path(BUFFER).read_text(encoding="utf-8")))
    execute(debugger, "step F free == 2")
    before = debugger.stack.path
    with pytest.raises(Exception, match="the session does not fit"):
        execute(debugger, f"load {file}")
    assert debugger.stack.path == before


def test_lets_of_a_specification_can_be_used(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = tmp_path / "names.spec"
    spec.write_text('let inside = at(P0, "m8") | at(P0, "m9")\n', encoding="utf-8")
    shown = output(
        capsys, DEKKER, "--spec", str(spec), "--command", "step F inside", "--command", "eval inside"
    )
    assert shown.endswith("true\n")


def test_a_trace_is_stepped_through(capsys: pytest.CaptureFixture[str]) -> None:
    trace = str(ROOT / "examples" / "mutex" / "run.jsonl")
    shown = output(capsys, trace, "--command", "step F(P1.critical & P2.critical)", "--command", "state")
    assert "P2.critical: false -> true" in shown and "P1  3 of 3 events, last e2" in shown
    assert main(["debug", trace, "--command", "graph"]) == 2


def test_the_python_view_is_a_stack() -> None:
    stack = possibly.debug(DEKKER)
    answer = stack.step('F at(P0, "m8")', size="min", bound=20)
    assert answer.outcome.value == "found" and len(stack.path) == len(stack.moves) + 1
    assert stack.evaluate('at(P0, "m8")') == (True, ())


# ---- pictures -----------------------------------------------------------------------------------


def test_pictures_are_well_formed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    commands = ['step F at(P0, "m2")', 'step F at(P1, "n2")']
    for name in ("graph", "automaton", "picture"):
        commands += [f"{name} {tmp_path / name}.{form}" for form in ("svg", "png", "dot")]
    output(capsys, DEKKER, *[word for line in commands for word in ("--command", line)])
    for name in ("graph", "automaton", "picture"):
        root = ET.parse(tmp_path / f"{name}.svg").getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert (tmp_path / f"{name}.dot").read_text(encoding="utf-8").startswith("digraph ")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    texts = [e.text for e in ET.parse(tmp_path / "graph.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert {f"m{i}" for i in range(1, 11)} <= {str(text).split(":")[0] for text in texts}
    marked = re.findall(
        r'label="([mn]\d+)[^\]]*color=red', (tmp_path / "graph.dot").read_text(encoding="utf-8")
    )
    assert marked == ["m2", "n2"], "the nodes at which the processes are"


def test_figure_4_in_dot(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "graph.dot"
    output(capsys, DEKKER, "--command", f"graph P0 {file}")
    text = file.read_text(encoding="utf-8")
    assert 'label="m7: c1 == 0", shape=diamond' in text
    assert text.count('label="yes"') == text.count('label="no"') == 2


# ---- a terminal ---------------------------------------------------------------------------------


class Terminal:
    """`possibly debug` behind a pseudo-terminal."""

    def __init__(self, folder: Path, *words: str, **environment: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "possibly", "debug", *words],
            stdin=slave, stdout=slave, stderr=slave, close_fds=True, start_new_session=True,
            env={**os.environ, "XDG_STATE_HOME": str(folder), "COLUMNS": "200", **environment},
            preexec_fn=_own_terminal,
        )  # fmt: skip
        os.close(slave)
        self.text = ""

    def until(self, pattern: str, seconds: float = PATIENCE) -> str:
        """What has come up to and with the pattern; it is not read again."""
        deadline = time.monotonic() + seconds
        while not (found := re.search(pattern, self.text)):
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no {pattern!r} in {self.text!r}"
            data = os.read(self.master, 65536).decode("utf-8", "replace")
            if "\x1b[6n" in data:  # prompt_toolkit asks where the cursor is
                os.write(self.master, b"\x1b[1;1R")
            self.text += without_escapes(data)
        before, self.text = self.text[: found.end()], self.text[found.end() :]
        return before

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self) -> int:
        self.type("quit\r")
        status = self.process.wait(timeout=PATIENCE)
        os.close(self.master)
        return status


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def without_escapes(text: str) -> str:
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07", "", text)
    return text.replace("\r\n", "\n").replace("\r", "\n")


TERMINALS = [{"TERM": "dumb"}, {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}]
"""The standard readline, and prompt_toolkit."""


def needs(environment: dict[str, str]) -> None:
    if environment["TERM"] != "dumb":
        pytest.importorskip("prompt_toolkit")


@pytest.mark.parametrize("environment", TERMINALS)
def test_a_scripted_session_equals_the_interactive_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, environment: dict[str, str]
) -> None:
    """The same commands, typed at a terminal: the same replies, in the same order."""
    needs(environment)
    lines = [line for line in SESSION.splitlines() if not line.startswith("#")]
    expected = output(capsys, DEKKER, "--script", script(tmp_path, "\n".join(lines)))
    replies = re.split(r"^\(possibly\) .*\n", expected, flags=re.MULTILINE)[1:]
    terminal = Terminal(tmp_path, DEKKER, **environment)
    terminal.until(r"\(possibly\)")
    for line, reply in zip(lines, replies, strict=True):
        terminal.type(f"{line}\r")
        shown = terminal.until(re.escape(reply.rstrip("\n")) + r"\n*\s*\(possibly\)")
        assert reply.rstrip("\n") in shown
    terminal.type("nonsense\r")
    terminal.until("nonsense is no command")
    assert terminal.end() == 0


@pytest.mark.parametrize("environment", TERMINALS)
def test_tab_completes_commands_and_names(tmp_path: Path, environment: dict[str, str]) -> None:
    needs(environment)
    terminal = Terminal(tmp_path, DEKKER, **environment)
    terminal.until(r"\(possibly\)")
    terminal.type("eval crit\t")
    terminal.until("ical")
    terminal.type("\r")
    terminal.until(r"\n0\s*\n")
    terminal.until(r"\(possibly\)")
    assert terminal.end() == 0
    assert "eval critical" in (tmp_path / "possibly" / "debug_history").read_text(encoding="utf-8")


SLOW = """\
x = [0] * 9

@process(9)
def P(i):
    while True:
        x[i] = (x[i] + 1) % 5
"""


def test_ctrl_c_stops_a_search_and_the_session_goes_on(tmp_path: Path) -> None:
    model = tmp_path / "slow.py"
    model.write_text(SLOW, encoding="utf-8")
    terminal = Terminal(tmp_path, str(model), TERM="dumb")
    terminal.until(r"\(possibly\)")
    terminal.type("step F x[0] == 1\r")
    terminal.until(r"step 1: 1 transition[^\n]*\n[^\n]*\n\s*\(possibly\)")
    terminal.type("step F x[0] == 7\r")
    terminal.until("searching")  # the progress bar
    os.killpg(terminal.process.pid, signal.SIGINT)
    terminal.until("the stack is as before, `continue` goes on searching")
    terminal.until(r"\(possibly\)")
    terminal.type("stack\r")
    terminal.until(r"1  F x\[0\] == 1: 1 transition")
    assert terminal.end() == 0


# ---- the table of commands ----------------------------------------------------------------------


def test_every_command_has_its_line_of_help(capsys: pytest.CaptureFixture[str]) -> None:
    shown = output(capsys, DEKKER, "--command", "help")
    wanted = "step next back pop clear stack state vars path graph automaton eval save load why".split()
    assert set(wanted) <= set(commands())
    assert all(command.usage in shown and command.summary for command in commands().values())


def test_completion_follows_the_command() -> None:
    debugger = opened(Opening(DEKKER, Path(DEKKER).read_text(encoding="utf-8")))
    assert "step" in completions(debugger, "")
    assert completions(debugger, "next ") == ["P0", "P1"]
    assert {"turn", "bound", "at(P0"} <= set(completions(debugger, "step F("))
    assert completions(debugger, "nonsense ") == []


@pytest.mark.parametrize(
    ("text", "formula", "options"),
    [
        ("F x == 1", "F x == 1", []),
        ("F x == 1 min bound 12", "F x == 1", ["min", "bound", "12"]),
        ("F x == 1 all new-ends max", "F x == 1", ["all", "new-ends", "max"]),
        ("F max(x, 1) == 1", "F max(x, 1) == 1", []),
        ("F x == 12", "F x == 12", []),
    ],
)
def test_options_stand_after_the_formula(text: str, formula: str, options: list[str]) -> None:
    assert split_options(text) == (formula, options)
