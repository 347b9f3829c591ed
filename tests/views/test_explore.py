"""`possibly explore`, `replay` and `confirm`, the function `explore` and the marker for pytest."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import possibly
from possibly.views.cli.main import main
from tests.waiting import PATIENCE

BANK = """\
import threading

balance = 100


def withdraw(amount):
    global balance
    if balance >= amount:
        balance = balance - amount


tellers = [threading.Thread(target=withdraw, args=(80,), name=f"teller-{n}") for n in (1, 2)]
for teller in tellers:
    teller.start()
for teller in tellers:
    teller.join()
"""
LOCKED = (
    BANK.replace("    if balance", "    with lock:\n     if balance")
    .replace("        balance = balance", "         balance = balance")
    .replace("balance = 100", "balance = 100\nlock = threading.Lock()")
)
CHECKED = BANK + "assert balance >= 0, balance\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bank.py").write_text(BANK)
    (tmp_path / "checked.py").write_text(CHECKED)
    (tmp_path / "locked.py").write_text(LOCKED + "assert balance == 20, balance\n")
    return tmp_path


def test_a_failing_schedule_in_source_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "checked.py"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "assertion: AssertionError: -60 at checked.py:17 in MainThread"
    assert "    reads balance: 100                   checked.py:9  balance = balance - amount" in lines
    assert "again: possibly replay checked.schedule" in lines
    assert lines[-1].startswith("checked.py: violated (assertion), in execution")


def test_a_complete_search_is_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "locked.py"]) == 0
    assert capsys.readouterr().out == "locked.py: holds, every schedule is covered by 2 executions\n"


def test_a_limit_is_status_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--executions", "1", "locked.py"]) == 3
    assert "left open by the limit of 1 executions" in capsys.readouterr().out


@pytest.mark.parametrize("scheduler", ["bounded", "random", "pct"])
def test_other_schedulers_find_it_too(scheduler: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--scheduler", scheduler, "--executions", "200", "checked.py"]) == 1


def test_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--json", "checked.py"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "violated"
    assert found["failure"]["kind"] == "assertion"
    assert found["failure"]["replay"] == "possibly replay checked.schedule"
    assert found["visible"] == ["balance"]
    assert [step["task"] for step in found["failure"]["steps"]] == found["failure"]["schedule"]


def test_the_document_of_a_failure_says_what_happened_and_what_decides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explore", "--json", "checked.py"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["complete"], found["open"], found["assumed"]) == (False, [], [])
    assert (found["kind"], found["message"]) == ("assertion", found["failure"]["message"])
    assert [step["task"] for step in found["steps"]] == found["schedule"]
    written = [step for step in found["steps"] if step["kind"] == "write"]
    assert written[0]["what"] == "writes balance"
    assert written[0]["place"].startswith("checked.py:")
    assert list(written[0]["values"]) == ["balance"]
    for pair in found["decides"]:
        assert pair["first"]["step"] < pair["then"]["step"]
        assert found["steps"][pair["then"]["step"]]["what"] == pair["then"]["what"]
    assert found["decides"]


def test_the_document_of_an_open_verdict_says_where_and_what_helps(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "starts.py").write_text("import subprocess\n\nsubprocess.run(['true'])\n")
    assert main(["explore", "--json", "starts.py"]) == 3
    found = json.loads(capsys.readouterr().out)
    (reason,) = [each for each in found["open"] if "subprocess" in each["what"]]
    assert reason["where"] == "starts.py:3"
    assert "--macro" in reason["remedy"]
    assert main(["explore", "--json", "--executions", "1", "locked.py"]) == 3
    (limit,) = json.loads(capsys.readouterr().out)["open"]
    assert limit == {
        "what": "the limit of 1 executions",
        "where": "",
        "remedy": "a larger --executions, or --resume FILE to go on another time",
    }


def test_a_property_of_every_execution(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--ctl", "AG(balance >= 0)", "bank.py"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("property: ctl1: AG(balance >= 0)")
    assert main(["replay", "bank.schedule"]) == 1
    assert main(["explore", "--ctl", "AG(balance >= 0)", "locked.py"]) == 0


CLAIM = BANK.replace(
    "balance = 100\n", "balance = 100\nimport possibly\npossibly.claim('G(balance >= 0)')\n", 1
)


@pytest.mark.parametrize(("minimum", "status"), [(-60, 0), (0, 1)])
def test_a_claim_is_judged_in_every_order(
    minimum: int, status: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "claims.py").write_text(CLAIM.replace(">= 0)", f">= {minimum})"))
    assert main(["explore", "claims.py"]) == status
    out = capsys.readouterr().out
    if status:
        assert out.startswith("claim: G(balance >= 0) (claims.py:5)\n")
        assert main(["replay", "claims.schedule"]) == 1


def test_a_claim_speaks_from_where_it_is_made(folder: Path) -> None:
    source = BANK.replace(
        "        balance = balance", "        possibly.claim('X(balance < 100)')\n        balance = balance"
    )
    (folder / "claims.py").write_text("import possibly\n" + source)
    assert main(["explore", "claims.py"]) == 1  # between the claim and the payment others may go on
    (folder / "claims.py").write_text("import possibly\n" + source.replace("X(b", "F(b"))
    assert main(["explore", "claims.py"]) == 0


def test_a_claim_about_a_single_task(folder: Path) -> None:
    source = "import possibly\nn = 0\npossibly.claim('G(n < 2)')\nn = 2\nn = 0\n"
    (folder / "claims.py").write_text(source)
    assert main(["explore", "claims.py"]) == 1
    (folder / "claims.py").write_text(source.replace("n = 2", "n = 1"))
    assert main(["explore", "claims.py"]) == 0


def test_a_claim_that_is_false_before_the_first_step(folder: Path) -> None:
    source = "import possibly\npossibly.claim('G(a.n < 2)')\n"
    body = "def run():\n    n = 1\nt = threading.Thread(target=run, name='a'); t.start(); t.join()\n"
    (folder / "claims.py").write_text("import threading\n" + source + body)
    assert main(["explore", "claims.py"]) == 1
    assert main(["replay", "claims.schedule"]) == 1


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("G(small)", "small is a predicate in Python, which --macro judges"),
        ("G(nothing > 1)", "nothing"),
    ],
)
def test_a_claim_that_cannot_be_judged_leaves_it_open(
    claim: str, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = f"import possibly\n@possibly.predicate\ndef small(s): return True\npossibly.claim({claim!r})\n"
    (folder / "claims.py").write_text(head + BANK)
    assert main(["explore", "claims.py"]) == 3
    assert f"left open by the claim {claim} (claims.py:4): " in (out := capsys.readouterr().out)
    assert reason in out


CALLS = """\
import threading

