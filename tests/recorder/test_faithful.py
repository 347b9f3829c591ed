"""A recorded program behaves as it does alone, and whatever ends it leaves a trace."""

from __future__ import annotations

import os
import py_compile
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from possibly.order.computation import Computation
from possibly.trace import Event, Trace, load

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


def events_of(trace: Trace) -> list[Event]:
    return [trace.event(e) for e in range(len(trace))]


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
    "its own names": "x, name, table = 0, '', {}\nfor name in globals():\n    x += 1\n    table[name] = [x]\n"
    "    table[name].append(x)\n    table[name] += [2]\nprint('x' in table, type(table['x']))",
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
import glob, json, os, signal, threading
lock, x = threading.Lock(), 0
for x in range(100):
    with lock: pass
(log,) = glob.glob(json.loads(os.environ["POSSIBLY_RECORDING"])["folder"] + "/*.log")
size = os.path.getsize(log)
with lock: pass
while os.path.getsize(log) == size: pass  # until the next flush
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_leaves_its_trace(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(KILLED)
    told = recorded(tmp_path, "--watch", "x", "program.py")
    assert told.returncode == 128 + signal.SIGKILL
    trace = trace_of(tmp_path)
    assert [trace.event(e).write.get("x") for e in range(len(trace)) if trace.event(e).write][-1] == 99


CHILD_KILLED = """
import multiprocessing, os, signal
def child(queue):
    y = 1  #: began
    queue.put("item")
    signal.pause()
if __name__ == "__main__":
    queue = multiprocessing.get_context("fork").Queue()
    process = multiprocessing.get_context("fork").Process(target=child, args=(queue,), name="child")
    process.start()
    queue.get()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    x = process.exitcode  #: joined
"""


def test_a_killed_child_leaves_what_it_had_told_and_the_parent_all(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(CHILD_KILLED)
    assert recorded(tmp_path, "--watch", "x", "program.py").returncode == 0
    trace = trace_of(tmp_path)
    events = [trace.event(number) for number in range(len(trace))]
    assert [dict(event.write) for event in events if event.label == "joined"] == [{"x": -signal.SIGKILL}]
    kinds = [event.kind for event in events if event.process == "MainThread"]
    assert kinds[0] == "spawn" and "receive" in kinds


WAITING = """
import signal, threading
lock, x = threading.Lock(), 1
with lock: pass
print("ready", flush=True); signal.pause()
"""


def without_carets(lines: list[str]) -> list[str]:
    """Which half of the line was interrupted is chance."""
    return [line for line in lines if line.strip(" ^")]


def test_ctrl_c_reaches_the_program_as_always_and_the_trace_is_whole(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(WAITING)
    results = []
    for words in (
        ("program.py",),
        ("-m", "possibly", "run", "-o", "run.jsonl", "--watch", "x", "program.py"),
    ):
        with subprocess.Popen(
            [sys.executable, *words], cwd=tmp_path, env=ENVIRONMENT, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stdout is not None and process.stderr is not None
            assert process.stdout.readline() == "ready\n"
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            results.append((process.stderr.read(), process.wait()))
    (plain, by_signal), (told, status) = results
    *errors, remark = told.splitlines()
    assert (without_carets(errors), status) == (without_carets(plain.splitlines()), 128 - by_signal)
    assert remark.startswith("possibly: ")
    assert [trace_of(tmp_path).event(n).kind for n in range(3)] == ["write", "acquire", "release"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.py", "run.jsonl"]


def test_a_program_that_becomes_another_leaves_its_trace(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, sys\nx = 1\n"
        "os.execl(sys.executable, sys.executable, '-c', 'print(2); raise SystemExit(3)')\n"
    )
    told = recorded(tmp_path, "--watch", "x", "program.py")
    assert (told.stdout, told.returncode) == ("2\n", 3)
    assert dict(trace_of(tmp_path).event(0).write) == {"x": 1}


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


EVERYWHERE = """
import asyncio, multiprocessing, queue, threading
from concurrent.futures import ThreadPoolExecutor
x = 0
condition, event, channel = threading.Condition(), threading.Event(), queue.Queue()
def one():
    global x
    with condition: x += 1
    pass  #: puts
    channel.put(1)
    pass  #: sets
    event.set()
    pass  #: later
def two():
    channel.get()
    pass  #: got
    event.wait()
    pass  #: woken
    print(x, flush=True)
def go():
    threads = [threading.Thread(target=work, name=work.__name__) for work in (one, two)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
async def add(lock):
    async with lock:
        pass  #: added
async def main():
    lock = asyncio.Lock()
    await asyncio.to_thread(go)
    await asyncio.gather(add(lock), add(lock))
    pass  #: gathered
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(0))
def child(lock, items):
    with lock:
        pass  #: child_inside
    items.put("item")
    pass  #: child_later
if __name__ == "__main__":
    asyncio.run(main())
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(len, "abc").result() == 3
    context = multiprocessing.get_context("fork")
    lock, items = context.Lock(), context.Queue()
    process = context.Process(target=child, args=(lock, items), name="child")
    pass  #: forks
    process.start()
    pass  #: forked
    items.get()
    pass  #: has_item
    with lock:
        pass  #: inside
    process.join()
"""


@pytest.mark.parametrize("python", interpreters())
def test_other_interpreters(python: str, tmp_path: Path) -> None:
    """The trace of a run under each of them is read back here, and has the order of its primitives."""
    (tmp_path / "program.py").write_text(EVERYWHERE)
    words = [python, "-m", "possibly", "run", "--watch", "x", "-o", "run.jsonl", "program.py"]
    done = subprocess.run(words, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr
    trace = trace_of(tmp_path)
    assert {"MainThread", "main#1", "one", "two", "child"} <= {process.name for process in trace.processes}
    order = Computation(trace, "sync")
    place = {event.label: event.number for event in map(trace.event, range(len(trace))) if event.label}
    for (
        pair
    ) in "puts<got sets<woken woken<added added<gathered forks<child_inside child_inside<inside".split():
        first, second = pair.split("<")
        assert order.happened_before(place[first], place[second]), pair
    for pair in "sets|got later|woken forked|child_inside child_later|has_item".split():
        first, second = pair.split("|")
        assert order.concurrent(place[first], place[second]), pair


LOOKING = """
import sys, traceback
count = 0
def f(x):
    x = [x]
    x.append(count)
    return sorted(locals()), len(sys._getframe().f_code.co_varnames)
def g():
    x = (
        f(1),
        undefined)
print(f(2), sorted(name for name in globals() if name.startswith("_poss")))
try:
    g()
except NameError:
    print(traceback.format_exc().replace(__file__, "FILE"))
lines = []
def tracer(frame, event, _):
    if frame.f_code.co_filename == __file__ and frame.f_lineno != 4:
        lines.append((event, frame.f_lineno))
        return tracer
sys.settrace(tracer)
f(3)
sys.settrace(None)
print(lines)
"""


def test_a_program_that_looks_at_itself_sees_nothing(tmp_path: Path) -> None:
    """Its local variables, its tracebacks, and the lines of a body that a tracer is told."""
    (tmp_path / "program.py").write_text(LOOKING)
    plain = alone(tmp_path, "program.py")
    watched = ("--watch", "count", "--watch", "P.x", "--calls", "f", "--calls", "g")
    assert recorded(tmp_path, *watched, "program.py").stdout == plain.stdout
    assert [event.set for event in events_of(trace_of(tmp_path)) if event.set]


def test_a_module_without_its_source_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "bank.py").write_text("total = 1\ndef add(n):\n    global total\n    total += n\n")
    py_compile.compile(str(tmp_path / "bank.py"), cfile=str(tmp_path / "bank.pyc"))
    (tmp_path / "bank.py").unlink()
    (tmp_path / "program.py").write_text("import bank\nbank.add(2)\nbank.add(3)\n")
    done = recorded(tmp_path, "--watch", "bank.total", "--calls", "add", "program.py")
    assert done.returncode == 0, done.stderr
    events = events_of(trace_of(tmp_path))
    assert [event.write["bank.total"] for event in events if event.write] == [1, 3, 6]
    assert [event.fn for event in events if event.kind == "enter"] == ["add", "add"]
