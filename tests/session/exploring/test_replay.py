"""Every schedule that is handed over shows its failure again; a strange one is refused with a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.views.cli.main import main

RACE = """\
import threading
balance = 100
def withdraw(amount):
    global balance
    if balance >= amount:
        balance = balance - amount
tellers = [threading.Thread(target=withdraw, args=(80,), name=f"t{n}") for n in (1, 2)]
for teller in tellers:
    teller.start()
for teller in tellers:
    teller.join()
"""
DEADLOCK = """\
import threading
a, b = threading.Lock(), threading.Lock()
def work(first, second):
    with first, second:
        pass
for pair in ((a, b), (b, a)):
    threading.Thread(target=work, args=pair).start()
"""
LIVELOCK = """\
import threading
turn = 0
def wait():
    while turn != 2:
        pass
thread = threading.Thread(target=wait)
thread.start()
thread.join()
"""
IN_LIBRARY = """\
import threading
{made}
def add(n):
    {work}
threads = [threading.Thread(target=add, args=(n,)) for n in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert {right}
"""
CLAIM = "import possibly\npossibly.claim('G(balance >= 0)')\n"
CASES = {
    "assertion": (RACE + "assert balance >= 0\n", []),
    "exception": (RACE + "1 // (balance + 60)\n", []),
    "deadlock": (DEADLOCK, []),
    "livelock": (LIVELOCK, []),
    "data race": (RACE, ["--races"]),
    "ctl": (RACE, ["--ctl", "AG(balance >= 0)"]),
    "ltl": (RACE, ["--ltl", "G(balance >= 0)"]),
    "tl": (RACE, ["--tl", "not (a:(in.withdraw) and b:(in.withdraw)) if a != b"]),
    "never": (RACE, ["--never", "withdraw & withdraw"]),
    "user dict": (
        IN_LIBRARY.format(
            made="from collections import UserDict\ngroups = UserDict()",
            work="groups.setdefault('all', []).append(n)",
            right="sorted(groups['all']) == [1, 2]",
        ),
        [],
    ),
    "json": (
        IN_LIBRARY.format(
            made="import json\nshared, texts = {0: 1}, []",
            work="texts.append(json.dumps(shared, indent=1)) if n == 1 else shared.update({n: n, -n: n})",
            right="texts[0].count(':') != 2",
        ),
        [],
    ),
    "package": (
        IN_LIBRARY.format(
            made="import counting\ncounter = counting.Counter()",
            work="counter.add(n)",
            right="counter.n == 3",
        ),
        [],
    ),
    "claim": (RACE.replace("balance = 100\n", "balance = 100\n" + CLAIM, 1), []),
}


PACKAGE = """\
import threading
class Counter:
    def __init__(self):
        self.n, self.lock = 0, threading.Lock()
    def add(self, n):
        with self.lock:
            seen = self.n
        with self.lock:
            self.n = seen + n
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "counting.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(installed)
    return home


@pytest.mark.parametrize("kind", CASES)
def test_a_schedule_shows_its_failure_again(
    kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, options = CASES[kind]
    (folder / "program.py").write_text(source)
    assert main(["explore", "--json", *options, "program.py"]) == 1
    found = json.loads(capsys.readouterr().out)["failure"]
    assert main(["replay", "--json", "program.schedule"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["faithful"]
    assert not told["changed"]
    assert (told["failure"]["kind"], told["failure"]["message"]) == (found["kind"], found["message"])
    assert told["failure"]["failing_step"] == found["failing_step"]
    if kind in ("ctl", "ltl", "claim"):
        last = told["failure"]["steps"][told["failure"]["failing_step"] - 1]
        assert (last["kind"], last["value"]) == ("write", -60)


def test_the_step_at_which_a_property_fails_is_marked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "program.py").write_text(RACE)
    (folder / "bank.spec").write_text("let fine = balance >= 0\nctl safe = AG(fine)\n")
    assert main(["explore", "--spec", "bank.spec", "program.py"]) == 1
    capsys.readouterr()
    assert main(["replay", "program.schedule"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "the schedule (> violates it):" in lines
    marked = [line for line in lines if line.startswith("  > ")]
    assert marked == ["  > writes balance: 20 -> -60            program.py:6  balance = balance - amount"]
    assert lines[-1] == "the schedule was followed, event for event; it violates safe: AG(fine)"


def test_a_program_that_is_not_there_or_lies_elsewhere(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "inner").mkdir()
    (folder / "program.py").write_text(RACE + "assert balance >= 0\n")
    assert main(["explore", "-o", "inner/a.schedule", "program.py"]) == 1
    assert "again: possibly replay inner/a.schedule program.py" in capsys.readouterr().out
    assert main(["replay", "inner/a.schedule"]) == 2
    assert "outside its folder, program.py" in capsys.readouterr().err
    assert main(["replay", "inner/a.schedule", "program.py"]) == 1
    capsys.readouterr()
    assert main(["replay", "inner/a.schedule", "gone.py"]) == 2
    assert "the program of the schedule is not there: gone.py" in capsys.readouterr().err


def test_a_program_that_has_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "program.py").write_text(RACE + "assert balance >= 0\n")
    assert main(["explore", "program.py"]) == 1
    (folder / "program.py").write_text(RACE + "assert balance >= -100\n")
    capsys.readouterr()
    assert main(["replay", "program.schedule"]) == 0
    assert "the program has changed since the schedule was written" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        "program: [1]",
        "program: []",
        'limit: "x"',
        "functions: 3",
        "visible: [1]",
        "entered: 5",
        'entered: [["a.py", "f"]]',
        'entered: [["a.py", "f", "1"]]',
        'shows: {"specification": 3}',
    ],
)
def test_a_strange_header_is_refused(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "program.py").write_text(RACE)
    name = line.partition(":")[0]
    rest = [each for each in ('program: ["program.py"]', "limit: 2000") if not each.startswith(name)]
    (folder / "a.schedule").write_text(
        "\n".join(["possibly schedule 1", *rest, line, "", "0 MainThread", ""])
    )
    assert main(["replay", "a.schedule"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
