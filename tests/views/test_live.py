"""A program that is stopped where a `break` says so, on a terminal and without one, and what can be asked."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from possibly.errors import PossiblyError
from possibly.logic.specification import read_specification
from possibly.recorder.stopped import looked_up
from possibly.session.watching.paths_live import LivePaths, Told, has_break
from tests.waiting import PATIENCE

PROMPT = "(possibly) "
PROGRAM = """\
import threading

steps = []
account = {"ann": [1, 2]}
lock = threading.Lock()


def deposit(amount):
    steps.append(amount)


def withdraw(amount):
    steps.append(-amount)


def saver():
    for amount in (10, 20):
        deposit(amount)
        with lock:
            pass


def spender():
    withdraw(5)


if __name__ == "__main__":
    threads = [threading.Thread(target=work, name=work.__name__) for work in (saver, spender)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("sum", sum(steps))
"""
SPEC = 'watch race = deposit & withdraw { n = 3; print("from", $1.pid); break }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bank.py").write_text(PROGRAM)
    (tmp_path / "bank.spec").write_text(SPEC)
    return tmp_path


class Terminal:
    """A command on a pseudo-terminal, and the other end of it."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.process, self.end = pty.fork()
        if not self.process:
            os.chdir(folder)
            os.execv(sys.executable, [sys.executable, "-m", "possibly", *words])
        self.text = ""

    def until(self, wanted: str) -> str:
        """What appears up to and including this text, from where the last call ended."""
        while wanted not in self.text:
            ready, _, _ = select.select([self.end], [], [], PATIENCE)
            assert ready, f"{wanted!r} does not appear in {self.text!r}"
            try:
                more = os.read(self.end, 4096)
            except OSError:
                more = b""
            assert more, f"the command ended without {wanted!r}: {self.text!r}"
            self.text += more.decode().replace("\r\n", "\n")
        found, _, self.text = self.text.partition(wanted)
        return found + wanted

    def ask(self, command: str) -> str:
        os.write(self.end, command.encode() + b"\n")
        return self.until(PROMPT).removeprefix(command + "\n").removesuffix(PROMPT)

    def say(self, keys: bytes) -> None:
        os.write(self.end, keys)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing stays behind if a test fails."""
        if self.process:
            os.killpg(os.getpgid(self.process), signal.SIGKILL)
            self.status()

    def status(self) -> int:
        """The exit status, once everything is read."""
        while True:
            try:
                if not os.read(self.end, 4096):
                    break
            except OSError:
                break
        _, status = os.waitpid(self.process, 0)
        self.process = 0
        os.close(self.end)
        return os.waitstatus_to_exitcode(status)


def test_a_break_stops_the_program_there(folder: Path) -> None:
    with Terminal(folder, "run", "--spec", "bank.spec", "bank.py") as terminal:
        told = terminal.until(PROMPT)
        assert "possibly: race at spender:2: from saver" in told
        assert "possibly: break of race at spender:2: saver:" in told
        assert "> spender" in told and "bank.py:12 in withdraw    def withdraw(amount):" in told
        assert "sum" not in told, "the program has not gone on"
        assert "n = 3" in terminal.ask("vars")
        assert terminal.ask("print amount") == "amount = 5\n"
        assert terminal.ask("print account['ann'][1]") == "account['ann'][1] = 2\n"
        assert "bank.py:24 in spender    withdraw(5)" in terminal.ask("where spender")
        before = terminal.ask("print steps")
        assert "-5" not in before, "it stops before the body of the function"
        assert terminal.ask("task MainThread") == "looking from MainThread\n"
        assert terminal.ask("print account.keys") != before
        assert terminal.ask("nonsense") == "there is no nonsense; help lists what there is\n"
        assert "off" in terminal.ask("help") and "nobody" in terminal.ask("waits")
        terminal.say(b"off\n")
        assert "sum 25" in terminal.until("MATCHED")
        assert terminal.status() == 0


def test_every_break_stops_until_it_is_off(folder: Path) -> None:
    (folder / "bank.spec").write_text("watch deposits = deposit { break }\n")
    with Terminal(folder, "run", "--spec", "bank.spec", "bank.py") as terminal:
        assert "saver:2" in terminal.until(PROMPT)
        terminal.say(b"continue\n")
        assert "break of deposits at saver:" in terminal.until(PROMPT)
        terminal.say(b"c\n")
        terminal.until("sum 25")
        assert terminal.status() == 0


def test_control_c_at_the_prompt_interrupts_the_program(folder: Path) -> None:
    with Terminal(folder, "run", "--spec", "bank.spec", "bank.py") as terminal:
        terminal.until(PROMPT)
        terminal.say(b"\x03")
        assert "KeyboardInterrupt" in terminal.until("events of 3 processes")
        assert terminal.status() != 0


def test_a_deadlock_stops_where_it_closes(tmp_path: Path) -> None:
    """Section 5.2 with real threads: the last request is told before its thread blocks for ever."""
    examples = Path(__file__).parents[2] / "examples/paths"
    words = ["run", "--spec", str(examples / "deadlock.spec"), str(examples / "philosophers.py"), "deadlock"]
    with Terminal(tmp_path, *words) as terminal:
        told = terminal.until(PROMPT)
        assert ": deadlock: Phil" in told and "> Phil" in told and "in LOCK" in told
        waits = terminal.ask("waits")
        assert waits.count("holds fork") == 3 and waits.count("circular: Phil") == 3
        assert "fork = <__main__.Fork object" in terminal.ask("print fork")
        terminal.say(b"kill\n")
        assert "deadlock: Phil" in terminal.until("held by Phil")
        assert terminal.status() == 128 + signal.SIGKILL


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "possibly", "run", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, start_new_session=True
    )


def test_without_a_terminal_it_says_where_and_goes_on(folder: Path) -> None:
    (folder / "bank.spec").write_text(SPEC + "never both = deposit & withdraw\nexpect one = deposit\n")
    found = run(folder, "--live", "--spec", "bank.spec", "bank.py")
    assert found.returncode == 1 and "sum 25" in found.stdout
    assert "possibly: break of race at spender:2" in found.stderr
    assert "possibly: both at spender:2: occurs: {" in found.stderr
    assert (
        "possibly: one at saver:" in found.stderr
        and "does not fit here; expected: no further" in found.stderr
    )
    assert "MATCHED   race" in found.stdout


def test_what_is_followed_is_recorded_as_always(folder: Path) -> None:
    run(folder, "--live", "-o", "live.jsonl", "--spec", "bank.spec", "bank.py")
    run(folder, "-o", "plain.jsonl", "--spec", "bank.spec", "bank.py")

    def kinds(name: str) -> list[tuple[str, str, str]]:
        """What each did; which accesses met, and in which order, is another matter in every run."""
        events = [json.loads(line) for line in (folder / name).read_text().splitlines()[1:]]
        told = [(each["p"], each.get("kind", ""), each.get("fn", "")) for each in events]
        return sorted(each for each in told if each[1] in ("enter", "exit", "acquire", "release", "join"))

    assert kinds("live.jsonl") == kinds("plain.jsonl")


def test_an_error_in_an_action_is_told_before_the_program_runs(folder: Path) -> None:
    (folder / "bank.spec").write_text("watch a = deposit { fly() }\n")
    found = run(folder, "--live", "--spec", "bank.spec", "bank.py")
    assert found.returncode == 2 and "unknown function `fly` in an action" in found.stderr
    assert "sum" not in found.stdout and "Traceback" not in found.stderr


ASYNC = """\
import asyncio


async def work(name):
    await asyncio.sleep(0)
    await step(name)
    at_once(name)


async def step(name):
    await asyncio.sleep(0)


def at_once(name):
    pass


async def main():
    await asyncio.gather(*(asyncio.create_task(work(n), name=n) for n in ("one", "two")))


asyncio.run(main())
print("done")
"""

FORKS = """\
import multiprocessing


def step(name):
    pass


if __name__ == "__main__":
    step("parent")
    child = multiprocessing.get_context("fork").Process(target=step, args=("child",))
    child.start()
    child.join()
    print("done", child.exitcode)
"""


def test_tasks_of_an_event_loop_stop_too(folder: Path) -> None:
    (folder / "tasks.py").write_text(ASYNC)
    (folder / "tasks.spec").write_text(
        "watch both = step & step^ { break }\nwatch whole = at_once & at_once^ { break }\n"
    )
    with Terminal(folder, "run", "--spec", "tasks.spec", "tasks.py") as terminal:
        told = terminal.until(PROMPT)
        assert "break of both" in told and "tasks.py:10 in step" in told
        where = terminal.ask("where")
        assert "one" in where and "two" in where and "in work" in where + terminal.ask("where one")
        terminal.say(b"c\n")
        assert "break" not in terminal.until("done")  # nobody comes between two calls that wait for nothing
        assert terminal.status() == 0


def test_another_process_is_recorded_and_not_followed(folder: Path) -> None:
    (folder / "forks.py").write_text(FORKS)
    (folder / "forks.spec").write_text("watch steps = step { break }\n")
    found = run(folder, "--live", "--spec", "forks.spec", "forks.py")
    assert "done 0" in found.stdout and found.stderr.count("break of steps") == 1
    assert "2 occurrences" in found.stdout


def test_a_break_is_looked_for_in_watches() -> None:
    assert has_break(read_specification("watch a = x { break }"))
    assert not has_break(read_specification("watch a = x { print(1) }\nnever b = x"))


def test_print_reads_and_calls_nothing() -> None:
    table = {"a": [1, 2], "b": "text"}
    frame = sys._getframe()
    assert looked_up("table['a'][-1]", [frame]) == 2
    assert looked_up('table["b"]', [frame]) == "text"
    assert looked_up("SPEC", [frame]) == SPEC
    assert table
    for text in ("table.keys()", "1 + 1", "no_such_name", "table[x]"):
        with pytest.raises(PossiblyError):
            looked_up(text, [frame])


def test_told_is_plain_data() -> None:
    assert Told("a", "b", "P:1") == Told("a", "b", "P:1", (), "", False)


STATES = """\
import threading

served = 0
many = [0, 0]


class Box:
    def __init__(self):
        self.inside = 0


box = Box()


def work():
    global served
    served = 1
    many[0] = 1
    box.inside = 1
    served += 1


thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
"""


def test_globals_attributes_and_items_are_followed(folder: Path) -> None:
    (folder / "states.py").write_text(STATES)
    lines = [
        'watch one = [served == 1] { n = n + 1; print("one", n) }',
        'watch two = [served == 2] { print("two") }',
        'watch item = [many[0] == 1] { print("item") }',
        'watch member = [box.inside == 1] { print("member") }',
    ]
    (folder / "states.spec").write_text("\n".join(lines) + "\n")
    found = run(folder, "--live", "--spec", "states.spec", "states.py")
    said = [line for line in found.stderr.splitlines() if " at worker:" in line]
    assert [line.rpartition(": ")[2] for line in said] == ["one 1", "item", "member", "two"], found.stderr
    assert "followed" not in found.stderr and found.stdout.count("MATCHED") == 4


def test_what_is_not_followed_is_named_at_once_and_at_the_end() -> None:
    told: list[Told] = []
    live = LivePaths(read_specification("watch a = x { break }\nnever b = x & y"), "causal", told.append)
    live.line({"p": "P", "id": "P:1", "k": 1, "after": ["unheard of"]})
    live.line({"p": "P", "id": "P:1", "k": 1})
    live.line({"p": "P", "id": "P:1", "k": 1})
    live.lost("KeyError(3)")
    live.finish()
    assert [each.property for each in told] == ["a, b", "a", "b"]
    assert told[0].text.startswith("not followed from here on: ")
    assert all("was not followed to the end of the run (" in each.text for each in told[1:])
