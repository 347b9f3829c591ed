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

import sys
import threading
import weakref
from collections.abc import Callable
from functools import partial
from queue import Queue
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from possibly.control.execution import Access, Operation, Outcome, new_tuple
from possibly.control.loading import packages
from possibly.control.loading.packages import OF_TRIO, PACKAGE, Entered
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.runtime.places import callers
from possibly.control.runtime.spoken import Spoken
from possibly.control.runtime.task import Carried
from possibly.control.runtime.things import IGNORED, LIBRARY, OPAQUE, Things, is_a, module_of
from possibly.control.runtime.touched.lives import Life, Lives
from possibly.probes import port
from possibly.recorder.snapshot import snapshot

LOGGED = 5_000
"""Accesses of one family that are logged in one execution."""
EVERYTHING = "*"
"""The family that stands for all: every access is a choice point."""
PATIENCE = 1_000
"""Reads without any change of its own after which a task counts as waiting in a loop."""
NOTHING, VISIBLE, NOTED, INITIAL, MOMENT = range(5)
RARELY = "rarely written: "
"""Begins the family that stands for all places of a name which hold behaviour (see `attributes`)."""
WIDELY = "read as a whole: "
"""Begins the family that stands for containers of a family which are read as a whole (see `contents`)."""
FOREIGN = (IGNORED, OPAQUE, LIBRARY)
LIBRARIES = "_:libraries"
"""The thing that stands for all that code which is not instrumented keeps between turns of event loops, and
its family: turns that run such code conflict if it is visible."""
AMONG = "among threads: "
"""Begins the family that stands for one which turns of an event loop and other threads both touch."""
WORKERS = "_:workers"
"""Which thread of a pool takes a call: a choice only where somebody can tell (`pools`)."""
LAST_WORDS = "_:last words"
"""The family that stands for functions which the program wants called at its end (`exits`)."""
FUNCTION_PARTS = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
"""Attributes of a function that every call of it reads."""
CELLS = "cell_contents"
SPACES = "all attributes"
"""Somebody changes all attributes of an object at once, by its dictionary: any name may come by that."""
STANDINGS = "how far coroutines are"
"""Somebody looks at that: so whoever resumes one changes it (`touched.suspended`)."""
RAISING = "raise"
"""Somebody looks at where exceptions were raised: so whoever raises one changes that."""
DECIMALS = "contexts of decimal numbers"
FLAGS = "flags of decimal numbers"
"""Somebody changes one: so whoever computes with such numbers reads one."""
LIMITS = "limits of digits"
"""Somebody changes how many digits a number may have: so whoever writes or reads one reads that."""
REFERENCES = "__weakref__"
"""Somebody counts the weak references to objects: so whoever makes one changes that."""


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
        self.wide = frozenset(each[len(WIDELY) :] for each in visible if each.startswith(WIDELY))
        """Families of containers whose items are not told apart by all who read them."""
        self.has_remade = not self.rare.isdisjoint(FUNCTION_PARTS)
        """Somebody gives a function other parts: every call reads them."""
        self.specials = tuple(sorted(name for name in self.rare if _is_special(name)))
        """Methods that instructions look for in classes, and that somebody writes."""
        self.has_unusual = any(map(_is_unusual, self.rare))
        """Something of these is no ordinary name: what it stands for may be read by any other."""
        self.has_cells = CELLS in self.rare
        """Somebody stores into a cell by its attribute: all cells are then one thing."""
        self.lives = Lives(visible)
        self._hosts: dict[int, int] = {}
        """Task that has turns in an event loop -> the thread of the loop."""
        self._uses: dict[str, dict[tuple[int, bool], int]] = {}
        """Visible family -> who has used it, and whether to write -> when last, by that task's clock."""
        self.workers: set[str] = set()
        """Tasks that are threads of pools."""
        self.borrowed: dict[int, Any] = {}
        """Objects whose attributes are in a dictionary that was given to them."""
        self.trusted: frozenset[str] = frozenset()
        self.in_turns: dict[str, None] = {}
        """Packages that are not instrumented and whose code turns of event loops have run."""
        self.lent: set[str] = set()
        """Families of what code that is not instrumented was given in turns of an event loop."""
        self.excluded: frozenset[str] = frozenset()
        self.entered: set[str] = set()
        """Packages, as families, which are not watched although their code runs beside other tasks."""
        self.codes: dict[Entered, None] = {}
        """Code that runs beside other tasks and is not instrumented yet."""
        self.members: dict[tuple[type, str], Any] = {}
        """What classes say of names (see `attributes`)."""
        self.plain: dict[type, bool] = {}
        """Classes whose objects are nothing but their attributes, and others (see `attributes`)."""
        self.ignored = ignored
        self.find_unread: Callable[[], frozenset[int]] | None = None
        self.look: Callable[[Any, str, bool], bool] | None = None
        """Tells that an attribute of a model is read or written; whether that is all."""
        self.find_changed: Callable[[Any], list[Any]] | None = None
        """What a function in C changes that somebody calls."""
        self.unread: frozenset[int] = frozenset()
        """Lists, by their addresses, that nobody ever looks at and that live to the end: to change them is
        no access."""
        self.things = Things()
        self.things.ended = self.ended
        self.things.meets = self.lives.finishes
        self.namespaces: dict[int, tuple[dict[str, Any], Callable[[], Any]]] = {}
        """Dictionaries that are the attributes of an object or the variables of a module, and whose."""
        self.racy: dict[str, None] = {}
        """Families found to race that were not visible."""
        self._to_be_ordered: dict[int, dict[int, int]] = {}
        """Task -> which moments of others come before what it does, by accesses that were found to race."""
        self.log: list[Logged] = []
        self.overflowed: set[str] = set()
        self.unlogged = -1
        """The last step in which something was changed that the log does not tell of."""
        self._counts: dict[str, int] = {}
        self._last: dict[Any, _Last] = {}
        self.carried: list[Carried] = []
        """What tasks have learnt of others by locks that are no choice points."""
        self.ordering: dict[str, set[str]] = {}
        """Families of locks that are to be choice points, and what they seem to order."""
        self.emptied: set[int] = set()
        """Cells, by their addresses, that were seen without a value, or have lost it."""
        self._latest = ""
        self.logs = True
        """Hidden accesses are kept, for the case that they turn out to race."""
        self.tells = False
        """They are told of in any case."""
        self._asked: dict[str, bool] = {}
        self.spoken = Spoken(self.things) if watched else None
        self.reached_out = False
        """The program has changed something that is not its own: its process is not used again."""

    def keep_namespace(self, found: dict[str, Any], owner: Any) -> None:
        """The dictionary is the owner's, as long as that lives."""
        number, namespaces = id(found), self.namespaces
        try:
            namespaces[number] = (found, weakref.ref(owner, lambda _: namespaces.pop(number, None)))
        except TypeError:
            namespaces[number] = (found, partial(_itself, owner))

    def show_nothing(self) -> None:
        """No access is a choice point from now on, or kept; that something changes is still noticed."""
        self.visible, self.watched, self.only = frozenset(), frozenset(), frozenset()
        self.everything = self.logs = False
        self.lives.show_nothing()
        self._asked.clear()

    def let_go(self) -> None:
        """The execution is told: what it knows of objects ends without a collector."""
        self.things.let_go()
        self.lives = Lives(frozenset())
        self.find_unread = None
        self.namespaces.clear()
        self.members.clear()
        self.plain.clear()
        self._last.clear()
        self.log.clear()

    def begin(self) -> None:
        """There is to be a second task."""
        if self.find_unread is not None and not self.watched:
            self.unread = self.find_unread()
        if self.spoken is not None:
            self.initial.update(self.spoken.initial())

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
        mode = self._access(kernel, family, thing, footprint, at, key)
        if self.tells and mode not in (NOTHING, INITIAL) and thing.endswith("[]"):
            held = self.things.held.get(thing[:-2])
            if held is not None:
                self._told(kernel, mode, {"before" if footprint[0].writes else "value": snapshot(held)})
        return mode

    def _access(
        self,
        kernel: Kernel,
        family: str,
        thing: str,
        footprint: tuple[Access, ...],
        at: str,
        key: Any,
    ) -> int:
        if kernel.alone and self.watched and self.is_watched(kernel, family, thing):
            self._latest = thing
            return INITIAL
        if kernel.alone or kernel.quiet:
            return NOTHING
        writes = footprint[0].writes
        kind = "write" if writes else "read"
        task = kernel.current
        if task.host is not None and task.index not in self._hosts:
            self._hosts[task.index] = task.host.index
        if family in self.lent and task.host is not None:
            kernel.add(Access(LIBRARIES, writes))
        if len(task.trail.reads) > PATIENCE and family not in self.visible and self._is_asked_for(family):
            self._begin_anew(family)  # it goes round and round, and only others can end that
            self.visible |= {family}
        if self._is_visible(kernel, family, thing):
            self._meet_threads(kernel, task, family, writes)
            if not self._stays_whole(kernel, task, family):
                more = () if self.spoken is None else self.spoken.changed_by(footprint)
                kernel.visible(kind, thing, (*footprint, *more), at or None)
                self._speak(kernel, footprint)
                return VISIBLE
            for each in footprint:
                kernel.add(each)
            kernel.note(
                {"kind": kind, "thing": thing, "at": at}, writes and self.is_watched(kernel, family, thing)
            )
            self._speak(kernel, footprint)
            return MOMENT
        self._watch(kernel, task, family, footprint, key)
        if not self.logs:
            return NOTHING
        return self._note(kernel, task, family, new_tuple(Operation, (kind, thing, footprint, at, False)))

    def _meet_threads(self, kernel: Kernel, task: Task, family: str, writes: bool) -> None:
        """Finds a use in a turn, and one by another thread that nothing else orders: it may come between."""
        if not self._hosts or AMONG + family in self.visible:
            return
        if not kernel.joined:
            kernel.commit()
        uses, me, clock = self._uses.setdefault(family, {}), task.index, task.clock
        for (other, wrote), when in uses.items():
            if (writes or wrote) and clock.get(other, 0) < when and self._are_apart(me, other):
                self._begin_anew(AMONG + family)
        uses[me, writes] = clock.get(me, 0)

    def _are_apart(self, one: int, other: int) -> bool:
        """Whether two tasks are of different threads, and one has turns in an event loop."""
        hosts = self._hosts
        return (one in hosts or other in hosts) and hosts.get(one, one) != hosts.get(other, other)

    def _stays_whole(self, kernel: Kernel, task: Task, family: str) -> bool:
        """Whether nobody can come before an access in the middle of a turn: all who touch such things have
        their turns in the same loop."""
        if task.host is None or not kernel.is_mixed:
            return task.host is not None
        return not (self.everything or self.watched or AMONG + family in self.visible)

    def enter(self, kernel: Kernel, root: str, code: CodeType) -> None:
        """The running task enters code of a package that is not instrumented, while others are there."""
        task, family = kernel.current, PACKAGE + root
        task.trail.turn()  # what it keeps aside is not seen
        if family in self.entered:
            return
        if task.host is None or kernel.is_mixed:
            self._meet(kernel, root, family, code)
        elif root in sys.stdlib_module_names:
            self._enter_in_turn(kernel, root, family, code)
        elif root not in OF_TRIO:
            self.run_in_turn(kernel, root)  # a turn is one step: all that matters is which of them conflict

    def _enter_in_turn(self, kernel: Kernel, root: str, family: str, code: CodeType) -> None:
        """Likewise, a module of the standard library in the turn of an event loop: do tasks meet there?"""
        if not kernel.joined:
            kernel.commit()
        self._check(kernel.current, family, family, True)
        if self.left.pop(family, False) is None or self.racy.pop(family, False) is None:
            self._meet(kernel, root, family, code)

    def hand(self, kernel: Kernel, root: str, things: list[tuple[str, str]]) -> None:
        """Code of a package that is not instrumented gets things (family, thing), and may keep them."""
        is_turn = kernel.current.host is not None and not kernel.is_mixed
        if is_turn and not (kernel.alone or kernel.quiet or PACKAGE + root in self.entered):
            self._lend(kernel, root, things)

    def look_inside(self, kernel: Kernel, code: CodeType) -> None:
        """A task seems to go round in code that is not watched: that can be told only by watching it."""
        root = packages.root_of_file(code.co_filename)
        if not self._is_left(root) and packages.entered(code) not in packages.wanted:
            self._want(root, code)
            kernel.finish(Outcome.CUT_OFF, None)

    def _meet(self, kernel: Kernel, root: str, family: str, code: CodeType) -> None:
        """Code of a package runs while another task may do anything."""
        if not self._is_left(root) and packages.entered(code) not in packages.wanted:
            self._want(root, code)
            return
        self.entered.add(family)
        if root in self.trusted:
            kernel.assumed[f"each call of {root} is one step, as --trust {root} says"] = None
            return
        why = "which is excluded" if root in self.excluded else "parts of which cannot be watched"
        kernel.uncontrolled[f"{root}, {why}"] = f"--trust {root} takes each of its calls as one step"

    def _is_left(self, root: str) -> bool:
        """The package is not to be watched."""
        return root in self.trusted or root in self.excluded

    def open_up(self, kernel: Kernel, root: str) -> None:
        """The inside of something modelled is used: from the next execution on its own code is executed.

        This one ends here: what would follow is not what the program does.
        """
        family = PACKAGE + root
        if family not in self.visible:
            self._begin_anew(family)
            kernel.finish(Outcome.CUT_OFF, None)

    def _want(self, root: str, code: CodeType) -> None:
        """From the next execution on this code is instrumented; this one says nothing."""
        family = PACKAGE + root
        self.codes[packages.entered(code)] = None
        self._begin_anew(family)

    def run_in_turn(self, kernel: Kernel, root: str) -> None:
        """A turn of an event loop runs code of a package that is not instrumented."""
        if root in self.trusted:
            kernel.assumed[f"turns that run code of {root} commute, as --trust {root} says"] = None
            return
        self.in_turns[root] = None
        if LIBRARIES in self.visible:
            kernel.add(Access(LIBRARIES, True))

    def _lend(self, kernel: Kernel, root: str, things: list[tuple[str, str]]) -> None:
        """Code that is not instrumented may keep these, and touch them in any later turn that runs such."""
        if root in self.trusted:
            return
        self.in_turns[root] = None
        if LIBRARIES in self.visible:
            kernel.add(Access(LIBRARIES, True))
            self.lent.update(family for family, _ in things)

    def write_rarely(self, kernel: Kernel, name: str) -> None:
        """A place that holds behaviour is written: reads of that name were not told so far."""
        self.find_out(kernel, RARELY + name)

    def find_out(self, kernel: Kernel, word: str) -> None:
        """Something happens beside other tasks that executions were taken not to do."""
        if word not in self.visible and not kernel.alone and not kernel.quiet:
            self._begin_anew(word)

    def _begin_anew(self, word: str) -> None:
        """With this one visible the search begins anew: this execution did not look closely enough."""
        self.racy[word] = None
        self.overflowed.add(word)

    def ask_for_worker(self, kernel: Kernel) -> None:
        """Code that a pool runs asks which thread it is in: then it matters which of them takes a call."""
        if kernel.current.name in self.workers and WORKERS not in self.visible:
            self._begin_anew(WORKERS)

    def widen(self, kernel: Kernel, family: str) -> None:
        """Items of such a container are read that cannot be named. Where two tasks do so, who changes one
        has to tell of it, so that these two do not conflict."""
        if kernel.alone or kernel.quiet:
            return
        if not kernel.joined:
            kernel.commit()
        token = WIDELY + family
        self._check(kernel.running(), token, token, True)
        self.left.pop(token, None)
        self.overflowed.add(token)

    def want_last_words(self, kernel: Kernel) -> None:
        """A function is to be called at the end, which sees how far daemons came, also those of before."""
        kernel.has_last_words = True
        if LAST_WORDS not in self.visible and not kernel.alone:
            self._begin_anew(LAST_WORDS)

    def ending(self, kernel: Kernel, old: Any, at: str) -> dict[Life, bool]:
        """Whose lives may end as a place loses what it holds."""
        return self.lives.ending((kernel, self), old, at)

    def drop(self, kernel: Kernel, lives: dict[Life, bool], at: str) -> None:
        """A place is about to lose what these may end with."""
        if lives:
            self.lives.let_go((kernel, self), lives, at, kernel.current.shown, True)

    def passes(self, kernel: Kernel, site: str, at: str) -> None:
        """The running task comes by a site."""
        if kernel.current.keeps is not None:
            self.lives.keep_no_more((kernel, self), at)
        self.lives.passes((kernel, self), site, at)

    def hold_weakly(self, kernel: Kernel, value: Any, callbacks: tuple[Any, ...] = ()) -> None:
        """A weak reference of the program leads to the object from now on, perhaps."""
        if not packages.is_aside(sys._getframe()):
            self.lives.hold_weakly((kernel, self), value, callbacks)

    def ended(self, number: int) -> None:
        """An object whose end matters has just ended."""
        life, callbacks = self.lives.forget(number)
        kernel = running.kernel
        if life is None or kernel is None or memory is not self or kernel.ending:
            return
        if kernel.alone or kernel.quiet:
            return
        if self.find_changed is not None:
            for part in [part for each in callbacks for part in self.find_changed(each)]:
                self.change_at_once(kernel, *part)
        self.lives.end((kernel, self), life)

    def change_at_once(
        self, kernel: Kernel, family: str, thing: str, footprint: tuple[Access, ...], key: Any
    ) -> None:
        """Something is changed inside the running step, whose beginning told nothing of it."""
        if not self._is_visible(kernel, family, thing):
            self.hide(kernel, family, footprint, key)
            return
        for each in footprint:
            kernel.add(each)

    def in_calls(self, kernel: Kernel, task: Task, has_begun: bool) -> tuple[Access, ...]:
        """What a step touches because the task is in the middle of calls of code that is not instrumented."""
        calls = task.calls
        alive = callers(task.looks)
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
        for _, writes in footprint:
            if writes:
                self.unlogged = len(kernel.steps) + kernel.in_step

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
        step = len(kernel.steps) + kernel.in_step
        if count > LOGGED:
            self.overflowed.add(family)
            if operation.footprint[0].writes:
                self.unlogged = step
            return NOTHING
        inside = self._stays_whole(kernel, task, family)
        position = len(kernel.marks.get("turn", ())) if inside else 0
        self.log.append(new_tuple(Logged, (step, task.name, family, operation, None, inside, position)))
        return NOTED

    def _speak(self, kernel: Kernel, footprint: tuple[Access, ...]) -> None:
        """What is about to be touched may belong to variables that a specification speaks of."""
        if self.spoken is not None and (more := self.spoken.changed_by(footprint)):
            for each in more:  # others may have put it there meanwhile
                kernel.add(each)
            self.spoken.change(more)
            kernel.settle = self.spoken.settle

    def saw(self, kernel: Kernel, mode: int, value: Any, variable: str = "") -> None:
        """The value that the access just made has read or written, for the report, and of which variable."""
        if variable and self.spoken is not None and variable.rpartition(".")[2] in self.watched:
            self.spoken.hold(variable, value, kernel)
        if mode == INITIAL:
            self.initial[self._latest] = snapshot(value)
        elif mode != NOTHING:
            self._told(kernel, mode, {"value": snapshot(value)})

    def asked(self, kernel: Kernel, mode: int, is_there: bool) -> None:
        """Whether the access just made has found the item that it looked for, for the report."""
        if mode not in (NOTHING, INITIAL):
            self._told(kernel, mode, {"there": is_there})

    def _told(self, kernel: Kernel, mode: int, told: dict[str, Any]) -> None:
        if mode == VISIBLE:
            kernel.tell(told)
        elif mode == MOMENT:
            kernel.noted(told)
        else:
            step, task, family, operation, _, inside, position = self.log[-1]
            self.log[-1] = new_tuple(Logged, (step, task, family, operation, told, inside, position))

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
        container = thing.partition("[")[0]
        if self.spoken is not None and self.spoken.leads.get(container):
            return True
        return kernel.labels.get(container, "") in self.watched

    def _check(self, task: Task, family: str, thing: Any, writes: bool) -> None:
        last = self._last.get(thing)
        if last is None:
            last = self._last[thing] = _Last()
        clock, me = task.clock, task.index
        now = clock.get(me, 0)
        if not writes and last.readers.get(me) == now:
            return  # nobody wrote it since, or this would be gone
        if last.task not in (-1, me) and clock.get(last.task, 0) < last.count:
            self._race(family, task, last.task, last.count)
        if writes:
            for reader, count in last.readers.items():
                if reader != me and clock.get(reader, 0) < count:
                    self._race(family, task, reader, count)
            last.readers.clear()
            last.task, last.count = me, now
        else:
            last.readers[me] = now

    def begin_anew(self, cell: int, thing: str) -> None:
        """A cell gets its first value: what was at its address before is gone, and races with nothing.

        Unless somebody has found or made it empty: then it may be the same one.
        """
        if cell not in self.emptied:
            self._last.pop((cell, thing), None)

    def reach_out(self, value: Any) -> None:
        """An attribute is stored into something that is not known as the program's own."""
        if is_a(value, threading.Thread):
            self.reached_out |= value is threading.main_thread()
        elif is_a(value, FunctionType):
            self.reached_out |= not port.is_user_file(value.__code__.co_filename)
        elif not is_a(value, (BaseException, Queue)):
            self.reached_out |= self.things.kind(value) in FOREIGN and not _is_model(value)

    def show(self, families: tuple[str, ...], order: str = "") -> None:
        """These locks are choice points from the next execution on, and this one is useless.

        `order`: the family of accesses that they seem to order; empty: they have to be in any case.
        """
        self.racy.update(dict.fromkeys(families))
        self.overflowed.update(families)
        for each in families:
            self.ordering.setdefault(each, set()).add(order)

    def _race(self, family: str, task: Task, other: int, count: int) -> None:
        """An access of the task is not ordered after one of another; locks that are hidden may order them."""
        if task.clock.get(-1 - other, 0) >= count:
            told = [each for each in self.carried if each.task == other and each.old < count <= each.new]
            self.show(tuple(each.family for each in told), family)
            return
        if not self._is_asked_for(family):
            self.left[family] = None
        elif family in self.racy or not self._is_to_be_ordered(task, other, count):
            self.racy[family] = None
            if self._are_apart(task.index, other):
                self._begin_anew(AMONG + family)
            known = self._to_be_ordered.setdefault(task.index, {})
            known[other] = max(known.get(other, 0), count)

    def _is_to_be_ordered(self, task: Task, other: int, count: int) -> bool:
        """Whether the accesses will be ordered by those found to race before, once these are choice points.

        What one task makes and another finds by a variable is no choice point if the variable is one. This
        execution then tells too little to be learnt from.
        """
        if self._to_be_ordered.get(task.index, _NO_CLOCK).get(other, 0) < count:
            return False
        self.overflowed.update(self.racy)
        return True


def _itself(owner: Any) -> Any:
    """Called with the owner, which no function made beside a weak reference to it may name: compiled, all
    functions made in one place share their variables, and keep them."""
    return owner


def _is_model(value: Any) -> bool:
    return module_of(type(value)).startswith("possibly.control.models.")


def _is_special(name: str) -> bool:
    known = name in FUNCTION_PARTS or name in ("__class__", "__bases__", "__dict__", "__subclasses__")
    return name.startswith("__") and name.endswith("__") and not known


def _is_unusual(name: str) -> bool:
    return name.startswith("__") or not name.isidentifier() or name in (CELLS, RAISING)


_NO_CLOCK: dict[int, int] = {}
memory: Memory | None = None


def start(new: Memory) -> None:
    global memory
    memory = new


def active() -> tuple[Kernel, Memory] | None:
    kernel = running.kernel
    return (kernel, memory) if kernel is not None and memory is not None else None
