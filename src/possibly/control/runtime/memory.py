"""Accesses to memory: what instrumented code tells of, and which accesses are choice points.

Law: an access is a choice point iff its family was ever seen to race: two accesses to one thing, one of them
a write, by different tasks, that the visible operations do not order. All other accesses happen inside the
step in which they stand, and each of them is still watched: as soon as one races, its family is visible from
then on, and whatever was explored before is explored again (`session.explore`). This is sound: if in no
execution that was explored two hidden accesses race, then every execution has the same outcome as one of
those, because hidden accesses that are ordered commute with nothing that matters (the argument of
"Iterative context bounding for systematic testing of multithreaded programs", Musuvathi and Qadeer, PLDI
2007, section 3.1; the race check is that of "FastTrack", Flanagan and Freund, PLDI 2009, with read maps kept
whole).

The execution that shows the race need not be repeated: the accesses are logged, and those of families that
turn out visible are put into the list of steps where they happened (`inserted`).
"""

from __future__ import annotations

import threading
from queue import Queue
from types import FunctionType
from typing import Any, NamedTuple

from possibly.control.execution import Access, Operation
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.runtime.places import callers
from possibly.control.runtime.things import IGNORED, LIBRARY, OPAQUE, Things, module_of
from possibly.probes import port
from possibly.recorder.snapshot import snapshot

LOGGED = 5_000
"""Accesses of one family that are logged in one execution."""
EVERYTHING = "*"
"""The family that stands for all: every access is a choice point."""
PATIENCE = 200
"""Reads without any change of its own after which a task counts as waiting in a loop."""
NOTHING, VISIBLE, NOTED, INITIAL, MOMENT = range(5)
RARELY = "rarely written: "
"""Begins the family that stands for all places of a name which hold behaviour (see `attributes`)."""
FOREIGN = (IGNORED, OPAQUE, LIBRARY)
WIDEST = 64
"""Items of a container that are named one by one when all of them are read."""


class Logged(NamedTuple):
    step: int
    """How many steps had begun when it happened."""
    task: str
    family: str
    operation: Operation
    detail: Any
    inside: bool
    """It belongs to the step during which it happened, and is no step of its own."""
    position: int = 0
    """How many moments of that step had been told by then."""


class _Last:
    __slots__ = ("count", "readers", "task")

    def __init__(self) -> None:
        self.task = -1
        self.count = 0
        self.readers: dict[int, int] = {}


