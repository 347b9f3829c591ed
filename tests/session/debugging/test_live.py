"""The temporal debugger on live programs: what variables hold before the first step, and whose they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.temporal.system import ChangedError
from possibly.logic.syntax import Shared
from possibly.session.debugging.live import LiveSystem
from possibly.session.debugging.temporal import Opening, opened
from possibly.views.cli.main import main


def debugged(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str], *commands: str) -> str:
    file = tmp_path / "program.py"
    file.write_text(text)
    words = [word for command in commands for word in ("--command", command)]
    assert main(["debug", *words, str(file)]) == 0
    return capsys.readouterr().out


BANK = """\
import threading
class Account:
    def __init__(self):
        self.balance = 100
account = Account()
def withdraw(amount):
    account.balance = account.balance - amount
people = [threading.Thread(target=withdraw, args=(n,), name=f"t{n}") for n in (10, 20)]
for each in people: each.start()
for each in people: each.join()
"""


def test_attributes_have_their_values_before_the_first_thread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = debugged(tmp_path, BANK, capsys, "step F account.balance == 100", "step F account.balance == 90")
    assert "step 1: 0 transitions" in out
    assert "account.balance: 100 -> 90" in out


TWO = """\
import threading
class Account:
    def __init__(self, balance):
        self.balance = balance
accounts = [Account(1), Account(2)]
def work():
    for one in accounts:
        one.balance += 10
thread = threading.Thread(target=work, name="t")
thread.start()
for each in accounts:
    each.balance += 100
thread.join()
"""


def test_two_things_that_a_loop_gives_one_name_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = debugged(tmp_path, TWO, capsys, "step F done(t)")
    written = {
        line.partition("write ")[2].partition(")")[0] for line in out.splitlines() if " write " in line
    }
    assert len(written) == 2
    monkeypatch.chdir(tmp_path)
    assert main(["explore", "--ltl", "G(each.balance != 2)", "program.py"]) == 2
    assert "no event ever sets each.balance" in capsys.readouterr().err


MANY = """\
import queue, threading
lock = threading.Lock()
class State:
    def __init__(self):
        self.total = 0
state = State()
boxes = [queue.Queue() for _ in range(3)]
def work(number):
    for item in range(2):
        with lock:
            state.total = state.total + number
        boxes[number].put(item)
def read(number):
    for _ in range(2):
        boxes[number].get()
people = [threading.Thread(target=work, args=(n,), name=f"w{n}") for n in range(3)]
people += [threading.Thread(target=read, args=(n,), name=f"r{n}") for n in range(3)]
for each in people: each.start()
for each in people: each.join()
"""


def test_a_step_of_many_threads_is_met_by_chance_where_the_search_takes_long(tmp_path: Path) -> None:
    """Six threads have thousands of states before the shortest step."""
    file = tmp_path / "program.py"
    file.write_text(MANY)
    debugger = opened(Opening(str(file), MANY, watched=("total",)))
    answer = debugger.stack.step("F(state.total == 6) & G(state.total <= 6)")
    assert answer.step is not None
    path = answer.step.path
    assert path.is_guess
    assert answer.visited < 1_000
    debugger.stack.self_check()
    values = [debugger.stack.system.reading(Shared("state.total")).value(state) for state in path.states]
    assert values[-1] == 6
    assert values.count(6) == 1


LOST = BANK + "assert account.balance == 70\n"


def test_a_step_to_a_failure_becomes_a_schedule_and_a_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    debugged(tmp_path, LOST, capsys, 'step F outcome == "failed"', "save bank.schedule")
    assert main(["replay", "bank.schedule"]) == 1
    assert main(["replay", "bank.schedule", "--as-test"]) == 0
    assert (tmp_path / "test_bank.py").exists()


def test_a_model_has_no_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    model = Path(__file__).parents[3] / "examples" / "models" / "dekker.py"
    assert main(["debug", str(model), "--command", "save way.schedule"]) == 2
    assert "has no schedule" in capsys.readouterr().err


GUARDED = """\
import threading
class Box:
    def __init__(self):
        self.n, self.items, self.lock = 0, [], threading.Lock()
box = Box()
def work():
    with box.lock:
        box.n += 1
        box.items.append(box.n)
people = [threading.Thread(target=work) for _ in range(2)]
for each in people: each.start()
for each in people: each.join()
"""


def test_what_is_under_a_lock_is_followed_when_a_formula_speaks_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = debugged(tmp_path, GUARDED, capsys, "step F(box.n == 1)", "step F(len(box.items) == 2)", "vars")
    assert "box.n is followed from now on\nstep 1" in out
    assert "box.items is followed from now on; the program begins again\nstep 1" in out
    assert "box.items = [1, 2]" in out and "box.n = 2" in out


def test_a_name_that_the_program_does_not_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.py").write_text(GUARDED)
    assert main(["debug", "--command", "step F(box.m == 1)", str(tmp_path / "program.py")]) == 2
    assert "no event ever sets box.m (no execution so far touches it)" in capsys.readouterr().err


LATE = """\
import threading
n, items = 0, []
def work():
    global n
    for _ in range(3):
        n += 1
    if n == 2:
        items.append(n)
people = [threading.Thread(target=work, name=name) for name in "ab"]
for each in people: each.start()
for each in people: each.join()
"""
"""Both append only if nearly all updates are lost, so that the list is raced for in few schedules."""


def test_a_race_that_is_found_late_makes_the_program_begin_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = debugged(tmp_path, LATE, capsys, "step F(n == 100)")
    assert out.splitlines()[1].startswith("no step: no sequence from here satisfies it")
    assert "items" not in out, "what the formula does not read is no caveat"


def test_steps_on_the_stack_are_none_any_more_when_a_race_is_found(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(LATE)
    debugger = opened(Opening(str(file), LATE))
    stack, system = debugger.stack, debugger.system
    assert isinstance(system, LiveSystem)
    stack.next("MainThread")
    wider = {*system.visible, "items"}
    system.program.visible = set(wider)
    with pytest.raises(ChangedError, match="tasks race for items: the stack is empty"):
        stack.step("F(n == 100)")
    assert not stack.steps
    assert system.visible == wider
    assert stack.step("F(n == 1)").step is not None
    system.close()
