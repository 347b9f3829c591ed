"""Shadow memory: the compiled one hands over what the plain one does, and lets objects end."""

from __future__ import annotations

import gc
from array import array
from collections import UserDict, UserList, defaultdict, deque
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from possibly.probes import port
from possibly.probes.instructions.table import Kind
from possibly.probes.watching.watch import Watch
from possibly.recorder import entries as e
from possibly.recorder.log import Log, compiled
from possibly.recorder.sharing.shadow import COPIES, EXTENT, READS, WHOLE
from possibly.recorder.sharing.written import Sharing, kernel

PROCESSES = (101, 102, 103)
LOCKS = (7, 8)


class Point:
    size = 3
    __match_args__ = ("x",)

    def __init__(self) -> None:
        self.x = 0

    @property
    def y(self) -> int:
        return 1

    def method(self) -> None: ...


class Slim:
    __slots__ = ("x",)


class Machine:
    """A shadow memory and things to touch, driven by one thread in the name of several processes."""

    def __init__(self, folder: Path, is_compiled: bool) -> None:
        shadow: ModuleType | None = kernel() if is_compiled else None
        self.log = Log(str(folder), kernel=compiled() if shadow else None)
        self.sharing = Sharing(self.log, Watch(), shadow)
        self.sharing._places += [("a.py", line) for line in range(1, 100)]
        self.things: list[Any] = [
            Point(),
            Slim(),
            [1, 2, 3],
            {"a": 1, 2: 3},
            {1, 2},
            deque([1]),
            bytearray(b"ab"),
            array("i", [1, 2, 3]),
            UserDict({"a": 1}),
            UserList([1, 2]),
            defaultdict(lambda: 1, a=1),
            defaultdict(int),
        ]
        port.listen(self.log)

    def site(self, kind: Kind, name: str = "", number: int = 1, more: int = 0) -> Any:
        return self.sharing.memory.site(int(kind), name, number, more)

    def told(self) -> list[Any]:
        """What was handed over, with objects by their number."""
        numbers = {id(thing): number for number, thing in enumerate(self.things)}
        taken, _ = self.log._take()
        shared = [entry for entry in taken if entry[0] == e.SHARED]
        return [
            (numbers.get(id(thing), "class"), key, touch, before)
            for _, thing, key, _, touch, before in shared
        ]


