"""Processes that `os.fork` makes, and pipes of the system: what really happens is explored, and decided."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.control.runtime.brute import reduced
from tests.control.runtime.running import explored
from tests.waiting import PATIENCE

HEAD = """\
import os, sys, time
lengths = list(map(float, sys.argv[1:]))
def pause(number): time.sleep(lengths[number] if lengths else 0)
def forked(function, *given):
    child = os.fork()
    if not child:
        function(*given)
        os._exit(0)
    return child
def read_all(number):
    found = b""
    while data := os.read(number, 1 << 20): found += data
    return found
"""
PROGRAMS = {
    "two who write to one pipe": """
out, into = os.pipe()
def write(number):
    pause(number)
    os.write(into, b"%d" % number)
children = [forked(write, each) for each in range(2)]
os.close(into)
print(read_all(out))
for each in children: os.waitpid(each, 0)
""",
    "whoever ends first": """
def end(number):
    pause(number)
    os._exit(number)
children = [forked(end, each) for each in range(2)]
print([os.waitstatus_to_exitcode(os.wait()[1]) for _ in children])
""",
    "lines through files that are pipes": """
out, into = os.pipe()
def write(number):
    pause(number)
    with os.fdopen(into, "w") as file: file.write("a\\nb\\n")
child = forked(write, 0)
os.close(into)
with os.fdopen(out) as file: print([line for line in file])
print(os.waitpid(child, 0) == (child, 0))
""",
    "a copy of an end": """
out, into = os.pipe()
def write(number):
    other = os.dup(into)
    os.close(into)
    pause(number)
    os.write(other, b"x")
child = forked(write, 0)
os.close(into)
print(read_all(out))
os.waitpid(child, 0)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_really_happens_is_among_what_is_explored(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + PROGRAMS[name])
    found = {output.decode() for outcome, _, output in reduced(path)[0] if outcome == "finished"}
    for lengths in (("0", "0.2"), ("0.2", "0")):
        real = subprocess.run(
            [sys.executable, str(path), *lengths], capture_output=True, text=True, timeout=PATIENCE
        )
        assert real.returncode == 0, real.stderr
        assert real.stdout in found


WRONG = {
    "assertion": "if not os.fork(): assert False",
    "deadlock": "out, into = os.pipe()\nforked(lambda: None)\nread_all(out)",
    "exception": "out, into = os.pipe()\nos.close(out)\nos.write(into, b'x')",
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_goes_wrong_is_found(kind: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + WRONG[kind])
    assert found.failure is not None and found.failure.kind == kind, found.open


RIGHT = {
    "a child that ends with its code": """
child = os.fork()
if child:
    assert os.waitpid(child, 0) == (child, 3 << 8)
else:
    raise SystemExit(3)
""",
    "one that is not waited for": """
out, into = os.pipe()
forked(os.write, into, b"x")
assert os.read(out, 9) == b"x"
""",
    "looked for": """
out, into = os.pipe()
child = forked(os.read, out, 1)
assert os.waitpid(child, os.WNOHANG) == (0, 0)
os.write(into, b"x")
os.waitpid(child, 0)
""",
    "more than a pipe holds": """
out, into = os.pipe()
child = forked(os.write, into, bytes(200_000))
os.close(into)
assert len(read_all(out)) == 200_000
os.waitpid(child, 0)
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_covered(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + RIGHT[name])
    assert found.complete, (found.failure, found.open)
