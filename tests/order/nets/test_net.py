"""State action nets: figure 6 state by state, the properties of section 3, stacks, value sets, callers."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from possibly.logic.predicates.functions import MISSING
from possibly.order.nets.net import BEGINNING, Action, Net
from possibly.trace import load
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.detection.tasks.reference import NONE, Tasks, known_names, random_net

EXAMPLES = Path(__file__).parents[3] / "examples/ringbuffer-tasks"
MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


def written(net: Net, task: str) -> list[str]:
    number = net.tasks.index(task)
    return ["".join(f"/{phase}.{name}" for phase, name in state.stack) for state in net.states(number)]


def test_figure_6_state_by_state() -> None:
    net = Net(load(EXAMPLES / "faulty.jsonl"))
    net.self_check()
    assert written(net, "25") == [
        "/START.put",
        "/IN.put",
        "/IN.put/START.append",
        "/IN.put/IN.append",
        "/IN.put/TERM.append",
        "/TERM.put",
    ]
    put = net.tasks.index("25")
    states = list(net.states(put))
    sets = [
        {name: set(net.values(put, s.count, name) or ()) for name in ("b.first", "b.last")} for s in states
    ]
    assert sets[0] == {"b.first": {0}, "b.last": {0}}
    assert sets[2] == {"b.first": {0}, "b.last": {0}}
    assert sets[4] == {"b.first": {0, 1}, "b.last": {1}}
    assert net.values(put, states[4].count, "b.data[1]") == (21,)
    assert net.dependencies(net.trace.find("g2") or 0) == (net.trace.find("p4"),), (
        "the waiting condition of get"
    )


def test_an_action_has_the_tasks_and_places_of_all_its_statements() -> None:
    """Figure 5: a synchronous communication."""
    net = Net(trace('"25": a%m@"file2:5" | "15": b%m@"file1:1"'))
    net.self_check()
    assert list(net.actions) == [
        Action(BEGINNING, (), ("25", "15"), (None, None)),
        Action(0, ("a", "b"), ("25", "15"), ("file2:5", "file1:1")),
    ]
    assert net.preset(0) == ((0, 0), (1, 0)) and net.postset(0) == ((0, 1), (1, 1))
    assert net.initial_actions == (BEGINNING,)


def test_the_source_places_are_lines_of_the_program() -> None:
    lines = (EXAMPLES / "ringbuffer.py").read_text().splitlines()
    for name in ("faulty", "corrected", "unguarded"):
        net = Net(load(EXAMPLES / f"{name}.jsonl"))
        places = {place for action in net.actions for place in action.places if place}
        quoted = {lines[int(place.partition(":")[2]) - 1].strip() for place in places}
        assert {"b.last = (b.last + 1) % N", "b.data[b.last] = elem"} <= quoted


def test_tasks_created_on_the_way_begin_with_their_first_event() -> None:
    net = Net(load(EXAMPLES / "faulty.jsonl"))
    assert [state.count for state in net.states(net.tasks.index("main"))] == [0, 1, 2]
    assert next(net.states(net.tasks.index("25"))).count == 1
    assert net.callers == {"15": "main", "25": "main"}
    assert net.initial_actions == (BEGINNING,)


def test_values_of_concurrent_writes() -> None:
    run = trace("shared(s=0) P: w(s=1) a | Q: w(s=2) recv(m) | R: w(s=3) send(m)")
    net = Net(run)
    assert set(net.values(0, 0, "s") or ()) == {0, 2, 3}
    assert set(net.values(0, 1, "s") or ()) == {1, 2, 3}
    assert set(net.values(1, 2, "s") or ()) == {1, 2, 3}, "the writes of Q and R come before, in either order"
    assert set(net.values(2, 1, "s") or ()) == {1, 2, 3}


def test_which_variables_are_visible() -> None:
    run = trace(
        'shared(s=0) P(x=1): enter(f) a{"f.y"=2,z=3} exit(f) b | Q: w(t=1)'.replace('{"f.y"=2', "{f.y=2")
    )
    net = Net(run)
    assert net.values(0, 0, "x") == (1,)
    assert net.values(0, 0, "z") is None and net.values(0, 2, "z") == (3,)
    assert net.values(0, 1, "f.y") == (MISSING,), "f is entered, y has no value yet"
    assert net.values(0, 2, "f.y") == net.values(0, 3, "f.y") == (2,)
    assert net.values(0, 4, "f.y") is None, "f is no longer on the stack"
    assert net.values(1, 0, "x") is None
    assert set(net.values(0, 0, "t") or ()) == {MISSING, 1}


def test_a_local_hides_a_shared_variable_once_it_has_a_value() -> None:
    net = Net(trace("shared(v=0) P: a{v=1} | Q: w(v=2)"))
    assert set(net.values(0, 0, "v") or ()) == {0, 2}
    assert net.values(0, 1, "v") == (1,)
    assert set(net.values(0, 1, "v", only_shared=True) or ()) == {0, 2}


@pytest.mark.parametrize("batch", range(10))
def test_nets_of_generated_runs(batch: int) -> None:
    """The properties of section 3; stacks and value sets as the definition gives them."""
    for seed in range(batch * 1000, batch * 1000 + 30 * MANY):
        run: Trace = random_net(Random(seed), 7)
        net, tasks = Net(run), Tasks(run)
        net.self_check()
        for number, task in enumerate(net.tasks):
            for state in net.states(number):
                assert list(state.stack) == tasks.stack(task, state.count)
                for name in known_names(run):
                    found, expected = (
                        net.values(number, state.count, name),
                        tasks.values(task, state.count, name),
                    )
                    assert (found is None) == (expected is None)
                    if expected is not None and found is not None:
                        shown = [NONE if value is MISSING else value for value in found]
                        assert len(shown) == len(expected) and all(value in shown for value in expected)