@pytest.fixture(params=["compiled", "plain"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    if request.param == "compiled" and kernel() is None:
        pytest.skip("not built")
    yield Machine(tmp_path, request.param == "compiled")
    port.listen(port.QUIET)


def done(machine: Machine, random: Random) -> None:
    """One action or access, drawn by lot."""
    port.become(random.choice(PROCESSES))
    thing, number = random.choice(machine.things), random.randrange(1, 50)
    key: Any = random.choice(["a", "b", 0, 1, 2, -1, None, (1, 2), (0,), True, slice(1)])
    match random.randrange(16):
        case 0:
            machine.log.before("release", random.choice(LOCKS))
        case 1:
            machine.log.after("acquire", random.choice(LOCKS))
        case 2:
            del machine.site(Kind.READ_ATTRIBUTE, random.choice(["x", "y", "size", "method"]), number)[thing]
        case 3:
            machine.site(Kind.WRITE_ATTRIBUTE, random.choice(["x", "size"]), number)[thing] = 5
        case 4:
            machine.site(Kind.READ_ITEM, "", number)[key] = thing
        case 5:
            del machine.site(Kind.WRITE_ITEM, "", number)[9, thing, key]
        case 6:
            machine.site(Kind.CONTAINS, "", number)[thing] = key
        case 7:
            del machine.site(random.choice([Kind.TRUTH, Kind.ITERATE, Kind.UNPACK]), "", number)[thing]
        case 8:
            machine.site(random.choice([Kind.BINARY, Kind.COMPARE]), "", number, random.choice([0, 13]))[
                3
            ] = thing
        case 9:
            names = ["append", "get", "setdefault", "add", "pop", "update", "count", "keys", "clear", "copy"]
            method = getattr(thing, random.choice(names), len)
            del machine.site(Kind.CALL, "", number)[(method, key)[: random.choice([1, 2])]]
        case 10:
            del machine.site(Kind.CALL, "", number)[
                random.choice([len, sum, sorted, list, tuple, dict, abs]), thing
            ]
        case 11:
            machine.site(Kind.DELETE_ITEM, "", number)[key] = thing
        case 12:
            function = random.choice([getattr, hasattr, setattr, delattr])
            del machine.site(Kind.CALL, "", number)[
                function, thing, random.choice(["x", "size", "method", 3]), 5
            ]
        case 13:
            machine.site(Kind.MATCH_KEYS, "", number)["a", 0] = thing
        case 14:
            del machine.site(Kind.MATCH_CLASS, "", number, 1)[thing, Point, ("size",)]
        case 15:
            kind = random.choice([Kind.READ_ITEM, Kind.DELETE_ITEM, Kind.CONTAINS, Kind.WRITE_ITEM])
            space, name = globals(), random.choice(["LOCKS", "nobody"])
            if kind == Kind.WRITE_ITEM:
                del machine.site(kind, "", number)[9, space, name]
            elif kind == Kind.CONTAINS:
                machine.site(kind, "", number)[space] = name
            else:
                machine.site(kind, "", number)[name] = space


def told_by(folder: Path, is_compiled: bool, seed: int) -> list[Any]:
    machine = Machine(folder, is_compiled)
    random = Random(seed)
    try:
        for _ in range(150):
            done(machine, random)
        return machine.told()
    finally:
        port.listen(port.QUIET)


@pytest.mark.skipif(kernel() is None, reason="not built")
def test_both_twins_hand_over_the_same(tmp_path: Path) -> None:
    counts = []
    for seed in range(60):
        plain = told_by(tmp_path, False, seed)
        assert told_by(tmp_path, True, seed) == plain
        counts.append(len(plain))
    assert sum(counts) > 1_000


def access(machine: Machine, process: int, kind: Kind, name: str, thing: Any, value: Any = None) -> None:
    port.become(process)
    site = machine.site(kind, name)
    if value is None:
        del site[thing]
    else:
        site[thing] = value


def test_one_process_alone_and_what_locks_order_leave_nothing(machine: Machine) -> None:
    thing = machine.things[0]
    for process in (101, 102, 101):
        port.become(process)
        machine.log.after("acquire", 7)
        access(machine, process, Kind.READ_ATTRIBUTE, "x", thing)
        access(machine, process, Kind.WRITE_ATTRIBUTE, "x", thing, 5)
        machine.log.before("release", 7)
    assert machine.told() == []


def test_a_conflict_tells_both_accesses_and_where_the_first_one_stood(machine: Machine) -> None:
    thing = machine.things[0]
    access(machine, 101, Kind.WRITE_ATTRIBUTE, "x", thing, 5)
    machine.log.before("release", 7)
    access(machine, 102, Kind.READ_ATTRIBUTE, "x", thing)
    access(machine, 102, Kind.READ_ATTRIBUTE, "x", thing)
    ((_, key, touch, before),) = machine.told()
    assert (key, touch[0], touch[4]) == ("x", 102, 0)
    assert [(each[0], each[4]) for each in before] == [(101, 1)]
    assert before[0][3] < touch[3], "a release was told in between"


def test_items_are_told_apart_and_all_of_them_meet_each(machine: Machine) -> None:
    items = machine.things[2]
    port.become(101)
    del machine.site(Kind.WRITE_ITEM)[9, items, 0]
    port.become(102)
    machine.site(Kind.READ_ITEM)[1] = items
    assert machine.told() == []
    del machine.site(Kind.ITERATE)[items]
    assert [told[1] for told in machine.told()] == [(0,)]
    port.become(103)
    del machine.site(Kind.WRITE_ITEM)[9, items, 2]
    assert [told[1] for told in machine.told()] == [(2,)], "who went through all of them has read this one"


def test_single_operations_that_change_a_container_say_so(machine: Machine) -> None:
    items = machine.things[2]
    for process in (101, 102):
        port.become(process)
        del machine.site(Kind.CALL)[items.append, 1]
    assert {(told[1], told[2][4]) for told in machine.told()} == {((3,), 2), (EXTENT, 2)}
    assert WHOLE != EXTENT


@pytest.mark.parametrize("copied_first", [True, False])
def test_a_copy_says_so_unless_its_process_has_looked_at_the_items_otherwise(
    machine: Machine, copied_first: bool
) -> None:
    items = machine.things[2]
    port.become(101)
    del machine.site(Kind.CALL)[list, items]
    port.become(102)
    del machine.site(Kind.WRITE_ITEM)[9, items, 0]
    ((_, _, _, (copy,)),) = machine.told()
    port.become(103)
    looks = [
        lambda: machine.site(Kind.CALL).__delitem__((items.copy,)),
        lambda: machine.site(Kind.ITERATE).__delitem__(items),
    ]
    for look in looks if copied_first else reversed(looks):
        look()
    port.become(102)
    del machine.site(Kind.WRITE_ITEM)[9, items, 0]
    told = [each for _, _, touch, before in machine.told() for each in (touch, *before) if each[0] == 103]
    assert copy[4] == COPIES
    assert READS in {each[4] for each in told}


@pytest.mark.skipif(kernel() is None, reason="not built")
def test_objects_are_forgotten_when_they_end(tmp_path: Path) -> None:
    machine = Machine(tmp_path, True)
    try:
        thing: Any
        for process in (101, 102) * 500:
            for thing in (Point(), Slim(), [], {}, set(), deque()):
                access(machine, process, Kind.WRITE_ATTRIBUTE, "x", thing, 5)
                port.become(process)
                del machine.site(Kind.CALL)[getattr(thing, "clear", len), 1]
        gc.collect()
        assert machine.told() == [], "an object that has the address of another one is another one"
        assert machine.sharing.memory.size() < 20
    finally:
        port.listen(port.QUIET)


def test_who_changes_all_items_is_told_once_and_not_for_each(machine: Machine) -> None:
    """Else two threads that push and pop in a list of a hundred items fill the memory in seconds."""
    items = list(range(100))
    machine.things.append(items)
    sort = machine.site(Kind.CALL)
    for number in range(100):
        port.become(PROCESSES[0])
        del machine.site(Kind.WRITE_ITEM)[9, items, number]
    for turn in range(20):
        port.become(PROCESSES[turn % 2])
        del sort[(items.sort,)]
    told = [entry for entry in machine.told() if entry[0] == len(machine.things) - 1]
    assert 20 < len(told) <= 100 + 2 * 20, "each item once, then the changes of all of them"
