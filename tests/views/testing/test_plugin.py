"""The plugin for pytest, by a real pytest on real projects."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.views.testing.project import HEAD, Ran, ran

KINDS = (
    HEAD
    + '''

@pytest.fixture
def log(tmp_path):
    """Begun and ended in each execution: what an execution leaves is not there for the next."""
    lines = []
    yield lines
    assert lines == ["test"], lines


@pytest.fixture(scope="session")
def once():
    yield object()


@pytest.mark.explore
def test_lost_update(box):
    def adds():
        box["n"] += 1
    twice(adds)
    assert box["n"] == 2


@pytest.mark.explore
@pytest.mark.parametrize("step", [1, 2])
def test_fixtures(box, step, log, once, tmp_path, monkeypatch, capsys, request):
    lock = threading.Lock()
    monkeypatch.setenv("STEP", str(step))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    def adds():
        with lock:
            box["n"] += step
    twice(adds)
    print("printed")
    assert capsys.readouterr().out == "printed\\n"
    assert box["n"] == 2 * step
    log.append("test")


@pytest.mark.explore
def test_skips():
    pytest.skip("not here")


@pytest.mark.explore
def test_xfails():
    pytest.xfail("known")


@pytest.mark.explore
def test_fixture_fails_at_its_end(log):
    pass


@pytest.fixture
def checked(box):
    yield box
    assert box["n"] == 2, "at its end"


@pytest.mark.explore
def test_fails_before_its_fixture_does(checked):
    assert checked["n"] == 1, "in the test"


@pytest.fixture
def worker():
    import queue
    jobs, done = queue.Queue(), []
    def work():
        while (job := jobs.get()) is not None:
            done.append(job)
            jobs.task_done()
    thread = threading.Thread(target=work)
    thread.start()
    yield jobs, done
    jobs.put(None)
    thread.join()


@pytest.mark.explore
def test_fixture_owns_a_thread(worker):
    jobs, done = worker
    jobs.put(1)
    jobs.join()
    assert done == [1]


@pytest.fixture(scope="module")
def shared_worker():
    import queue
    jobs, done = queue.Queue(), []
    def work():
        while (job := jobs.get()) is not None:
            done.append(job)
            jobs.task_done()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield jobs, done
    jobs.put(None)
    thread.join()


def test_usual(shared_worker):
    jobs, done = shared_worker
    jobs.put(0)
    jobs.join()
    assert done == [0]


@pytest.mark.explore
def test_wide_fixture_owns_a_thread(shared_worker):
    jobs, done = shared_worker
    jobs.put(1)
    jobs.join()
    assert done == [1]


class Counter:
    def __init__(self):
        self.lock, self.n = threading.Lock(), 0

    def add(self):
        with self.lock:
            self.n += 1


@pytest.fixture(scope="session")
def counter():
    return {"all": [Counter()]}


@pytest.mark.explore
def test_wide_fixture_owns_a_lock(counter):
    twice(counter["all"][0].add)
    assert counter["all"][0].n == 2


class TestClass:
    @pytest.mark.explore
    def test_method(self, box):
        assert box == {"n": 0}


class TestUnit(unittest.TestCase):
    def setUp(self):
        self.n = 0

    @pytest.mark.explore
    def test_unit_bad(self):
        def adds():
            self.n += 1
        twice(adds)
        self.assertEqual(self.n, 2)

    @pytest.mark.explore
    def test_unit_good(self):
        self.assertEqual(self.n, 0)


@pytest.mark.explore
async def test_coroutine():
    seen = []
    async def says(n):
        await asyncio.sleep(0)
        seen.append(n)
    await asyncio.gather(says(1), says(2))
    assert seen == [1, 2]


@pytest.mark.explore(executions=1)
def test_limited(box):
    lock = threading.Lock()
    def adds():
        with lock:
            box["n"] += 1
    twice(adds)


@pytest.mark.explore(executions=1, open="warn")
def test_limited_with_a_warning(box):
    lock = threading.Lock()
    def adds():
        with lock:
            box["n"] += 1
    twice(adds)


@pytest.mark.explore(seconds=2)
def test_hangs():
    import signal
    signal.sigwait({signal.SIGUSR1})


@pytest.mark.explore(patience=1)
def test_mistaken():
    pass


@pytest.mark.record(races=True)
def test_race(box):
    def adds():
        box["n"] += 1
    twice(adds)


@pytest.mark.record(ctl="AG(!(inside(one, enter) & inside(two, enter)))")
def test_recorded():
    def enter():
        pass
    threads = [threading.Thread(target=enter, name=name) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.record
def test_asked_nothing():
    pass
'''
)
OUTCOMES = {
    "test_lost_update": "failure",
    "test_fixtures[1]": "passed",
    "test_fixtures[2]": "passed",
    "test_skips": "skipped",
    "test_xfails": "skipped",
    "test_fixture_fails_at_its_end": "failure",
    "test_fails_before_its_fixture_does": "failure",
    "test_fixture_owns_a_thread": "passed",
    "test_usual": "passed",
    "test_wide_fixture_owns_a_thread": "passed",
    "test_wide_fixture_owns_a_lock": "passed",
    "test_method": "passed",
    "test_unit_bad": "failure",
    "test_unit_good": "passed",
    "test_coroutine": "failure",
    "test_limited": "failure",
    "test_limited_with_a_warning": "passed",
    "test_hangs": "failure",
    "test_mistaken": "failure",
    "test_race": "failure",
    "test_recorded": "failure",
    "test_asked_nothing": "failure",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("project")
    (found / "test_kinds.py").write_text(KINDS, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def kinds(folder: Path) -> Ran:
    return ran(folder, "test_kinds.py")


def test_every_kind_of_test_has_its_outcome(kinds: Ran) -> None:
    assert {name: outcome for name, (outcome, _) in kinds.cases.items()} == OUTCOMES


def test_an_assertion_shows_its_values(kinds: Ran) -> None:
    assert "AssertionError: assert 1 == 2" in kinds.told("test_lost_update")
    assert "AssertionError: 1 != 2" in kinds.told("test_unit_bad")
    assert "assert [2, 1] == [1, 2]" in kinds.told("test_coroutine")


def test_the_failure_that_came_first_is_told(kinds: Ran) -> None:
    told = kinds.told("test_fails_before_its_fixture_does")
    assert "AssertionError: in the test" in told
    assert "AssertionError: at its end" not in told


def test_a_failed_assertion_only_reads(kinds: Ran) -> None:
    told = kinds.told("test_lost_update")
    last = [line for line in told.splitlines() if 'assert box["n"] == 2' in line]
    assert [line.split()[0] for line in last] == ["reads"]


def test_fixtures_keep_their_names_and_pytest_stays_out(kinds: Ran) -> None:
    assert "reads box['n']: 0" in kinds.told("test_lost_update")
    assert "pluggy" not in kinds.told("test_lost_update")


def test_an_open_verdict_is_never_silent(kinds: Ran) -> None:
    assert "undecided: nothing found in 1 execution" in kinds.told("test_limited")
    assert "OpenVerdict: undecided" in kinds.text
    assert "nothing found in 0 executions" in kinds.told("test_hangs")


def test_mistakes_in_a_marker_are_told(kinds: Ran) -> None:
    assert "possibly: explore has no option 'patience'" in kinds.told("test_mistaken")
    assert "possibly: record is asked nothing" in kinds.told("test_asked_nothing")


def test_a_recorded_test_is_checked_in_every_order(kinds: Ran) -> None:
    assert "race for" in kinds.told("test_race")
    assert "VIOLATED  ctl1" in kinds.told("test_recorded")


def test_the_line_that_is_printed_shows_the_failure_again(kinds: Ran, folder: Path) -> None:
    line = re.search(
        r"^again: (?:PYTHONHASHSEED=\d+ )?pytest (\S+) --possibly-replay (\S+)$",
        kinds.told("test_lost_update"),
        re.MULTILINE,
    )
    assert line is not None
    test, file = line.groups()
    again = ran(folder, test, "--possibly-replay", file)
    assert again.outcome("test_lost_update") == "failure"
    assert "AssertionError: assert 1 == 2" in again.told("test_lost_update")
    assert "reads box['n']: 0" in again.told("test_lost_update")
    other = ran(folder, "test_kinds.py::test_skips", "--possibly-replay", file)
    assert "is a schedule of another program" in other.told("test_skips")


def test_a_corrected_test_does_not_fail_any_more(kinds: Ran, folder: Path) -> None:
    file = ".pytest_cache/d/possibly/test_kinds.py-test_lost_update.schedule"
    source = folder / "test_kinds.py"
    source.write_text(
        KINDS.replace(
            '        box["n"] += 1\n    twice(adds)\n    assert',
            '        box["n"] = 2\n    twice(adds)\n    assert',
            1,
        )
    )
    try:
        again = ran(folder, "test_kinds.py::test_lost_update", "--possibly-replay", file)
    finally:
        source.write_text(KINDS, encoding="utf-8")
    assert again.outcome("test_lost_update") == "passed"
    assert "it does not fail any more" in again.text


def test_the_debugger_opens_at_the_failing_step_and_artefacts_are_kept(folder: Path) -> None:
    words = ("--pdb", "--possibly-keep", "kept", "test_kinds.py::test_lost_update")
    found = ran(folder, *words, sent="p box\nc\n")
    assert "(Pdb) {'n': 1}" in found.text
    assert found.text.count("(Pdb)") == 2
    assert {path.suffix for path in (folder / "kept").iterdir()} == {".schedule", ".jsonl", ".html"}


def test_options_of_the_command_line_the_ini_file_and_the_project(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(KINDS, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.possibly]\nexecutions = 1\n", encoding="utf-8")
    words = ("-k", "test_fixtures and 1", "test_one.py")
    assert "the limit of 1 executions" in ran(tmp_path, *words).told("test_fixtures[1]")
    (tmp_path / "pytest.ini").write_text("[pytest]\npossibly_executions = 50\n", encoding="utf-8")
    assert ran(tmp_path, *words, "--possibly-jobs", "2").outcome("test_fixtures[1]") == "passed"


def test_xdist(folder: Path) -> None:
    words = ("-n", "1", "-k", "lost_update or method", "test_kinds.py")
    found = ran(folder, *words, plugins=("xdist.plugin",))
    assert (found.outcome("test_lost_update"), found.outcome("test_method")) == ("failure", "passed")


def test_what_executions_reach_counts_for_coverage(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "def branch(n):\n    if n:\n        found = 1\n    else:\n        found = 2\n    return found\n"
    )
    (tmp_path / "test_app.py").write_text(
        HEAD + "\nimport app\n\n@pytest.mark.explore\ndef test_app():\n"
        "    threads = [threading.Thread(target=app.branch, args=(n,)) for n in (0, 1)]\n"
        "    for thread in threads:\n        thread.start()\n"
        "    for thread in threads:\n        thread.join()\n"
    )
    prefix = ("-m", "coverage", "run", "--branch", "--include=app.py", "-m", "pytest")
    assert ran(tmp_path, "test_app.py", prefix=prefix).outcome("test_app") == "passed"
    import coverage

    measured = coverage.Coverage(data_file=str(tmp_path / ".coverage"))
    measured.load()
    _, statements, _, missing, _ = measured.analysis2(str(tmp_path / "app.py"))
    assert (statements, missing) == ([1, 2, 3, 5, 6], [])


ASYNC = (
    HEAD
    + """
