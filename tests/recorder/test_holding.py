"""What a watched variable holds is told by whatever name it is changed, or known as not told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from possibly import check
from possibly.recorder.holding import Holding
from possibly.recorder.log import Log
from possibly.recorder.sharing.races import races
from possibly.recorder.watch import ALL
from possibly.session.record import Request, record_program
from possibly.trace.recorded import recorded_of
from tests.probes.programs import Run, run

PROGRAM = """
import collections, dataclasses, heapq, random, threading

def put(where, value):
    where.append(value)

def extended(where, value):
    where += [value]

@dataclasses.dataclass
class Account:
    balance: int = 5
    entries: list = dataclasses.field(default_factory=list)

class Counter:
    count = 0
    names = []

class Unhashable(list):
    __hash__ = None
    def __iter__(self): raise AssertionError("a method of the program")

argument, second, nested, operand, heap = [], [], {"a": [[]]}, [], []
bound, shuffled, deleted, cut, united = [], list(range(20)), {1: 1, 2: 2}, [1, 2, 3], {1}
unbound, packed, missing, odd = [], [0, 0], collections.defaultdict(list), Unhashable()
taken = bound.append
named = 0
account = Account()

def worker(given):
    put(argument, 1)
    other = second
    other.append(1)
    other[0] = 2
    nested["a"][0].append(1)
    extended(operand, 1)
    heapq.heappush(heap, 1)
    taken(1)
    random.shuffle(shuffled)
    del deleted[1]
    del cut[0:2]
    sets = united
    sets |= {0}
    list.append(unbound, 1)
    first, packed[1] = 1, 7
    missing["a"].append(1)
    odd.append(1)
    globals()["named"] = 1
    account.balance = account.balance + 1
    account.entries.append(1)
    Counter.count = Counter.count + 1
    Counter.names.append(1)
    given.append(2)
    assert len(argument) == 2

thread = threading.Thread(target=worker, args=(argument,))
thread.start()
thread.join()
"""
TOLD: dict[str, list[Any]] = {
    "argument": [[], [1], [1, 2]],
    "second": [[], [1], [2]],
    "nested": [{"a": [[]]}, {"a": [[1]]}],
    "operand": [[], [1]],
    "heap": [[], [1]],
    "deleted": [{"1": 1, "2": 2}, {"2": 2}],
    "cut": [[1, 2, 3], [3]],
    "united": [[1], [0, 1]],
    "unbound": [[], [1]],
    "packed": [[0, 0], [0, 7]],
    "odd": [[], [1]],
    "account.balance": [5, 6],
    "account.entries": [[], [1]],
    "Counter.count": [0, 1],
    "Counter.names": [[], [1]],
}
UNSEEN = {"bound", "shuffled", "missing", "named"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = run(tmp_path_factory.mktemp("holding"), PROGRAM, watch=(*TOLD, *UNSEEN))
    assert made.status == 0
    return made


def test_changes_are_told_by_whatever_name(found: Run) -> None:
    events = [found.trace.event(e) for e in range(len(found.trace))]
    told = {name: [event.write[name] for event in events if name in event.write] for name in TOLD}
    assert told == TOLD
    assert {name: found.trace.shared[name] for name in TOLD} == {name: TOLD[name][0] for name in TOLD}


def test_what_was_changed_unseen_is_known(found: Run) -> None:
    recorded = recorded_of(found.trace.header)
    assert recorded is not None and recorded.unseen == UNSEEN


def test_a_property_of_it_is_unknown(found: Run) -> None:
    verdict = check(found.trace, ctl="AG(len(bound) <= 0)")
    assert verdict.holds is None and "bound had values that were not recorded" in verdict.explain()
    assert check(found.trace, ctl="AG(len(argument) <= 1)").holds is False


def test_parts_of_a_container_are_not_its_value(tmp_path: Path) -> None:
    """Where every access is recorded, items are variables; here the list is the same in the end."""
    program = tmp_path / "program.py"
    program.write_text("x = [1]\nx.append(2)\nx.pop()\n")
    done = record_program(Request((str(program),), str(tmp_path / "run.jsonl"), everything=True, record=ALL))
    assert "possibly run --watch x" in check(done.trace, ctl="AG(len(x) <= 1)").explain()


RACY = """
import threading
other, items, table, names = 0, [1], {1: 1, 2: 2}, {"a": 0}

class Box:
    pass

box = Box()
box.held = []

def work(key):
    for _ in items: pass
    items.append(key)
    if table: del table[key]
    names["a"] += key
    box.held += [key]

threads = [threading.Thread(target=work, args=(key,)) for key in (1, 2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_what_no_variable_holds_any_more_is_forgotten() -> None:
    class Owner:
        pass

    log: Any = SimpleNamespace(described={1: ("program.py", 1, "items")})
    holding, owner = Holding(log), Owner()
    for number in range(100):
        holding.keep([[number]], 1, None)
        holding.keep({number: []}, 1, owner)
    assert len(holding.holders) == len(holding._kept) == 4
    del owner
    assert len(holding.holders) == len(holding._kept) == 2 and len(holding._last) == 1


def test_what_a_variable_holds_that_is_not_told_any_more_is_not_followed(tmp_path: Path) -> None:
    """Else each change of it would be copied: 200 items in a dictionary cost a hundred times the run."""
    log = Log(str(tmp_path), "program", unasked=("other", "items"))
    number = log.site("program.py", 1, None, "items", None)
    holding, items, more = Holding(log), [1], [2]
    holding.keep(items, number, None)
    assert holding.holds(items)
    log.turn_off(0)
    assert holding.holds(items)
    log.turn_off(1)
    holding.keep(more, number, None)
    assert not holding.holds(items) and not holding.holds(more) and not holding._last


def test_races_are_found_as_without(tmp_path: Path) -> None:
    """To follow containers hides no access from who looks for races."""
    found = [
        {race.variable for race in races(run(tmp_path, RACY, races=True, watch=watch).trace)}
        for watch in ((), ("other",))
    ]
    assert found[0] == found[1] and len(found[0]) >= 4
