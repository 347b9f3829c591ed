"""A full disk: every write that may fail does in some execution, as it does in reality, and no other call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Exploration, Options
from tests.control.runtime.running import explored

OVERWRITE = """\
import json
def save(data):
    {save}
def load():
    with open("state.json") as file:
        return json.load(file)
try:
    save({{"n": 1}})
except OSError:
    raise SystemExit(0)
try:
    save({{"n": 2}})
except OSError:
    pass
assert load()["n"] in (1, 2)
"""
TORN = {
    "json.dump": 'with open("state.json", "w") as file: json.dump(data, file)',
    "write": 'with open("state.json", "w") as file: file.write(json.dumps(data))',
    "print": 'with open("state.json", "w") as file: print(json.dumps(data), file=file)',
    "without a buffer": 'with open("state.json", "wb", 0) as file: file.write(json.dumps(data).encode())',
    "Path.write_text": 'from pathlib import Path\n    Path("state.json").write_text(json.dumps(data))',
    "a copy": (
        'import shutil\n    with open("new.json", "w") as file: json.dump(data, file)\n'
        '    shutil.copyfile("new.json", "state.json")'
    ),
    "closed by hand": 'file = open("state.json", "w"); file.write(json.dumps(data)); file.close()',
}
WHOLE = {
    "a new file that is renamed": (
        'import os\n    with open("new.json", "w") as file: json.dump(data, file)\n'
        '    os.replace("new.json", "state.json")'
    ),
}
MAY_FAIL = {
    "open": 'open("a", "w").close()',
    "open to append": 'open("a", "a").close()',
    "mode by name": 'open("a", mode="x").close()',
    "open for both": 'file = open("a", "w+"); file.write("1"); file.close()',
    "Path.write_text": 'Path("a").write_text("1")',
    "Path.open": 'Path("a").open("w").close()',
    "os.mkdir": 'os.mkdir("a")',
    "os.open": 'os.close(os.open("a", os.O_CREAT | os.O_WRONLY))',
    "os.rename": 'os.rename("there", "a")',
    "tempfile": "tempfile.mkdtemp()",
}
CANNOT_FAIL = {
    "reading": 'open("there").read()',
    "looking": 'os.path.exists("there"); os.listdir(".")',
    "removing": 'os.remove("there")',
    "without its buffer": 'file = open("there"); file.detach(); len([file]); del file',
    "in memory": 'file = io.StringIO(); file.write("1"); file.close()',
    "standard output": 'print("1"); sys.stdout.flush()',
    "a method of the same name": "class A:\n    def write(self, text): pass\nA().write('1')",
}
TWO = """\
import threading
def keep(name):
    try:
        with open(name, "w") as file: file.write("1")
    except OSError:
        failed.append(name)
failed = []
threads = [threading.Thread(target=keep, args=(name,)) for name in "ab"]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(failed) < 2
"""


def with_faults(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch, at_most: int = 1
) -> Exploration:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("")
    return explored(tmp_path, source, Options(minimise=0), faults=frozenset({"disk"}), at_most=at_most)


@pytest.mark.parametrize("save", TORN.values(), ids=TORN)
def test_what_is_overwritten_may_be_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: str) -> None:
    found = with_faults(tmp_path, OVERWRITE.format(save=save), monkeypatch)
    assert found.holds is False and found.failure is not None
    assert "JSONDecodeError" in found.failure.message


@pytest.mark.parametrize("save", WHOLE.values(), ids=WHOLE)
def test_what_is_put_in_its_place_at_once_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: str
) -> None:
    found = with_faults(tmp_path, OVERWRITE.format(save=save), monkeypatch)
    assert found.holds, found.open or (found.failure and found.failure.message)


IMPORTS = "import io, os, sys, tempfile\nfrom pathlib import Path\n"


@pytest.mark.parametrize("call", MAY_FAIL.values(), ids=MAY_FAIL)
def test_what_needs_room_may_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    found = with_faults(tmp_path, IMPORTS + call, monkeypatch)
    assert found.holds is False and found.failure is not None
    assert found.failure.message.startswith("OSError: [Errno 28]")


@pytest.mark.parametrize("call", CANNOT_FAIL.values(), ids=CANNOT_FAIL)
def test_what_needs_none_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    found = with_faults(tmp_path, IMPORTS + call, monkeypatch)
    assert found.holds, found.open or (found.failure and found.failure.message)
    assert found.executions == 2 and not found.assumed, (
        "one with no fault, one with at most one: none can come"
    )


def test_it_fails_as_often_as_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_faults(tmp_path, TWO, monkeypatch).holds
    assert with_faults(tmp_path, TWO, monkeypatch, at_most=2).holds is False


@pytest.mark.parametrize("write", ["file.write('1')", "print('1', file=file)", "json.dump([1], file)"])
def test_it_fails_where_a_really_full_device_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    """What is small stays in the buffer: it is `close` that fails, and not what has written it."""
    body = f"import json\nfile = open(PATH, 'w')\n{write}\nstep = 'written'\nfile.close()\n"
    real = body.replace("PATH", "'/dev/full'").replace("file.close()", "print(step); file.close()")
    seen = subprocess.run([sys.executable, "-c", real], capture_output=True, text=True, check=False)
    assert seen.stdout == "written\n" and "OSError: [Errno 28]" in seen.stderr
    guarded = body.replace("open(PATH, 'w')", "opened()").replace(
        "file.close()", "try:\n    file.close()\nexcept OSError:\n    step = 'failed at the end'"
    )
    opened = (
        "def opened():\n    while True:\n        try: return open('a', 'w')\n        except OSError: pass\n"
    )
    found = with_faults(tmp_path, opened + guarded + "assert step != 'failed at the end'\n", monkeypatch)
    assert found.holds is False and found.failure is not None
    assert "AssertionError" in found.failure.message
    assert with_faults(tmp_path, opened + guarded + "assert step != 'begun'\n", monkeypatch).holds
