"""A recorded program behaves as it does alone, and whatever ends it leaves a trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from possibly.trace import Trace, load

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore"}


def alone(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, input=stdin, check=False
    )


def recorded(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return alone(folder, "-m", "possibly", "run", "-o", "run.jsonl", *words, stdin=stdin)


def trace_of(folder: Path) -> Trace:
    return load(folder / "run.jsonl")


ENDS = {
    "falls off": "print('x')",
    "exit status": "import sys; sys.exit(7)",
    "exit text": "import sys; sys.exit('no')",
    "exception": "def f():\n    return 1 / 0\nf()",
    "cause": "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e",
    "exception in a thread": """
        import threading
        def f(): raise ValueError('in a thread')
        t = threading.Thread(target=f, name='w'); t.start(); t.join()
    """,
    "exception in a task": """
        import asyncio
        async def g(): raise ValueError('in a task')
        async def f(): await asyncio.create_task(g())
        asyncio.run(f())
    """,
    "os._exit": "import os; print('t', flush=True); os._exit(5)",
    "syntax error": "x = = 1",
    "daemon": "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    "arguments": "import sys; print(sys.argv, __name__, __file__ is not None, sys.path[0])",
    "standard input": "print(input() + '!')",
    "interrupt": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "main module": "import __main__, sys\nx = 3\nprint(__main__.x, sys.modules['__main__'] is __main__)",
}


@pytest.mark.parametrize("name", ENDS)
def test_as_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(ENDS[name]))
    plain = alone(tmp_path, "program.py", "a", "--b", stdin="line\n")
    told = recorded(tmp_path, "--watch", "x", "program.py", "a", "--b", stdin="line\n")
    assert told.stdout == plain.stdout
    expected = 130 if plain.returncode == -signal.SIGINT else plain.returncode
    assert told.returncode == expected
    *errors, remark = told.stderr.splitlines()
    assert remark.startswith("possibly: ")
    assert errors == plain.stderr.splitlines()
    trace_of(tmp_path)


def test_module_of_a_package(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "__main__.py").write_text(
        "import sys\nfrom . import inner\nprint(__package__, sys.argv[1:], inner.total)\n"
    )
    (tmp_path / "package" / "inner.py").write_text("total = 1\n")
    plain = alone(tmp_path, "-m", "package", "a")
    told = recorded(tmp_path, "--watch", "inner.total", "-m", "package", "a")
    assert (told.stdout, told.returncode) == (plain.stdout, 0)


KILLED = """
import os, signal, threading, time
lock, x = threading.Lock(), 0
for x in range(100):
    with lock: pass
time.sleep(0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_leaves_its_trace(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(KILLED)
    told = recorded(tmp_path, "--watch", "x", "program.py")
    assert told.returncode == 128 + signal.SIGKILL
    trace = trace_of(tmp_path)
    assert [trace.event(e).write.get("x") for e in range(len(trace)) if trace.event(e).write][-1] == 99


RACING = """
import threading
x = 0
lock = threading.Lock()
def work():
    global x
    for _ in range(60):
        x += 1
        with lock: x += 100
threads = [threading.Thread(target=work) for _ in range(3)]
import sys; sys.setswitchinterval(1e-6)
for thread in threads: thread.start()
for thread in threads: thread.join()
print(x)
"""


def test_the_recorded_order_is_the_order_of_the_accesses(tmp_path: Path) -> None:
    """Replayed in the order of the lines, each write is what its thread made of what it had read."""
    (tmp_path / "program.py").write_text(RACING)
    for _ in range(5 * int(os.environ.get("POSSIBLY_CASES", "1"))):
        told = recorded(tmp_path, "--watch", "x", "program.py")
        trace = trace_of(tmp_path)
        value, seen = 0, {}
        for number in range(len(trace)):
            event = trace.event(number)
            if event.read:
                seen[event.process] = value
            if event.write:
                value = event.write["x"]
                if event.process != "MainThread":
                    assert value - seen[event.process] in (1, 100)
        assert value == int(told.stdout)


def interpreters() -> list[str]:
    found = [sys.executable]
    versions = Path.home() / ".pyenv" / "versions"
    for minor in ("3.12", "3.13"):
        found += [str(path / "bin" / "python") for path in sorted(versions.glob(f"{minor}.*"))[:1]]
    return found


@pytest.mark.parametrize("python", interpreters())
def test_other_interpreters(python: str, tmp_path: Path) -> None:
    from tests.probes.test_edges import THREADS

    (tmp_path / "program.py").write_text(
        THREADS
        + textwrap.dedent(
            """
            import asyncio
            x = 0
            condition, event = threading.Condition(), threading.Event()
            channel = queue.Queue()
            def one():
                global x
                with condition: x += 1
                channel.put(1); event.set()
            def two():
                event.wait(); channel.get()
                print(x)
            async def main():
                lock = asyncio.Lock()
                async with lock: await asyncio.to_thread(go, one, two)
            asyncio.run(main())
            """
        )
    )
    words = [python, "-m", "possibly", "run", "--watch", "x", "-o", "run.jsonl", "program.py"]
    done = subprocess.run(words, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr
    trace = trace_of(tmp_path)
    assert {"MainThread", "Task-1", "one", "two"} <= {process.name for process in trace.processes}