lock = threading.Lock()


def work(given):
    mine = given
    mine = mine + 1
    with lock:
        update(mine)


def update(by):
    pass


threads = [threading.Thread(target=work, args=(n,), name=f"w{n}") for n in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
ALONE = "not (t1:(in.update) and t2:(in.update)) if t1 != t2"


def test_local_variables_and_calls_in_properties(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "calls.py").write_text(CALLS)
    assert main(["explore", "--ctl", "AG(done(w1) -> w1.mine == 2 & w2.mine <= 3)", "calls.py"]) == 1
    assert "sets mine: 2" in capsys.readouterr().out
    assert main(["explore", "--ctl", "AG(done(w1) & done(w2) -> w1.mine == 2 & w2.by == 3)", "calls.py"]) == 0
    assert (
        main(
            ["explore", "--tl", ALONE, "--ctl", "AG(!(inside(w1, update) & inside(w2, update)))", "calls.py"]
        )
        == 0
    )
    (folder / "calls.py").write_text(CALLS.replace("    with lock:\n", "    if True:\n"))
    assert main(["explore", "--tl", ALONE, "calls.py"]) == 1
    assert "enters update" in capsys.readouterr().out


SLEEPY = """\
import threading, time
seen = []
timer = threading.Timer(10, seen.append, (1,))
timer.start()
timer.cancel()
def work(delay):
    time.sleep(delay)
    seen.append(delay)
threads = [threading.Thread(target=work, args=(delay,)) for delay in (3, 1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert seen == [1, 2, 3], seen
"""


def test_punctual_sleeps(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sleepy.py").write_text(SLEEPY)
    assert main(["explore", "sleepy.py"]) == 1
    assert main(["explore", "--punctual", "sleepy.py"]) == 0
    assert "assuming that sleeps, timers and time-outs come in time" in capsys.readouterr().out
    assert main(["explore", "--slack", "0.4", "sleepy.py"]) == 0
    with pytest.raises(SystemExit):
        main(["explore", "--slack", "-1", "sleepy.py"])
    assert "not a number of seconds from 0 on" in capsys.readouterr().err
    (folder / "sleepy.py").write_text(SLEEPY.replace("(3, 1, 2)", "(3, 1, 1)").replace("[1, 2, 3]", "[]"))
    assert main(["explore", "--punctual", "sleepy.py"]) == 1
    assert main(["replay", "sleepy.schedule"]) == 1


def test_an_option_after_the_program_is_the_programs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", "locked.py", "--spec", "x"]) == 2, "which reads no arguments"
    assert "--spec behind locked.py is given to the program" in capsys.readouterr().err
    assert main(["explore", "--", "locked.py", "--spec", "x"]) == 0
    assert capsys.readouterr().err == ""
    (folder / "own.py").write_text("import sys\nassert '--spec' in sys.argv\n")
    assert main(["explore", "own.py", "--spec", "x"]) == 0
    assert capsys.readouterr().err == ""


def test_races(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--races", "bank.py"]) == 1
    assert capsys.readouterr().out.startswith("data race: balance: ")
    assert main(["explore", "--races", "locked.py"]) == 0


def test_ignored_and_unwatched_memory(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--ignore", "balance", "checked.py"]) == 3
    assert "left open by balance, which tasks race for" in capsys.readouterr().out
    assert main(["explore", "--watch", "other", "checked.py"]) == 3
    assert "left open by balance, which tasks race for" in capsys.readouterr().out


def test_replay_follows_event_for_event(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "checked.py"]) == 1
    capsys.readouterr()
    assert main(["replay", "--json", "checked.schedule"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["faithful"]
    assert found["failure"]["message"] == "AssertionError: -60"


def test_replay_survives_an_edit_elsewhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "checked.py"]) == 1
    (folder / "checked.py").write_text("# a remark\n\n" + CHECKED)
    capsys.readouterr()
    assert main(["replay", "checked.schedule"]) == 1
    assert "AssertionError: -60 at checked.py:19" in capsys.readouterr().out


def test_replay_says_where_it_diverges(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "checked.py"]) == 1
    (folder / "checked.py").write_text(LOCKED)
    capsys.readouterr()
    assert main(["replay", "checked.schedule"]) == 3
    assert "diverges at step" in capsys.readouterr().out


def test_replay_under_the_line_debugger(folder: Path) -> None:
    assert main(["explore", "checked.py"]) == 1
    code = "import sys; from possibly.views.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "replay", "--pdb", "checked.schedule"]
    typed = "b 9\nc\np balance\nc\nc\nc\n"
    found = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=PATIENCE)
    assert found.returncode == 1
    assert "-> balance = balance - amount\n(Pdb) 100\n" in found.stdout
    assert "uncaught AssertionError: -60" in found.stdout


def test_the_line_debugger_on_a_terminal(folder: Path) -> None:
    import os
    import pty

    assert main(["explore", "checked.py"]) == 1
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "possibly", "replay", "--pdb", "checked.schedule"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        for typed in (b"b 9\n", b"c\n", b"p balance, amount\n", b"q\n"):
            while not seen.endswith(b"(Pdb) "):
                seen += os.read(ours, 1000)
            os.write(ours, typed)
            seen += b"|"
        try:
            while more := os.read(ours, 1000):
                seen += more
        except OSError:  # nobody has the other end any more
            pass
    os.close(ours)
    assert b"(100, 80)" in seen
    assert process.returncode == 3


def test_nothing_stays_behind_when_it_is_killed(folder: Path) -> None:
    (folder / "endless.py").write_text(
        "import os\nopen('pid', 'w').write(str(os.getpid()))\nwhile True: pass\n"
    )
    code = "import sys; from possibly.views.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "explore", "endless.py"]
    with subprocess.Popen(command) as process:
        while not (folder / "pid").exists() or not (folder / "pid").read_text():
            assert process.poll() is None
        process.kill()
    number = (folder / "pid").read_text()
    assert any(not runs(number) for _ in range(10_000))


def runs(number: str) -> bool:
    """Whether a process does something still, rather than wait to be buried."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explore", "none.py"], "none.py: no such file"),
        (["explore", "broken.py"], "broken.py:1:"),
        (["explore"], "no program to run"),
        (["replay", "bank.py"], "bank.py:1: not a schedule"),
        (["replay", "none.schedule"], "none.schedule: cannot read the schedule: No such file"),
    ],
)
def test_bad_input(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.py").write_text("def f(:\n")
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


# ---- confirm ------------------------------------------------------------------------------------


def recorded(name: str) -> None:
    assert main(["run", "--watch", "balance", "-o", f"{name}.jsonl", f"{name}.py"]) == 0


def test_a_prediction_is_confirmed(capsys: pytest.CaptureFixture[str]) -> None:
    recorded("bank")
    assert main(["confirm", "bank.jsonl", "AG(balance > 20)", "bank.py"]) == 1
    assert "bank.py: confirmed in 1 execution" in capsys.readouterr().out


def test_an_infeasible_prediction(capsys: pytest.CaptureFixture[str]) -> None:
    recorded("bank")
    source = LOCKED.replace("balance >= amount", "balance >= amount + 50")
    Path("bank.py").write_text(source)
    assert main(["confirm", "--json", "bank.jsonl", "AG(balance > 20)", "bank.py"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["confirmation"] == "infeasible"
    assert found["reached"] < len(found["path"])
    assert found["missing"] is not None


def test_nothing_to_confirm(capsys: pytest.CaptureFixture[str]) -> None:
    recorded("bank")
    assert main(["confirm", "bank.jsonl", "AG(balance > -500)", "bank.py"]) == 0
    assert "nothing to confirm" in capsys.readouterr().out


# ---- from Python --------------------------------------------------------------------------------

GUARD = threading.Lock()


def together(*functions: Any) -> None:
    threads = [threading.Thread(target=each) for each in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.alone
def test_a_function_under_all_schedules() -> None:
    box = {"n": 0}

    def adds() -> None:
        box["n"] += 1

    def both() -> None:
        together(adds, adds)
        assert box["n"] == 2

    found = possibly.explore(both)
    assert found.holds is False
    assert found.failure is not None
    assert len(found.failure.schedule) > 4
    assert "reads box['n']: 0" in found.explain()
    assert box == {"n": 0}


@pytest.mark.alone
def test_a_function_with_a_lock_that_was_made_before() -> None:
    box = {"n": 0}

    def adds() -> None:
        with GUARD:
            box["n"] += 1

    def both() -> None:
        together(adds, adds)
        assert box["n"] == 2

    found = possibly.explore(both)
    assert found.holds is True
    assert found.complete
    assert found.executions == 2


def test_a_coroutine_function() -> None:
    import asyncio

    async def main_task() -> None:
        seen: list[int] = []

        async def says(number: int) -> None:
            await asyncio.sleep(0.1 * number)
            seen.append(number)

        await asyncio.gather(says(1), says(2))
        assert seen == [1, 2]

    found = possibly.explore(main_task)
    assert found.failure is not None
    assert found.failure.kind == "assertion"


ORPHAN = """
import os, threading, time
def work():
    if not os.fork():
        time.sleep(10_000)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_no_process_that_a_program_left_behind_holds_our_output(tmp_path: Path) -> None:
    """`$(possibly explore …)` returns when the last one that could write has ended."""
    (tmp_path / "program.py").write_text(ORPHAN)
    command = [sys.executable, "-m", "possibly", "explore", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "fork" in done.stdout