import anyio, pytest_asyncio


@pytest_asyncio.fixture
async def store():
    task = asyncio.create_task(asyncio.sleep(0))
    yield {"n": 0}
    await task


@pytest_asyncio.fixture
async def server():
    class Server:
        queue, told = asyncio.Queue(), []
        async def serve(self):
            while True:
                self.told.append(await self.queue.get())
                self.queue.task_done()
    served = Server()
    served.task = asyncio.create_task(served.serve())
    yield served
    served.task.cancel()
    await asyncio.gather(served.task, return_exceptions=True)


async def ask(server, number):
    await asyncio.sleep(0)
    await server.queue.put(number)
    await server.queue.join()


@pytest.mark.explore
@pytest.mark.asyncio
async def test_served_good(server):
    await ask(server, 1)
    assert server.told == [1]


@pytest.mark.explore
@pytest.mark.asyncio
async def test_served_bad(server):
    await asyncio.gather(ask(server, 1), ask(server, 2))
    assert server.told == [1, 2]


async def add(store):
    n = store["n"]
    await anyio.sleep(0)
    store["n"] = n + 1


@pytest.mark.explore
@pytest.mark.asyncio
async def test_asyncio_bad(store):
    await asyncio.gather(add(store), add(store))
    assert store["n"] == 2


