"""Which objects live: who asks whether one is still there, who lets go of it, and where it ends.

The life of an object is a thing of its own if somebody can tell when it ends: weak references lead to objects
of its class, its class has a `__del__` of the program's, or it is a generator that has stopped in a `try`.
Who asks a weak reference reads that thing; the end writes it, and so does whoever empties a place that holds
the object, or a container in which it is. Who has read such a place keeps the object for a moment: others may
go on meanwhile. To let go of it then is a reading as long as no place was emptied: several tasks may use what
stays where it is. Afterwards it writes, for the last one that lets go ends it.

An object may end where nothing was told before: with a local variable that gets another value, or with what
was on the stack. The next search lets others go on at the last site before it.
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from typing import Any, NamedTuple, Protocol

from possibly.control.execution import Access
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.places import NAMING, caller, variables_of
from possibly.control.runtime.task import Task
from possibly.control.runtime.things import (
    CODE,
    SIMPLE_TYPES,
    Things,
    class_name,
    is_a,
    is_own,
    is_user_module,
    order_of,
)

LIVES = "_:lives of "
"""Begins the families and the names of lives."""
WEAKLY = "held weakly: "
"""Begins the family that stands for a class to whose objects weak references lead."""
LOOKED = "looked for: "
"""Begins the family that stands for a class about whose objects weak references are asked."""
ENDS_AFTER = "ends after: "
"""Sites after which an object ends that a local variable held: others may go on there."""
ENDS_SOMEWHERE = "ends somewhere after: "
"""Likewise, where it is not found by the variables which object that is."""
MOST_ENDING = 200
"""So many objects that may end together are looked at."""
LASTING = (type, types.ModuleType, types.CodeType, types.FrameType, types.BuiltinFunctionType, Task)
"""What does not end with whatever leads to it."""
_FUNCTION = 0x2


class Life(NamedTuple):
    """The life of an object, as a thing."""

    family: str
    thing: str
    key: int | None


class Accesses(Protocol):
    """What is told of accesses (`memory.Memory`)."""

    things: Things

    def _is_visible(self, kernel: Kernel, family: str, thing: str) -> bool: ...

    def _stays_whole(self, kernel: Kernel, task: Task, family: str) -> bool: ...

    def access(
        self, kernel: Kernel, family: str, thing: str, footprint: tuple[Access, ...], at: str, key: Any = None
    ) -> int: ...

    def hide(self, kernel: Kernel, family: str, footprint: tuple[Access, ...], key: Any = None) -> None: ...

    def find_out(self, kernel: Kernel, word: str) -> None: ...


class Lives:
    """The lives of the objects of one execution."""

    def __init__(self, visible: frozenset[str]) -> None:
        self.has_ends = any(each.startswith(LIVES) for each in visible)
        """The end of some objects is a choice point."""
        self.kinds = _words(visible, WEAKLY)
        """The classes, by their names, to whose objects weak references lead."""
        self.looked = _words(visible, LOOKED)
        self.ends_after = _words(visible, ENDS_AFTER)
        self.ends_somewhere = _words(visible, ENDS_SOMEWHERE)
        self.may_drop = self.has_ends or bool(self.kinds)
        """Who takes something from its place may end what others can tell the end of."""
        self.may_keep = self.has_ends or bool(self.looked)
        """Who reads a place may keep such an object for a while."""
        self.known: dict[str, Life] = {}
        """All that were told of, by their things."""
        self.observed: dict[int, Life] = {}
        """Objects, by their addresses, to which weak references of the program lead."""
        self.callbacks: dict[int, list[Any]] = {}
        """What is called when one of these ends."""
        self.behind: dict[int, Life] = {}
        """To which object a weak reference leads, by its own address."""
        self.ended: dict[Life, None] = {}
        self._modules: tuple[int, list[Any]] = (0, [])
        """How many modules there were, and the program's own of these."""
        self.emptied: set[str] = set()
        """The lives of what was in a place that was emptied."""
        self.passed: dict[str, str] = {}
        """Task -> the site that it came by last."""
        self.told: dict[str, tuple[int, int, frozenset[str]]] = {}
        """Task -> the step in which others could go on, which of its instructions lets go, and of which."""
        self._direct: set[str] = set()
        """The life of what the place itself holds that is about to be emptied, if that can be told of."""
        self._finishing: dict[type, bool] = {}
        """Classes, and whether code of the program runs when an object of one ends."""

    def show_nothing(self) -> None:
        self.has_ends = self.may_drop = self.may_keep = False

    # ---- which objects --------------------------------------------------------------------------

    def life_of(self, now: Now, value: Any, at: str) -> Life:
        named = now[1].things.named(value, now[0], at)
        thing = LIVES + named.name
        life = self.known.get(thing)
        if life is None or life.key != named.which:
            life = self.known[thing] = Life(LIVES + class_name(value), thing, named.which)
        return life

    def hold_weakly(self, now: Now, value: Any, callbacks: tuple[Any, ...] = ()) -> None:
        """A weak reference of the program leads to the object from now on, perhaps.

        Whoever drops an object of its class from then on tells of it, and has to before as well.
        """
        if type(value) in SIMPLE_TYPES or is_a(value, LASTING):
            return
        number, name = id(value), class_name(value)
        if number not in self.observed:
            if not now[1].things.watch_end(value):
                return
            self.observed[number] = self.life_of(now, value, "")
        if callbacks:
            self.callbacks.setdefault(number, []).extend(callbacks)
        if name not in self.kinds:
            self.kinds.add(name)
            self.may_drop = True
            if self.has_ends:
                now[1].find_out(now[0], WEAKLY + name)

    def refer(self, now: Now, reference: Any, value: Any) -> None:
        """A weak reference, which can be asked when the object has ended, leads to it."""
        life = self.observed.get(id(value))
        if life is None:
            return
        now[1].things.watch_end(value, True)  # what is called at its end comes after who listened last
        if now[1].things.watch_end(reference):
            self.behind[id(reference)] = life

    def finishes(self, cls: type) -> bool:
        """Whether code of the program runs when an object of the class ends."""
        found = self._finishing.get(cls)
        if found is None:
            of = next((each for each in order_of(cls) if "__del__" in each.__dict__), None)
            found = self._finishing[cls] = of is not None and is_own(of.__dict__["__del__"])
            if found:
                self.may_drop = self.may_keep = True
        return found

    def _is_told(self, value: Any) -> bool:
        """Whether somebody can tell when the object ends."""
        cls = type(value)
        if cls in SIMPLE_TYPES:
            return False
        if cls in CODE:
            return _stands_in_a_try(value)
        if cls is types.FunctionType:  # there are many, and weak references lead to few
            return id(value) in self.observed
        return self.finishes(cls) or class_name(value) in self.kinds

    def _matters(self, value: Any) -> bool:
        """Whether somebody does tell: who lets go last matters then."""
        return (
            id(value) in self.callbacks
            or self.finishes(type(value))
            or type(value) in CODE
            or class_name(value) in self.looked
        )

    def _ending_with(self, now: Now, values: list[Any], at: str) -> dict[Life, bool]:
        """The lives that may end with these; whether that matters if others look only."""
        pending, seen = list(values), set(map(id, values))
        found: dict[Life, bool] = {}
        while pending:
            each = pending.pop()
            if self._is_told(each):
                found[self.life_of(now, each, at)] = self._matters(each)
            if len(seen) > MOST_ENDING:
                return self._all()
            more = [held for held in _owned(each) if id(held) not in seen]
            seen.update(map(id, more))
            pending += more
        return found

    def _all(self) -> dict[Life, bool]:
        return {each: True for each in self.known.values() if each not in self.ended}

    # ---- who asks -------------------------------------------------------------------------------

    def asked(self, now: Now, value: Any, at: str) -> list[Life]:
        """Whose life somebody learns of by a weak reference, or by a container of such."""
        kernel, memory = now
        if kernel.alone or kernel.quiet:
            return []
        found = self._behind(now, value, at)
        for name in sorted({each.family[len(LIVES) :] for each in found} - self.looked):
            memory.find_out(kernel, LOOKED + name)
        return found

    def _behind(self, now: Now, value: Any, at: str) -> list[Life]:
        if not issubclass(type(value), weakref.ReferenceType):
            life = self.behind.get(id(value))
            return [life] if life is not None else list(self.known.values())
        object_ = weakref.ReferenceType.__call__(value)
        if object_ is not None:
            life = self.life_of(now, object_, at)
            if now[1].things.watch_end(value):
                self.behind[id(value)] = life
            return [life]
        life = self.behind.get(id(value))
        return [life] if life is not None else list(self.ended)

    # ---- who lets go ----------------------------------------------------------------------------

    def ending(self, now: Now, old: Any, at: str) -> dict[Life, bool]:
        """The lives that may end as a place loses what it holds. Who asks does not keep it: others go on."""
        if now[0].alone or now[0].quiet:
            return {}
        found = self._ending_with(now, [old], at)
        self._direct = {self.life_of(now, old, at).thing} if found and self._is_told(old) else set()
        return found

    def keep(self, now: Now, value: Any) -> None:
        """The running task gets this from a place, and keeps it at least until its next site."""
        kernel = now[0]
        if kernel.alone or kernel.quiet:
            return
        for each in _seen_through(value):
            if self._is_told(each):
                if self.has_ends:
                    kernel.current.keeps = value
                elif self._matters(each):
                    self._hide(now, self.life_of(now, each, ""), False)

    def keep_no_more(self, now: Now, at: str) -> None:
        """What the running task has got from a place may be gone before its next site."""
        task = now[0].current
        if not now[0].alone and not now[0].quiet:
            told = [each for each in _seen_through(task.keeps) if self._is_told(each)]
            lives = {self.life_of(now, each, at): True for each in told}
            del told[:]
            self.let_go(now, lives, at, task.shown, False)
        task.keeps = None

    def let_go(self, now: Now, lives: dict[Life, bool], at: str, instruction: int, is_place: bool) -> None:
        """These may end with what a place or a variable loses: so others may go on just before.

        They may also end later, with another task's variable, because they are gone from here.
        """
        kernel, memory = now
        shown = [each for each in lives if memory._is_visible(kernel, each.family, each.thing)]
        staying = self._staying(now, at) - self._direct if is_place and lives else set()
        for each, matters in lives.items():
            if matters and each not in shown:
                self._hide(now, each, is_place and each.thing not in staying)
        if not shown:
            return
        task, things = kernel.current, frozenset([each.thing for each in shown])
        if memory._stays_whole(kernel, task, shown[0].family):
            for thing in sorted(things):
                kernel.add(Access(thing, (is_place and thing not in staying) or thing in self.emptied))
        else:
            ends = tuple([Access(each.thing, True) for each in shown])
            memory.access(kernel, shown[0].family, shown[0].thing, ends, at)
            lesser = staying if is_place else things
            kernel.lessen(tuple([each for each in ends if each.thing in lesser - self.emptied]))
        if is_place:
            self.emptied |= things - staying
        self.told[task.name] = (len(kernel.steps), instruction, things)

    def passes(self, now: Now, site: str, at: str) -> None:
        """The running task comes by a site, after which what a local variable holds may end."""
        kernel = now[0]
        self.passed[kernel.current.name] = site
        if site not in self.ends_after or kernel.alone or kernel.quiet:
            return
        if site in self.ends_somewhere:
            self.let_go(now, self._all(), at, -1, False)
        else:
            self.end_locals(now, at, -1)

    def end_locals(self, now: Now, at: str, instruction: int) -> None:
        """What the variables of a function hold may end: others may go on just before."""
        self.let_go(now, self._ending_with(now, _held_by_variables(), at), at, instruction, False)

    def _staying(self, now: Now, at: str) -> set[str]:
        """The lives of what global variables of the program hold: to drop what leads there too ends nothing.

        Who empties such a variable changes them, which meets who drops the rest: that is a reading.
        """
        if self._modules[0] != len(sys.modules):
            every = [each for each in list(sys.modules.values()) if is_user_module(each)]
            self._modules = (len(sys.modules), every)
        found: set[str] = set()
        for module in self._modules[1]:
            for each in list(vars(module).values()):
                if type(each) not in SIMPLE_TYPES and not is_a(each, LASTING) and self._is_told(each):
                    found.add(self.life_of(now, each, at).thing)
        return found

    # ---- the end --------------------------------------------------------------------------------

    def forget(self, number: int) -> tuple[Life | None, list[Any]]:
        """What was known of the object that was there: its life, and what is called at its end."""
        self.behind.pop(number, None)
        return self.observed.pop(number, None), self.callbacks.pop(number, [])

    def finish(self, now: Now, at: str) -> None:
        """The `__del__` of an object begins."""
        frame = caller()
        value = variables_of(frame).get(frame.f_code.co_varnames[0]) if frame.f_code.co_argcount else None
        if self.finishes(type(value)) and not now[0].alone and not now[0].quiet:
            self.end(now, self.life_of(now, value, at))

    def end(self, now: Now, life: Life) -> None:
        """An object has just ended, or is about to finish."""
        if life in self.ended:
            return
        kernel, memory = now
        self.ended[life] = None
        if not memory._is_visible(kernel, life.family, life.thing):
            self._hide(now, life, True)
            return
        kernel.add(Access(life.thing, True))
        is_whole = memory._stays_whole(kernel, kernel.current, life.family)
        if not is_whole and not self._could_others(kernel, life):
            self._not_told(now)

    def _could_others(self, kernel: Kernel, life: Life) -> bool:
        """Whether others could go on just before, as it was let go of or as the place was emptied."""
        step, instruction, things = self.told.get(kernel.current.name, (-1, -1, frozenset()))
        return life.thing in things and (step == len(kernel.steps) or instruction == kernel.current.shown)

    def _not_told(self, now: Now) -> None:
        """Next time others may go on at the last site before it.

        Where that has an access of its own, there is no place between the two.
        """
        kernel, memory = now
        site = self.passed.get(kernel.current.name, "")
        if site and site not in self.ends_after:
            memory.find_out(kernel, ENDS_AFTER + site)
        elif site and site not in self.ends_somewhere:
            memory.find_out(kernel, ENDS_SOMEWHERE + site)
        else:
            what = "the end of an object that a local variable held, which a weak reference tells of"
            kernel.uncontrolled[what] = None

    def _hide(self, now: Now, life: Life, writes: bool) -> None:
        now[1].hide(now[0], life.family, (Access(life.thing, writes),), life.key)


