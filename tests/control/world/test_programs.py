"""`subprocess` of Python programs: they talk by pipes, sockets and files under the one scheduler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from possibly.control.world.processes.programs import Command, command_of
from tests.control.runtime.brute import reduced
from tests.control.runtime.running import explored
from tests.waiting import PATIENCE

HEAD = """\
import socket, subprocess, sys, os
from subprocess import PIPE
os.environ.pop("PYTHONUNBUFFERED", None)
lengths = sys.argv[1:]
def python(text, *given, **how):
    return subprocess.Popen([sys.executable, "-c", text, *given], text=True, **how)
def pause(number): return lengths[number] if lengths else "0"
"""


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["python3", "a.py", "1"], Command("", "a.py", ("1",), False)),
        ([sys.executable, "-u", "-c", "1", "-x"], Command("-c", "1", ("-x",), True)),
        (["/usr/bin/python", "-Bu", "-m", "a.b"], Command("-m", "a.b", (), True)),
        (["python3", "-O", "a.py"], None),
        (["python3", "-c"], None),
        (["ls", "a.py"], None),
        ("python3 a.py", None),
    ],
)
def test_which_commands_are_python_programs(words: object, found: Command | None) -> None:
    assert command_of(words) == found


PROGRAMS = {
    "two who write to one pipe": """
out, into = os.pipe()
text = "import sys, time; time.sleep(float(sys.argv[1])); print(sys.argv[2], end='')"
programs = [python(text, pause(each), str(each), stdout=into) for each in range(2)]
os.close(into)
found = ""
while data := os.read(out, 9): found += data.decode()
print(found, [each.wait() for each in programs])
""",
    "whether it has ended": """
text = "import sys, time; time.sleep(float(sys.argv[1]))"
program = python(text, pause(0))
try: print(program.wait(0.1))
except subprocess.TimeoutExpired: print("late")
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.large("two who write to one pipe")
def test_what_really_happens_is_among_what_is_explored(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + PROGRAMS[name])
    found = {output.decode() for outcome, _, output in reduced(path)[0] if outcome == "finished"}
    for lengths in (("0", "0.3"), ("0.3", "0")):
        real = subprocess.run(
            [sys.executable, str(path), *lengths], capture_output=True, text=True, timeout=PATIENCE
        )
        assert real.returncode == 0, real.stderr
        assert real.stdout in found


WRONG = {
    "what is not flushed": ("deadlock", """
program = python("import sys\\\\nfor line in sys.stdin: print(line)", stdin=PIPE, stdout=PIPE)
program.stdin.write("x\\\\n")
program.stdin.flush()
program.stdout.readline()
"""),
    "an end that waits for a full pipe": ("deadlock", """
python("print('x' * 200_000)", stdout=PIPE).wait()
"""),
    "a status that is not looked at": ("exception", "python('1 / 0').wait()"),
    "one that is": ("exception", "subprocess.run([sys.executable, '-c', '1 / 0'], check=True, stderr=PIPE)"),
    "a file of two": ("assertion", """
with open("count", "w") as file: file.write("0")
text = "value = int(open('count').read() or 0); file = open('count', 'w'); print(value + 1, file=file)"
for each in [python(text) for _ in range(2)]: each.wait()
assert open("count").read() == "2\\\\n"
"""),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_goes_wrong_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, source = WRONG[name]
    monkeypatch.chdir(tmp_path)
    found = explored(tmp_path, HEAD + source.replace("\\\\", "\\"))
    assert found.failure is not None and found.failure.kind == kind, found.open


RIGHT = {
    "talk": """
program = python("for line in iter(input, ''): print(line, flush=True)", stdin=PIPE, stdout=PIPE)
program.stdin.write("x\\n")
program.stdin.flush()
assert program.stdout.readline() == "x\\n"
assert program.communicate("\\n") == ("", None) and program.returncode == 0
""",
    "its words, folder and environment": """
text = "import os, sys; print(sys.argv[1:], os.getcwd() == sys.path[0] or os.getcwd(), os.environ.get('A'))"
found = subprocess.check_output([sys.executable, "-c", text, "x"], cwd="/", env={"A": "b"}, text=True)
assert found == "['x'] / b\\n", found
""",
    "what it reads and how it ends": """
text = "import sys; sys.exit(len(sys.stdin.read()))"
assert subprocess.run([sys.executable, "-c", text], input="abc", text=True).returncode == 3
""",
    "what is wrong with it": """
found = subprocess.run([sys.executable, "-c", "1 / 0"], stderr=PIPE, text=True)
assert found.returncode == 1 and "ZeroDivisionError" in found.stderr
""",
    "one after the other": """
one = python("print('b'); print('a')", stdout=PIPE)
two = python("import sys; print(sorted(sys.stdin))", stdin=one.stdout, stdout=PIPE)
one.stdout.close()
assert two.communicate()[0] == "['a\\\\n', 'b\\\\n']\\n" and one.wait() == 0
""",
    "a server that is ended": """
text = '''
import socket
with socket.create_server(("127.0.0.1", 47_312)) as listener:
    print("ready", flush=True)
    listener.accept()[0].sendall(b"x")
    listener.accept()
'''
program = python(text, stdout=PIPE)
assert program.stdout.readline() == "ready\\n"
assert socket.create_connection(("127.0.0.1", 47_312)).recv(9) == b"x"
program.terminate()
assert program.wait() == -15
""",
    "one that is left behind": """
python("import sys; sys.stdin.read()", stdin=PIPE)
python("import os; os.read(os.pipe()[0], 1)")
""",
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.large("one after the other")
def test_what_is_right_is_covered(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + RIGHT[name])
    assert found.complete, (found.failure, found.open)


def test_a_script_and_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "told.py").write_text("import sys\nif __name__ == '__main__': print(sys.argv[1:])")
    source = """
for how in (["told.py"], ["-m", "told"]):
    assert subprocess.check_output([sys.executable, *how, "x"], text=True) == "['x']\\n"
"""
    assert explored(tmp_path, HEAD + source).complete


def test_other_commands_are_named(tmp_path: Path) -> None:
    found = explored(tmp_path, "import subprocess\nsubprocess.run(['true'])")
    assert found.holds is None and any("another program" in each for each in found.open)