@pytest.mark.explore
@pytest.mark.asyncio
async def test_asyncio_good(store):
    lock = asyncio.Lock()
    async def locked():
        async with lock:
            await add(store)
    await asyncio.gather(locked(), locked())
    assert store["n"] == 2


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.explore
@pytest.mark.anyio
async def test_anyio_bad(box):
    async with anyio.create_task_group() as group:
        group.start_soon(add, box)
        group.start_soon(add, box)
    assert box["n"] == 2


@pytest.mark.explore
@pytest.mark.anyio
async def test_anyio_good(box):
    await add(box)
    assert box["n"] == 1
"""
)


ON_TRIO = (
    HEAD
    + """
import anyio


@pytest.fixture
def anyio_backend():
    return "trio"


@pytest.fixture
async def order():
    await anyio.sleep(0)
    yield []
    await anyio.sleep(0)


async def put(order, number):
    order.append(number)


async def both(order):
    async with anyio.create_task_group() as group:
        group.start_soon(put, order, 1)
        group.start_soon(put, order, 2)


@pytest.mark.explore
@pytest.mark.anyio
async def test_one_way(order):
    await both(order)
    assert order == [1, 2]


@pytest.mark.explore
@pytest.mark.anyio
async def test_other_way(order):
    await both(order)
    assert order == [2, 1]