Now = tuple[Kernel, Accesses]


def _seen_through(value: Any) -> tuple[Any, ...]:
    """What a value stands for: a method for its object, a tuple for what is in it."""
    if type(value) is types.MethodType:
        return (value.__self__,)
    return value if type(value) is tuple and len(value) <= MOST_SEEN else (value,)


MOST_SEEN = 8


def _stands_in_a_try(value: Any) -> bool:
    """Whether a generator or coroutine of the program's has code that runs when it is given up."""
    frame = getattr(value, "gi_frame", None)
    return frame is not None and frame.f_lasti >= 0 and bool(frame.f_code.co_exceptiontable)


def _held_by_variables() -> list[Any]:
    """What the variables of the running function hold; nothing where their names are known to the program."""
    frame = caller()
    code = frame.f_code
    if not code.co_flags & _FUNCTION or not NAMING.isdisjoint(code.co_names):
        return []
    return list(variables_of(frame).values())


def _owned(value: Any) -> list[Any]:
    """What an object holds and may be the only one to hold."""
    if type(value) is types.FunctionType:
        return [*(value.__closure__ or ()), value.__defaults__, value.__kwdefaults__, value.__dict__]
    if not gc.is_tracked(value):
        return []
    return [each for each in gc.get_referents(value) if not is_a(each, LASTING) and not _is_running(each)]


def _is_running(value: Any) -> bool:
    """Whether it is an event loop that runs: who runs it holds it."""
    loops = sys.modules.get("asyncio.base_events")
    return loops is not None and is_a(value, loops.BaseEventLoop) and value._thread_id is not None


def _words(visible: frozenset[str], beginning: str) -> set[str]:
    return {each[len(beginning) :] for each in visible if each.startswith(beginning)}