class Memory:
    """The accesses of one execution."""

    def __init__(
        self,
        visible: frozenset[str],
        ignored: frozenset[str] = frozenset(),
        watched: frozenset[str] = frozenset(),
        only: frozenset[str] | None = None,
    ) -> None:
        self.only = only
        self.left: dict[str, None] = {}
        """Families that race and are not asked for."""
        self.visible = visible
        self.watched = watched
        """Words by which a specification speaks of variables: these are visible from the beginning."""
        self.initial: dict[str, Any] = {}
        """Values that watched things had before a second task was started."""
        self.everything = EVERYTHING in visible
        self.rare = frozenset(each[len(RARELY) :] for each in visible if each.startswith(RARELY))
        """Names that somebody writes although they usually hold behaviour."""
        self.packages: frozenset[str] = frozenset()
        """Packages whose code is instrumented."""
        self.trusted: frozenset[str] = frozenset()
        self.members: dict[tuple[type, str], Any] = {}
        """What classes say of names (see `attributes`)."""
        self.ignored = ignored
        self.things = Things()
        self.namespaces: dict[int, tuple[dict[str, Any], Any]] = {}
        """Dictionaries that are the attributes of an object or the variables of a module, and whose."""
        self.racy: dict[str, None] = {}
        """Families found to race that were not visible."""
        self.log: list[Logged] = []
        self.overflowed: set[str] = set()
        self._counts: dict[str, int] = {}
        self._last: dict[Any, _Last] = {}
        self._latest = ""
        self.logs = True
        """Hidden accesses are kept, for the case that they turn out to race."""
        self._asked: dict[str, bool] = {}
        self.reached_out = False
        """The program has changed something that is not its own: its process is not used again."""

    def access(
        self,
        kernel: Kernel,
        family: str,
        thing: str,
        footprint: tuple[Access, ...],
        at: str,
        key: Any = None,
    ) -> int:
        """The running task is about to touch a thing: a choice point, or a note of it."""
        if kernel.alone and self.watched and self.is_watched(kernel, family, thing):
            self._latest = thing
            return INITIAL
        if kernel.alone or kernel.quiet:
            return NOTHING
        writes = footprint[0].writes
        kind = "write" if writes else "read"
        task = kernel.current
        if len(task.trail.reads) > PATIENCE and self._is_asked_for(
            family
        ):  # it goes round and round, and only others can end that
            self.racy[family] = None
            self.overflowed.add(family)
            self.visible |= {family}
        if self._is_visible(kernel, family, thing):
            if task.host is None or kernel.is_mixed:
                kernel.visible(kind, thing, footprint, at)
                return VISIBLE
            for each in footprint:
                kernel.add(each)
            kernel.note(
                {"kind": kind, "thing": thing, "at": at}, writes and self.is_watched(kernel, family, thing)
            )
            return MOMENT
        self._watch(kernel, task, family, footprint, key)
        if not self.logs:
            return NOTHING
        return self._note(kernel, task, family, Operation(kind, thing, footprint, at, waits=False))

    def enter(self, kernel: Kernel, root: str, things: list[tuple[str, str]]) -> None:
        """Code of a package that is not instrumented is entered with things (family, thing)."""
        if not root or kernel.alone or kernel.quiet or root in self.packages:
            return
        if any(self._is_visible(kernel, family, thing) for family, thing in things):
            if root in self.trusted:
                kernel.assumed[f"each call of {root} is one step, as --trust {root} says"] = None
            else:
                remedy = f"--include {root} watches it, --trust {root} takes each of its calls as one step"
                kernel.uncontrolled[f"{root}, which two tasks use and which is not watched"] = remedy

    def write_rarely(self, kernel: Kernel, name: str) -> None:
        """A place that holds behaviour is written: reads of that name were not told so far."""
        if name not in self.rare and not kernel.alone and not kernel.quiet:
            self.racy[RARELY + name] = None
            self.overflowed.add(RARELY + name)

    def in_calls(self, kernel: Kernel, task: Task, has_begun: bool) -> tuple[Access, ...]:
        """What a step touches because the task is in the middle of calls of code that is not instrumented."""
        calls = task.calls
        alive = callers()
        calls[:] = [each for each in calls if alive.get(each.frame) is each.code]
        found: dict[Access, None] = {}
        for call in calls:
            for family, thing, footprint, key in call.parts:
                if self._is_visible(kernel, family, thing):
                    found.update(dict.fromkeys(footprint))
                elif has_begun:
                    self.hide(kernel, family, footprint, key)
        return tuple(found)

    def hide(self, kernel: Kernel, family: str, footprint: tuple[Access, ...], key: Any = None) -> None:
        """One of several accesses that happen at one moment, which cannot become a step by itself later."""
        self._watch(kernel, kernel.running(), family, footprint, key)
        self.overflowed.add(family)

    def _watch(
        self, kernel: Kernel, task: Task, family: str, footprint: tuple[Access, ...], key: Any
    ) -> None:
        if not kernel.joined:
            kernel.commit()
        versions, trail = kernel.versions, task.trail
        for thing, writes in footprint:
            self._check(task, family, thing if key is None else (key, thing), writes)
            if writes:
                versions[thing] = versions.get(thing, 0) + 1
                trail.effect()
            else:
                trail.reads.append((thing, versions.get(thing, 0)))

    def _note(self, kernel: Kernel, task: Task, family: str, operation: Operation) -> int:
        count = self._counts[family] = self._counts.get(family, 0) + 1
        if count > LOGGED:
            self.overflowed.add(family)
            return NOTHING
        inside = task.host is not None and not kernel.is_mixed
        step = len(kernel.steps) + kernel.in_step
        position = len(kernel.marks.get("turn", ())) if inside else 0
        self.log.append(Logged(step, task.name, family, operation, None, inside, position))
        return NOTED

    def saw(self, kernel: Kernel, mode: int, value: Any) -> None:
        """The value that the access just made has read or written, for the report."""
        if mode == VISIBLE:
            kernel.tell({"value": snapshot(value)})
        elif mode == INITIAL:
            self.initial[self._latest] = snapshot(value)
        elif mode == MOMENT:
            kernel.noted({"value": snapshot(value)})
        elif mode == NOTED:
            self.log[-1] = self.log[-1]._replace(detail={"value": snapshot(value)})

    def _is_visible(self, kernel: Kernel, family: str, thing: str) -> bool:
        if family not in self.visible and not self.everything and not self.watched:
            return False
        if not self._is_asked_for(family):
            return False
        return family in self.visible or self.everything or self.is_watched(kernel, family, thing)

    def _is_asked_for(self, family: str) -> bool:
        found = self._asked.get(family)
        if found is None:
            word = family.rpartition(".")[2]
            found = family not in self.ignored and word not in self.ignored
            found = found and (self.only is None or family in self.only or word in self.only)
            self._asked[family] = found
        return found

    def is_watched(self, kernel: Kernel, family: str, thing: str) -> bool:
        """Whether a specification speaks of it: by its own name, its last word, or its container's name."""
        if not self.watched:
            return False
        if family.rpartition(".")[2] in self.watched:
            return True
        return kernel.labels.get(thing.partition("[")[0], "") in self.watched

    def whole(self, kernel: Kernel, name: str, value: Any) -> None:
        if kernel.alone:
            self.initial[f"{name}[]"] = value
        else:
            kernel.noted({"value": value, "whole": value, "of": f"{name}[]"})

    def _check(self, task: Task, family: str, thing: Any, writes: bool) -> None:
        last = self._last.get(thing)
        if last is None:
            last = self._last[thing] = _Last()
        clock, me = task.clock, task.index
        now = clock.get(me, 0)
        if not writes and last.readers.get(me) == now:
            return  # nobody wrote it since, or this would be gone
        if last.task not in (-1, me) and clock.get(last.task, 0) < last.count:
            self._race(family)
        if writes:
            for reader, count in last.readers.items():
                if reader != me and clock.get(reader, 0) < count:
                    self._race(family)
            last.readers.clear()
            last.task, last.count = me, now
        else:
            last.readers[me] = now

    def reach_out(self, value: Any) -> None:
        """An attribute is stored into something that is not known as the program's own."""
        if isinstance(value, threading.Thread):
            self.reached_out |= value is threading.main_thread()
        elif isinstance(value, FunctionType):
            self.reached_out |= not port.is_user_file(value.__code__.co_filename)
        elif not isinstance(value, BaseException | Queue):
            self.reached_out |= self.things.kind(value) in FOREIGN and not _is_model(value)

    def _race(self, family: str) -> None:
        (self.racy if self._is_asked_for(family) else self.left)[family] = None


def _is_model(value: Any) -> bool:
    return module_of(type(value)).startswith("possibly.control.runtime.")


memory: Memory | None = None


def start(new: Memory) -> None:
    global memory
    memory = new


def active() -> tuple[Kernel, Memory] | None:
    kernel = running.kernel
    return (kernel, memory) if kernel is not None and memory is not None else None