shared = {"n": 0}


async def add():
    n = shared["n"]
    await anyio.sleep(0)
    shared["n"] = n + 1


@pytest.mark.anyio
@pytest.mark.record(races=True)
async def test_recorded_race():
    async with anyio.create_task_group() as group:
        group.start_soon(add)
        group.start_soon(add)
"""
)


def test_tests_that_anyio_runs_on_trio(tmp_path: Path) -> None:
    """Its plugin drives trio tick by tick: each order of the tasks is tried, whichever trio would take."""
    (tmp_path / "test_on_trio.py").write_text(ON_TRIO, encoding="utf-8")
    found = ran(tmp_path, "-p", "anyio.pytest_plugin", "test_on_trio.py")
    assert {name: outcome for name, (outcome, _) in found.cases.items()} == {
        "test_one_way": "failure", "test_other_way": "failure", "test_recorded_race": "failure",
    }  # fmt: skip
    assert "put#2 wrote order (line " in found.told("test_one_way")
    assert "race for test_on_trio.shared['n']" in found.told("test_recorded_race")


RECORDED = (
    HEAD
    + """
shared = {"n": 0}
added = []


def decorate(function):
    return function


decorate.twice = decorate


@decorate.twice
@pytest.mark.record(races=True)
def test_race_under_decorators():
    twice(lambda: shared.__setitem__("n", shared["n"] + 1) or add())


def add():
    n = shared["n"]
    shared["n"] = n + 1


@pytest.mark.record(races=True)
def test_two_appends_are_none():
    twice(append)


def append():
    added.append(1)


@pytest.mark.record(races=True)
def test_a_copy_that_is_written_back():
    twice(write_back)


def write_back():
    shared.update(dict(shared))
"""
)


def test_recorded_tests_find_races_whatever_decorates_them(tmp_path: Path) -> None:
    (tmp_path / "test_recorded.py").write_text(RECORDED, encoding="utf-8")
    found = ran(tmp_path, "test_recorded.py")
    assert {name: outcome for name, (outcome, _) in found.cases.items()} == {
        "test_race_under_decorators": "failure", "test_two_appends_are_none": "passed",
        "test_a_copy_that_is_written_back": "failure",
    }  # fmt: skip


IN_PARTS = (
    HEAD
    + """
@pytest.mark.explore
def test_of_pytest(subtests, box):
    def adds():
        box["n"] += 1
    twice(adds)
    with subtests.test("first"):
        assert box["n"] == 2
    with subtests.test("second"):
        pytest.skip("not here")


@pytest.mark.explore
def test_that_holds(subtests):
    with subtests.test("first"):
        pytest.skip("not here")


class Test(unittest.TestCase):
    @pytest.mark.explore
    def test_of_unittest(self):
        self.n = 0
        def adds():
            self.n += 1
        twice(adds)
        with self.subTest("first"):
            self.assertEqual(self.n, 2)
"""
)


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="it has no subtests yet")
def test_a_part_of_a_test_that_fails_in_some_schedule_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "test_in_parts.py").write_text(IN_PARTS, encoding="utf-8")
    found = ran(tmp_path, "test_in_parts.py")
    assert {name: outcome for name, (outcome, _) in found.cases.items()} == {
        "test_of_pytest": "failure", "test_that_holds": "passed", "test_of_unittest": "failure",
    }  # fmt: skip


LOGS = (
    HEAD
    + """
