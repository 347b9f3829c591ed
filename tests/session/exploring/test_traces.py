"""An execution as a trace: its order is that of the execution, whatever things and tasks are called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from possibly.control.execution import Access, Execution, Operation, Outcome, Step
from possibly.control.forking.zygote import script
from possibly.logic.specification import Specification, property_from_text
from possibly.order.computation import Computation
from possibly.recorder.watch import watched
from possibly.session.checking.check import Options as Checking
from possibly.session.exploring.checks import property_check
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore
from possibly.session.exploring.traces import detailed_trace_of, process_names, trace_of
from possibly.views.cli.main import main


def step(task: str, *footprint: tuple[str, bool], kind: str = "acquire", detail: object = None) -> Step:
    accesses = tuple(Access(thing, writes) for thing, writes in footprint)
    return Step(task, Operation(kind, footprint[0][0] if footprint else "", accesses), (), {}, detail)


def execution(*steps: Step, **names: str) -> Execution:
    tasks = dict.fromkeys(each.task for each in steps)
    return Execution(steps, Outcome.FINISHED, {task: names.get(f"_{task}", f"T{task}") for task in tasks})


def asked(tmp_path: Path, source: str, formula: str, functions: tuple[str, ...] = ()) -> Exploration:
    path = tmp_path / "program.py"
    path.write_text(source)
    specification = Specification(properties=(property_from_text("ctl", formula, "p"),))
    found = watched(specification)
    watch = {"watched": found.names | found.members, "functions": frozenset(functions)}
    with script((str(path),), **watch) as program:
        return explore(program, Options(), property_check(program, specification, Checking()))


UNJOINED = """
import threading
x = 0
def write():
    global x
    x = 1
threading.Thread(target=write, name="W").start()
"""
PROCESSES = """
import multiprocessing
def work(given, answers):
    answers.put(given.get())
if __name__ == "__main__":
    x = 0
    given, answers = multiprocessing.{kind}(), multiprocessing.{kind}()
    other = multiprocessing.Process(target=work, args=(given, answers))
    other.start()
    given.put(1)
    x = answers.get()
    other.join()
