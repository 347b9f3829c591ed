"""A process is given up when it stands still, never because the machine is slow; its group ends with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from possibly.control.forking import function
from possibly.control.forking.forks import Zygote
from possibly.control.forking.patience import STILL, Pace, Patience, Watch, descendants, members
from possibly.control.forking.standing import place_in
from possibly.control.forking.system import end_group
from possibly.control.forking.zygote import script
from possibly.control.schedulers.course import Course
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore
from tests.waiting import PATIENCE

HANGS = """import signal
usual = signal.SIGUSR1
def wait():
    signal.sigwait({usual})
wait()
"""


class _Child:
    def __init__(self, code: str) -> None:
        command = [sys.executable, "-c", code]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0)
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def paces(self, patience: float) -> Iterator[Pace]:
        watch = Watch(self.process.pid, patience)
        while True:
            yield watch.pace()

    def end(self) -> None:
        end_group(self.process.pid)
        self.process.communicate()


@pytest.fixture
def sleeper() -> Iterator[_Child]:
    child = _Child("import time\nprint(flush=True)\ntime.sleep(1000)")
    yield child
    child.end()


@pytest.fixture
def worker() -> Iterator[_Child]:
    child = _Child("print(flush=True)\nwhile True: pass")
    yield child
    child.end()


def test_who_waits_stands_still(sleeper: _Child) -> None:
    assert Pace.STANDS in (pace for pace, _ in zip(sleeper.paces(0.01), range(10**6), strict=False))


def test_who_computes_works_until_it_has_had_its_processor_time(worker: _Child) -> None:
    for pace in worker.paces(0.02):
        assert pace is not Pace.STANDS
        if pace is Pace.ENDLESS:
            break


def test_who_could_compute_and_is_not_let_works(worker: _Child) -> None:
    """As on a machine that has no time for it: it uses none, and is ready to run or stopped by somebody."""
    import signal

    worker.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, worker.process.pid, os.WSTOPPED | os.WNOWAIT)
    watch = Watch(worker.process.pid, 0.0001)
    assert {watch.pace() for _ in range(50)} == {Pace.WORKS}


WAITS_FOR_ANOTHER = """import subprocess, sys
code = "print(flush=True)\\nwhile True: pass"
with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as child:
    child.stdout.readline()
    print(child.pid, flush=True)
    child.wait()
"""


@pytest.mark.parametrize("whole", [True, False])
def test_who_waits_for_a_process_that_computes_works(whole: bool) -> None:
    """Also for one of another group: between two jobs nobody has his turn, and a child is made ready."""
    command = [sys.executable, "-c", WAITS_FOR_ANOTHER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0) as waiting:
        assert waiting.stdout is not None
        child = int(waiting.stdout.readline())
        assert child in descendants(waiting.pid)
        watch = Watch(waiting.pid, 0.5, whole)
        try:
            for _ in range(8):
                time.sleep(0.25)
                assert watch.pace() is not Pace.STANDS
        finally:
            end_group(child)
            end_group(waiting.pid)


def test_seconds_in_which_nobody_looks_do_not_count(sleeper: _Child, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("possibly.control.forking.patience._clock", lambda: now[0])
    watch = Watch(sleeper.process.pid, 20.0)
    now[0] = 1_000.0  # this process was not let compute either
    assert watch.pace() is Pace.WORKS


def _is_over_soon(patience: Patience, child: _Child) -> bool:
    return any(patience.is_over([child.process.pid]) for _ in range(10**5))


def test_patience_ends_with_who_computes_or_when_all_stand_still(sleeper: _Child, worker: _Child) -> None:
    assert _is_over_soon(Patience(0.02), sleeper)
    assert _is_over_soon(Patience(0.02), worker)


def test_patience_does_not_end_while_others_have_the_processor(worker: _Child) -> None:
    import signal

    worker.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, worker.process.pid, os.WSTOPPED | os.WNOWAIT)
    patience = Patience(0.0001)
    assert not any(patience.is_over([worker.process.pid]) for _ in range(50))


def test_a_group_is_all_that_was_started(tmp_path: Path) -> None:
    code = "import subprocess, sys\nother = subprocess.Popen([sys.executable, '-c', 'input()'], "
    code += "stdin=subprocess.PIPE)\nprint(flush=True)\nother.wait()"
    child = _Child(code)
    found = members(child.process.pid)
    child.end()
    assert len(found) == 2


def test_how_long_the_program_takes_to_be_prepared_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has loaded thousands of functions needs seconds for it, and a busy machine many more."""
    prepared = function._prepared

    def slowly(*given: object) -> object:
        end = time.process_time() + 0.6
        while time.process_time() < end:
            pass
        return prepared(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(function, "_prepared", slowly)
    with function.function_program(_does_nothing) as program:
        program.zygote().patience = 0.2  # type: ignore[attr-defined] # a Zygote
        assert not program.execute(Course()).uncontrolled


def _does_nothing() -> None: ...


def test_what_does_not_return_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HANGS)
    with script((str(path),)) as program:
        program.zygote().patience = 0.5  # type: ignore[attr-defined] # a Zygote
        (reason,) = program.execute(Course()).uncontrolled
    assert reason.startswith("nothing happens for 0.5 seconds: something outside control does not return")
    assert reason.endswith("program.py:4)")


