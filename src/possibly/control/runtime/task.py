"""A task of a controlled execution, and its clock: what it knows of what others did, and its virtual time."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from possibly.control.execution import Access, Operation
from possibly.control.runtime import batons
from possibly.control.runtime.spin import Trail

Ready = Callable[[], Any]
"""Whether something can be done now, by its truth."""
Moment = tuple[dict[int, int], float, int, int]
"""What was known somewhere, what time it was there, and whose step that was: who knows as much of that task
knows all of it. What several tasks knew together is nobody's (-1)."""


class Call:
    """Something in C, or of a library, that has begun and may call back into the program."""

    __slots__ = ("code", "frame", "function", "given", "parts", "site")

    def __init__(
        self, site: Any, frame: FrameType, function: Any, given: tuple[Any, ...], parts: list[Any]
    ) -> None:
        self.site = site
        self.frame = id(frame)
        self.code = frame.f_code
        """Which frame called it; the frame itself is not kept, it would keep its variables."""
        self.function = function
        self.given = given
        self.parts = parts
        """What it touches."""


class Task:
    """A thread or a task of an event loop."""

    __slots__ = (
        "act", "always", "ancestry", "begins", "called_from", "calls", "children", "clock", "daemon",
        "deadline", "ended", "held", "hidden", "host", "index", "keeps", "label", "lock", "looks", "loop",
        "name", "objects", "operation", "random", "ready", "refresh", "returns_to", "sections",
        "shown", "things", "time", "timed_out", "trail", "wakes_at", "why",
    )  # fmt: skip

    def __init__(self, ancestry: tuple[int, ...], index: int, label: str, daemon: bool) -> None:
        self.ancestry = ancestry
        self.name = ".".join(map(str, ancestry))
        self.index = index
        self.label = label
        self.daemon = daemon
        self.children = 0
        self.objects = 0
        self.things = 0
        self.hidden = 0
        self.lock = batons.new()
        self.act: Callable[[], None] | None = None
        """What happens in its only step, if it is the world's and no code of the program."""
        self.always: tuple[Access, ...] = ()
        """What each of its steps touches."""
        self.operation: Operation | None = None
        self.called_from = ""
        """The user's line that called the library in which the operation is."""
        self.ready: Ready | None = None
        self.refresh: Callable[[], Operation] | None = None
        """Says anew what the task is about to do, where that changes while it waits."""
        self.why: Callable[[], dict[str, Any]] | None = None
        """What it waits for and who could end that, for the report of a deadlock."""
        self.deadline: float | None = None
        self.wakes_at: float | None = None
        """It sleeps until then."""
        self.timed_out = False
        self.begins: list[float] = []
        """When each of its steps could be done first, if that is told (`moments`)."""
        self.ended = False
        self.returns_to: Task | None = None
        self.host: Task | None = None
        """The task in whose thread this one runs: an event loop's."""
        self.loop = ""
        """The thing that stands for that loop."""
        self.clock: dict[int, int] = {}
        self.time = 0.0
        self.held: list[Any] = []
        self.sections: list[str] = []
        """Families of locks that it holds and that are no choice points, though others may meet them."""
        self.keeps: Any = None
        """What it has got from a place and keeps until its next site, as a variable of its may do."""
        self.calls: list[Call] = []
        """What of code that is not instrumented it is in the middle of, the innermost last."""
        self.looks = False
        """It is being looked at what it is about to touch (`sites`)."""
        self.shown = 0
        """How many of its instructions were looked at."""
        self.trail = Trail()
        self.random: Any = None

    def let_go(self) -> None:
        """The execution is told: nothing that it knows is kept by the task."""
        self.act = self.ready = self.refresh = self.why = self.returns_to = self.host = None
        self.trail = Trail()
        self.held, self.calls = [], []


class Carried(NamedTuple):
    """A task got to know of the steps of another by a lock that is no choice point."""

    family: str
    """Of the lock."""
    task: int
    """Whose steps it has learnt of, and from which one to which."""
    old: int
    new: int


def known_under_locks(task: Task) -> dict[int, int]:
    """What a task knows if locks that are no choice points tell too: as negative numbers, apart."""
    found: dict[int, int] = {}
    for index, count in task.clock.items():
        key = index if index < 0 else -1 - index
        if found.get(key, 0) < count:
            found[key] = count
    return found


def learn_under_lock(task: Task, family: str, known: dict[int, int], carried: list[Carried]) -> None:
    clock = task.clock
    for key, new in known.items():
        old = max(clock.get(key, 0), clock.get(-1 - key, 0))
        if old < new:
            clock[key] = new
            carried.append(Carried(family, -1 - key, old, new))


class Clocks:
    """Who comes after whom, by the things that steps touch."""

    def __init__(self) -> None:
        self._written: dict[str, Moment] = {}
        self._read: dict[str, Moment] = {}

    def step(self, task: Task, footprint: tuple[Access, ...]) -> None:
        """The task's running step touches these: it comes after whoever it depends on, as a whole."""
        written, read = self._written, self._read
        for thing, writes in footprint:
            before = written.get(thing)
            if before is not None:
                _raise(task, before)
            if writes and thing in read:
                _raise(task, read[thing])
        mine = published(task)
        moment = (mine, task.time, task.index, mine[task.index])
        for thing, writes in footprint:
            self._touch(thing, writes, moment)

    def join(self, task: Task, access: Access) -> None:
        """The step touches this too, as it turns out; whoever comes after knows what the task did so far."""
        thing, writes = access
        if thing in self._written:
            _raise(task, self._written[thing])
        if writes and thing in self._read:
            _raise(task, self._read[thing])
        self._touch(thing, writes, (dict(task.clock), task.time, -1, 0))
        task.clock[task.index] = task.clock.get(task.index, 0) + 1

    def known(self, task: Task, footprint: tuple[Access, ...]) -> dict[int, int]:
        """What the task's running step comes after if it touches just these."""
        found = dict(task.clock)
        for thing, writes in footprint:
            for before in (self._written.get(thing), self._read.get(thing) if writes else None):
                for index, count in (before[0] if before is not None else {}).items():
                    if found.get(index, 0) < count:
                        found[index] = count
        return found

    def latest(self, footprint: tuple[Access, ...], but: str) -> float:
        """When these were written last, so that whoever waits for one of them could go on; but for one."""
        found = 0.0
        for thing, _ in footprint:
            moment = self._written.get(thing)
            if moment is not None and moment[1] > found and thing != but:
                found = moment[1]
        return found

    def _touch(self, thing: str, writes: bool, moment: Moment) -> None:
        if writes:
            self._read.pop(thing, None)
            self._written[thing] = moment
        else:
            before = self._read.get(thing)
            self._read[thing] = moment if before is None else _together(before, moment)


def _raise(task: Task, other: Moment) -> None:
    clock = task.clock
    known, time, owner, count = other
    if owner < 0 or clock.get(owner, 0) < count:
        for index, count in known.items():
            if clock.get(index, 0) < count:
                clock[index] = count
    if time > task.time:
        task.time = time


def published(task: Task) -> dict[int, int]:
    """What is known to whoever comes after the running step of the task: not what the task does after it."""
    clock = dict(task.clock)
    clock[task.index] = clock.get(task.index, 0) - 1
    return clock


def _together(one: Moment, other: Moment) -> Moment:
    if one[2] >= 0 and other[0].get(one[2], 0) >= one[3]:
        return other if one[1] <= other[1] else (other[0], one[1], *other[2:])
    clock = dict(other[0])
    for index, count in one[0].items():
        if clock.get(index, 0) < count:
            clock[index] = count
    return clock, max(one[1], other[1]), -1, 0