"""


# ---- programs whose tasks end in every way, and that put in every way ---------------------------


@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue", "JoinableQueue"])
def test_what_one_process_puts_another_takes(tmp_path: Path, kind: str) -> None:
    found = asked(tmp_path, PROCESSES.replace("{kind}", kind), "AG(x <= 1)")
    assert found.holds is True, (found.open, found.failure)
    found = asked(tmp_path, PROCESSES.replace("{kind}", kind), "AG(x != 1)")
    assert found.holds is False, found.open


def test_a_thread_that_nobody_joins(tmp_path: Path) -> None:
    assert asked(tmp_path, UNJOINED, "AG(x <= 1)").holds is True
    assert asked(tmp_path, UNJOINED, "AG(x != 1)").holds is False


# ---- order --------------------------------------------------------------------------------------


def test_an_edge_between_tasks_one_of_which_is_called_like_an_event_of_the_other() -> None:
    run = execution(step("1", ("0:lock1", True)), step("2", ("0:lock1", True)), _1="pool:1", _2="pool")
    assert list(trace_of(run).after(1)) == [0]


def test_all_predecessors_are_kept() -> None:
    readers = [step(str(number), ("0:barrier1", False)) for number in range(1, 101)]
    trace = trace_of(execution(*readers, step("0", ("0:barrier1", True))))
    assert list(trace.after(100)) == list(range(100))


def test_a_step_that_reads_and_writes_a_thing_does_not_come_after_itself() -> None:
    run = execution(step("1", ("0:lock1", True), ("0:lock1", False)), step("2", ("0:lock1", False)))
    trace = trace_of(run)
    assert list(trace.after(0)) == [] and list(trace.after(1)) == [0]


def test_tasks_of_one_name_of_none_and_with_half_a_letter_are_told_apart() -> None:
    steps = [step(str(number)) for number in range(6)]
    run = execution(*steps, _0="a", _1="a", _2="a (1)", _3="", _4="", _5="\ud800")
    names = process_names(run)
    assert names == {"0": "a", "1": "a (1)", "2": "a (1) (2)", "3": "(3)", "4": "(4)", "5": "\\ud800"}
    assert len(trace_of(run).processes) == 6


def test_turns_of_several_events_are_not_come_between() -> None:
    def turn(task: str, values: list[int]) -> Step:
        moments = [{"kind": "write", "thing": "x", "at": "", "value": value} for value in values]
        detail = {"turn": moments, "apart": len(values) > 1}
        told = [("0:loop1.told", True)] if len(values) > 1 else []
        return step(task, ("x", True), *told, kind="resume", detail=detail)

    run = execution(turn("1", [1, 2]), turn("2", [3, 4, 5]), step("3", ("x", False), kind="resume"))
    trace, steps = detailed_trace_of(run)
    assert steps == [0, 0, 1, 1, 1, 2]
    assert list(trace.after(2)) == [1] and list(trace.after(5)) == [4]
    assert [value for event in range(5) for _, value in trace.writes(event)] == [1, 2, 3, 4, 5]
    assert [value for _, value in trace_of(run).writes(1)] == [5]


def taken(task: str, queue: str) -> Step:
    return step(task, (f"{queue}.head", True), (f"{queue}#0", False), kind="get")


def test_what_leaves_an_item_where_it_is_receives_nothing() -> None:
    """The end mark of a pool stays for its next worker; and a look may find nothing."""
    put = step("0", ("0:queue1#0", True), kind="put")
    left = [step(task, ("0:queue1.head", False), ("0:queue1#0", False), kind="get") for task in "12"]
    run = execution(put, *left, taken("3", "0:queue1"), _0="a", _1="b", _2="c", _3="d")
    found = trace_of(run)
    assert [found.strings[found.kind[event]] for event in range(4)] == ["send", "get", "get", "receive"]


def test_queues_of_one_line_have_messages_of_their_own() -> None:
    things = {"0:queue1": "the queue of p.py:1", "0:queue2": "the queue of p.py:1"}
    steps = [step("0", (f"0:queue{number}#0", True), kind="put") for number in (1, 2)]
    steps += [taken("1", f"0:queue{number}") for number in (2, 1)]
    run = Execution(tuple(steps), Outcome.FINISHED, {"0": "a", "1": "b"}, things=things)
    found = trace_of(run)
    assert Computation(found).happened_before(0, 3) and not Computation(found).happened_before(2, 0)


# ---- verdicts -----------------------------------------------------------------------------------

MANY = "POSSIBLY_CASES" in os.environ
KEY = """\
import threading
d = {{{key!r}: 0}}
def w(v): d[{key!r}] = v
threads = [threading.Thread(target=w, args=(v,), name=name) for v, name in zip((1, 2), {names!r})]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
ORDERED = """\
import threading
{variable} = 0
first_is_done = threading.Event()
def first():
    global {variable}
    {variable} = 1
    first_is_done.set()
def second():
    global {variable}
    first_is_done.wait()
    {variable} = 2
threads = [threading.Thread(target=f, name=name) for f, name in zip((first, second), {names!r})]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
ODD = [
    "a:b",
    "pool:1",
    "a | b @ c",
    "two\nlines",
    "",
    "0:lock1",
    "_:exit",
    "x.y",
    "q\"u'o",
    "[1]",
    "\u2028",
    "\u540d",
    "#3",
]


@pytest.mark.parametrize("key", ODD if MANY else ODD[:6], ids=repr)
def test_a_key_and_a_name_may_be_anything(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program, schedule, run = tmp_path / "program.py", str(tmp_path / "s"), str(tmp_path / "run.jsonl")
    program.write_text(KEY.format(key=key, names=("pool", key or "pool")))
    status = [main(["explore", "-o", schedule, "--ctl", f"AG(d[{_quoted(key)}] != 1)", str(program)])]
    status += [main(["replay", schedule]), main(["run", "-o", run, str(program)])]
    status += [main(["check", run, "--ctl", "AG(true)"]), main(["view", run, "-o", str(tmp_path / "v.html")])]
    assert status == [1, 1, 0, 0, 0], capsys.readouterr()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


@pytest.mark.parametrize(
    ("variable", "names"),
    [("n", ("pool:1", "pool")), ("clock", ("pool", "pool:1")), ("exit", ("pool", "pool"))],
)
def test_what_is_ordered_is_never_seen_the_other_way_round(
    tmp_path: Path, variable: str, names: tuple[str, str]
) -> None:
    source = ORDERED.format(variable=variable, names=names)
    assert asked(tmp_path, source, f"AG({variable} == 2 -> AG({variable} == 2))").holds is True
    assert asked(tmp_path, source, f"AG({variable} != 1)").holds is False


# ---- asyncio ------------------------------------------------------------------------------------

TASKS = """\
import asyncio
x = y = 0
async def f():
    await asyncio.sleep(0)
    global x
    x = 1
    x = 2
    await asyncio.sleep(0)
async def g():
    await asyncio.sleep(0)
    global y
    y = x
    await asyncio.sleep(0)
async def main():
    await asyncio.gather(asyncio.create_task(f(), name="F"), asyncio.create_task(g(), name="G"))
asyncio.run(main())
"""
PROPERTIES = {
    "AG(true)": True,
    "AG(x != 1)": False,
    "AG(y != 1)": True,
    "EF(y == 2)": False,
    "AG(y != 2)": False,
    "AG(!(inside(F, f) & inside(G, g)))": False,
    "AG(!(inside(F, f) & x == 1 & y == 1))": True,
    "AG(inside(F, f) -> AF(term(F, f)))": True,
}


@pytest.mark.parametrize("formula", PROPERTIES)
def test_properties_of_the_tasks_of_a_loop(tmp_path: Path, formula: str) -> None:
    found = asked(tmp_path, TASKS, formula, functions=("f", "g") if "inside" in formula else ())
    assert found.holds is PROPERTIES[formula], (found.open, found.failure)