import logging

log = logging.getLogger("tested")


def both():
    threads = [threading.Thread(target=log.warning, args=(word,)) for word in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.explore(executions=20)
def test_covered():
    both()


@pytest.mark.explore(executions=20)
def test_kept(caplog):
    both()
    assert sorted(caplog.messages) == ["a", "b"]


@pytest.mark.explore(executions=20)
def test_one_way(caplog):
    both()
    assert caplog.messages == ["a", "b"]


@pytest.mark.explore(executions=20)
def test_other_way(caplog):
    both()
    assert caplog.messages == ["b", "a"]
"""
)


def test_what_tests_log_is_one_step_a_line(tmp_path: Path) -> None:
    """pytest has handlers of its own beside those of the program."""
    (tmp_path / "test_logs.py").write_text(LOGS, encoding="utf-8")
    found = ran(tmp_path, "test_logs.py")
    assert {name: outcome for name, (outcome, _) in found.cases.items()} == {
        "test_covered": "passed", "test_kept": "passed",
        "test_one_way": "failure", "test_other_way": "failure",
    }  # fmt: skip
    assert "assert ['a', 'b'] == ['b', 'a']" in found.told("test_other_way")


POOLS = (
    HEAD
    + """
from concurrent.futures import ThreadPoolExecutor

POOL = ThreadPoolExecutor(2)
list(POOL.map(abs, range(3)))


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(2) as found:
        yield found


def added(pool, box):
    def add(_):
        n = box["n"]
        box["n"] = n + 1
    list(pool.map(add, range(2)))
    return box["n"]


@pytest.mark.explore
def test_of_a_module(box):
    assert added(POOL, box) == 2


@pytest.mark.explore
def test_of_a_fixture(box, pool):
    assert added(pool, box) == 2


@pytest.mark.explore
def test_that_holds(pool):
    assert sorted(pool.map(abs, range(2))) == [0, 1] == sorted(POOL.map(abs, range(2)))


@pytest.mark.explore
def test_that_asks_for_its_thread():
    names = list(POOL.map(lambda _: threading.current_thread().name, range(2)))
    assert len(set(names)) == 2
"""
)


def test_pools_that_were_made_before(tmp_path: Path) -> None:
    (tmp_path / "test_pools.py").write_text(POOLS, encoding="utf-8")
    found = ran(tmp_path, "test_pools.py")
    assert {name: outcome for name, (outcome, _) in found.cases.items()} == {
        "test_of_a_module": "failure", "test_of_a_fixture": "failure", "test_that_holds": "passed",
        "test_that_asks_for_its_thread": "failure",
    }  # fmt: skip
    for name in ("test_of_a_module", "test_of_a_fixture"):
        assert "cure (read-modify-write)" in found.told(name)


APP = """
import itertools, queue, threading

LOCK, JOBS, NUMBERS = threading.Lock(), queue.SimpleQueue(), itertools.count()
total = 0


def add():
    global total
    with LOCK:
        n = total
        total = n + 1
"""
IMPORTED = (
    HEAD
    + """
import app
from app import JOBS, LOCK, NUMBERS, add


def test_usual():
    pass


@pytest.mark.explore
def test_one_lock_of_two_modules():
    def adds():
        with LOCK:
            n = app.total
            app.total = n + 1
    threads = [threading.Thread(target=each) for each in (add, adds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert app.total == 2


@pytest.mark.explore
def test_one_counter_of_two_modules():
    got = {}
    def first():
        got["first"] = next(app.NUMBERS)
    def second():
        got["second"] = next(NUMBERS)
    threads = [threading.Thread(target=each) for each in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got["first"] < got["second"]


@pytest.mark.explore
def test_one_queue_of_two_modules():
    threads = [threading.Thread(target=app.JOBS.put, args=(1,)), threading.Thread(target=JOBS.get_nowait)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
)


def test_primitives_that_several_modules_import(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    (tmp_path / "test_imported.py").write_text(IMPORTED, encoding="utf-8")
    found = ran(tmp_path, "test_imported.py")
    assert {name: outcome for name, (outcome, _) in found.cases.items()} == {
        "test_usual": "passed", "test_one_lock_of_two_modules": "passed",
        "test_one_queue_of_two_modules": "failure", "test_one_counter_of_two_modules": "failure",
    }  # fmt: skip
    assert "Empty" in found.told("test_one_queue_of_two_modules")


INSTALLED = """
from queue import SimpleQueue
from threading import Event, Lock, Thread


class Worker:
    \"\"\"Does what it is given in a thread of its own.\"\"\"

    def __init__(self):
        self.jobs, self.lock, self.done = SimpleQueue(), Lock(), 0
        self.thread = Thread(target=self.work)
        self.thread.start()

    def work(self):
        while (job := self.jobs.get()) is not None:
            work, over = job
            work()
            over.set()

    def call(self, work):
        over = Event()
        self.jobs.put((work, over))
        over.wait()

    def count(self):
        with self.lock:
            self.done += 1

    def end(self):
        self.jobs.put(None)
        self.thread.join()
"""
OF_A_PACKAGE = (
    HEAD
    + """
import os, sys
sys.path.append(os.path.join(os.path.dirname(__file__), "site-packages"))
import worker


@pytest.fixture
def made():
    found = worker.Worker()
    yield found
    found.end()


@pytest.mark.explore
def test_calls(made):
    done = []
    made.call(lambda: done.append(1))
    assert done == [1]


@pytest.mark.explore
def test_locks(made):
    twice(made.count)
    assert made.done == 2


@pytest.mark.explore
def test_too_early(made, box):
    def adds():
        box["n"] += 1
    twice(lambda: made.jobs.put((adds, threading.Event())))
    assert box["n"] == 2
"""
)


def test_names_that_an_installed_package_has_of_primitives(tmp_path: Path) -> None:
    """`from queue import SimpleQueue`, imported before the test: a task waited there outside control."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "worker.py").write_text(INSTALLED, encoding="utf-8")
    (tmp_path / "test_package.py").write_text(OF_A_PACKAGE, encoding="utf-8")
    found = ran(tmp_path, "test_package.py")
    assert {name: outcome for name, (outcome, _) in found.cases.items()} == {
        "test_calls": "passed", "test_locks": "passed", "test_too_early": "failure",
    }  # fmt: skip
    assert 'assert box["n"] == 2' in found.told("test_too_early")


OFTEN = "not anyio_bad and not served_bad"
"""Those that fail take longest, since each is explained; one of each plugin is enough for every day."""


@pytest.mark.parametrize("left_out", ["no:possibly-none", "no:asyncio"])
@pytest.mark.large("no:possibly-none")
def test_asynchronous_tests_of_other_plugins(left_out: str, tmp_path: Path) -> None:
    pytest.importorskip("pytest_asyncio")
    (tmp_path / "test_async.py").write_text(ASYNC, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    asked = "anyio_bad" if left_out == "no:asyncio" else OFTEN if "POSSIBLY_CASES" not in os.environ else ""
    found = ran(tmp_path, "-p", left_out, "-k", asked, "test_async.py", plugins=None)
    known = dict.fromkeys(["test_anyio_good", "test_asyncio_good", "test_served_good"], "passed")
    known |= dict.fromkeys(["test_asyncio_bad", "test_served_bad", "test_anyio_bad"], "failure")
    assert found.cases and ("test_anyio_bad" in found.cases or left_out != "no:asyncio")
    for name, (outcome, told) in found.cases.items():
        assert outcome == known[name], name
        assert outcome == "passed" or name == "test_served_bad" or "assert 1 == 2" in told


UNIT = """\
import threading, unittest
import possibly

total = 0


def add():
    global total
    total += 1


def both():
    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Test(unittest.TestCase):
    def setUp(self):
        self.expected = 2

    @possibly.explored
    def test_bad(self):
        both()
        self.assertEqual(total, self.expected)

    @possibly.explored(executions=1)
    def test_open(self):
        both()

    @possibly.explored
    def test_skip(self):
        self.skipTest("no")

    @possibly.explored
    def test_good(self):
        self.assertEqual(total, 0)


unittest.main(argv=["unit", "-v"])
"""


def test_unittest_by_a_decorator(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "unit.py").write_text(UNIT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "unit.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert re.findall(r"^(test_\w+) .*\.\.\. (\w+)", done.stderr, re.MULTILINE) == [
        ("test_bad", "FAIL"),
        ("test_good", "ok"),
        ("test_open", "FAIL"),
        ("test_skip", "skipped"),
    ]
    assert "undecided after 1 executions" in done.stderr
    assert "reads total: 0" in done.stderr or "reads __main__.total: 0" in done.stderr