def test_a_loop_without_an_end_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("x = 1\nwhile x:\n    x += 1\n")
    with script((str(path),)) as program:
        program.zygote().patience = 0.1  # type: ignore[attr-defined] # a Zygote
        (reason,) = program.execute(Course()).uncontrolled
    assert reason.startswith("no end after 0.6 seconds of computing")
    assert "program.py:" in reason


def test_the_time_that_was_given_is_kept_whatever_hangs(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HANGS)
    with script((str(path),)) as program:
        found = explore(program, Options(seconds=2.0))
    assert 2.0 <= found.seconds < STILL / 2
    assert list(found.open) == [
        "the limit of 2 seconds",
        f"an execution that did not come to its end, at {path}:4",
    ]


def test_after_an_interrupt_nobody_gets_the_answer_that_was_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.py"
    path.write_text("import sys\nprint(sys.stdin.read())\n")
    with script((str(path),), input="a") as program:
        program.execute(Course())

        def interrupted(self: Zygote, until: float | None = None) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(Zygote, "answer", interrupted)
            program.execute(Course())
        program.options["input"] = "b"
        assert program.execute(Course()).output == b"b\n"


def test_what_a_program_has_started_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import os, subprocess, sys\n"
        "other = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        "print(other.pid)\n"
    )
    with script((str(path),)) as program:
        found = program.execute(Course())
    other = int(found.output)
    end = time.monotonic() + PATIENCE
    while _is_alive(other) and time.monotonic() < end:
        time.sleep(0.01)
    assert not _is_alive(other)


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_the_place_is_rather_that_of_a_thread_which_is_not_in_our_code(tmp_path: Path) -> None:
    ours = function.__file__
    stacks = f"""Thread 0x1 (most recent call first):
  File "{ours}", line 3 in wait
  File "{tmp_path}/one.py", line 5 in work

Thread 0x2 (most recent call first):
  File "{tmp_path}/two.py", line 7 in read
"""
    assert place_in(stacks) == f"{tmp_path}/two.py:7"
    assert place_in("") == ""


@pytest.mark.parametrize(
    ("longest", "runs", "is_overdue"), [(0.0, 0.9, False), (0.0, 1.1, True), (2.0, 9.0, False)]
)
def test_where_all_take_long_the_last_is_not_to_blame(longest: float, runs: float, is_overdue: bool) -> None:
    zygote = Zygote.__new__(Zygote)
    zygote._since, zygote._longest = 100.0, longest
    assert zygote._is_overdue(100.0 + runs) is is_overdue
