"""Files are as they were before each execution, however the one before it ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from possibly.control.execution import Outcome
from possibly.control.forking import disk
from possibly.control.forking.zygote import script
from possibly.control.schedulers.course import Course, Habit
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

HEAD = """\
import os, pathlib, shutil, sqlite3, sys, tempfile, threading
os.chdir({folder!r})
lock = threading.Lock()
n = 0
def work():
    global n
    with lock: n += 1
def threads():
    made = [threading.Thread(target=work) for _ in range(2)]
    for each in made: each.start()
    for each in made: each.join()
"""
CHANGING = {
    "a new file": "open('new', 'x').close()",
    "a file that is removed": "assert open('old').read() == 'old'; os.remove('old')",
    "a file that is written": "assert open('old').read() == 'old'; open('old', 'w').write('new')",
    "a file that grows": "assert os.path.getsize('old') == 3; open('old', 'a').write('new')",
    "a part of a file": "assert open('old').read() == 'old'\nwith open('old', 'r+') as f: f.write('N')",
    "a file by its number": "f = os.open('new', os.O_WRONLY | os.O_CREAT | os.O_EXCL); os.close(f)",
    "a file that is moved": "os.rename('old', 'new')",
    "a file that is replaced": "assert open('old').read()\nopen('b', 'x').close(); os.replace('b', 'old')",
    "a file that is cut": "assert os.path.getsize('old') == 3; os.truncate('old', 1)",
    "rights": "assert os.stat('old').st_mode & 0o100 == 0; os.chmod('old', 0o700)",
    "times": "assert os.stat('old').st_mtime != 5; os.utime('old', (5, 5))",
    "a link": "os.symlink('old', 'new')",
    "a link that is removed": "os.remove('link')",
    "what a link leads to": "assert open('link').read() == 'old'; open('link', 'w').write('new')",
    "a hard link": "os.link('old', 'new')",
    "a folder": "os.mkdir('new'); open('new/file', 'x').close()",
    "folders": "os.makedirs('new/er/est'); pathlib.Path('new/er/est/file').write_text('')",
    "a folder that is removed": "os.remove('folder/inner/file'); os.removedirs('folder/inner')",
    "a tree that is removed": "shutil.rmtree('folder')",
    "a changed folder": "os.chmod('folder', 0o700)\nshutil.rmtree('folder'); open('folder', 'x')",
    "a tree that is moved": "shutil.move('folder', 'new'); os.remove('new/inner/file')",
    "a path": "p = pathlib.Path('new')\nassert not p.exists(); p.write_text('a'); p.rename('newer')",
    "a copy": "assert not os.path.exists('new'); shutil.copy('old', 'new')",
    "a database": "c = sqlite3.connect('new.db'); c.execute('create table t (n)'); c.commit(); c.close()",
    "an open file": "global f\nf = open('old', 'a'); assert f.tell() == 3; f.write('new'); f.flush()",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "there"
    (found / "folder" / "inner").mkdir(parents=True)
    (found / "folder" / "inner" / "file").write_text("in")
    (found / "old").write_text("old")
    (found / "old").chmod(0o600)
    (found / "link").symlink_to("old")
    return found


def seen(folder: Path) -> dict[str, tuple[int, int, str]]:
    """All that is there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        what = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else ""
        state = path.lstat()
        is_file = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(folder))] = state.st_mode, state.st_mtime_ns if is_file else 0, what
    return found


@pytest.mark.parametrize("what", CHANGING)
def test_every_execution_finds_the_same_files(what: str, folder: Path, tmp_path: Path) -> None:
    lines = "".join(f"    {line}\n" for line in CHANGING[what].split("\n"))
    path = tmp_path / "program.py"
    path.write_text(HEAD.format(folder=str(folder)) + f"def change():\n{lines}change()\nthreads()\n")
    before = seen(folder)
    with script((str(path),)) as program:
        for seed in range(2):
            execution = program.execute(Course(habit=Habit.RANDOM, seed=seed))
            assert execution.outcome is Outcome.FINISHED, execution.failure
            assert seen(folder) == before
        assert program.writes_files


@pytest.mark.parametrize(
    "end", ["assert 0", "os._exit(3)", "lock.acquire(); lock.acquire()", "os.kill(os.getpid(), 9)"]
)
def test_however_it_ends(end: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD.format(folder=str(folder)) + f"open('new', 'x').close()\nos.remove('old')\n{end}\n")
    before = seen(folder)
    with script((str(path),)) as program:
        for _ in range(2):
            program.execute(Course())
            assert seen(folder) == before


@pytest.mark.parametrize(
    ("change", "is_complete"),
    [
        ("os.close(os.open('held', os.O_RDWR | os.O_TMPFILE, 0o600))", True),
        ("os.chmod('held', 0o700)", True),
        ("os.utime('held')", True),
        ("tempfile.TemporaryFile(dir='held').close()", True),
        ("os.rename('held', 'moved')", False),
        ("os.chmod('held', 0o700); os.rename('held', 'moved')", False),
    ],
)
def test_what_is_in_a_folder_is_taken_down_only_where_it_changes(
    change: str, is_complete: bool, folder: Path, tmp_path: Path
) -> None:
    (folder / "held").mkdir()
    with open(folder / "held" / "large", "wb") as large:
        large.truncate(disk.LARGEST + 1)  # more than is taken down
    path = tmp_path / "program.py"
    path.write_text(HEAD.format(folder=str(folder)) + f"{change}\nthreads()\n")
    with script((str(path),)) as program:
        assert explore(program, Options()).complete is is_complete
    assert len([*folder.rglob("large")]) == 1, "what was not taken down is not removed"


def test_a_search_that_is_given_up(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD.format(folder=str(folder)) + "open('new', 'x').close()\nwhile True: pass\n")
    before = seen(folder)
    with script((str(path),)) as program:
        found = explore(program, Options(seconds=1.0))
    assert found.holds is None and seen(folder) == before


def test_what_is_too_large_to_be_put_back_is_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "LARGEST", 2)
    path = tmp_path / "program.py"
    path.write_text(HEAD.format(folder=str(folder)) + "open('old', 'a').close()\nthreads()\n")
    with script((str(path),)) as program:
        found = explore(program)
    assert found.holds is None and any("not put back" in what for what in found.open)
