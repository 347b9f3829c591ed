"""The listener that writes: one append-only log a process of the operating system.

Law: an entry is appended to one list while the operation that it tells is atomic, so the order of the list
is the order of what happened. A thread drains the list into the file every tenth of a second: each piece is
its lengths, the entries as `marshal` writes them and the records of `packing`, so a process that is killed
leaves all whole pieces.

It relies on the interpreter's lock (a free-threaded build is refused): `list.append` is one step, and no
other thread runs between an entry and the store right after it (`telling`), because the interpreter looks
for others only after calls and at jumps back.

The methods that probes and sites call exist twice, here and in `_tell.c`, which is built when a compiler
is there: a test compares what they append.
"""

from __future__ import annotations

import _thread
import atexit
import marshal
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic, time
from types import GetSetDescriptorType, ModuleType
from typing import Any

from possibly.compiled import built
from possibly.probes import port
from possibly.recorder.entries import (
    ENTER,
    EXIT,
    HEADER,
    ITEM_READ,
    ITEM_WRITE,
    LAST,
    LEFT_OUT,
    MEMBER_READ,
    MEMBER_WRITE,
    NAMED,
    OBJECT,
    OWN,
    PROCESS,
    RAW,
    SHARED,
    SITE,
    SYNC,
    THING,
    TIME,
    UNSEEN,
)
from possibly.recorder.packing import HEAD, TOLD_AFTER, TOLD_BEFORE, number_of
from possibly.recorder.snapshot import held_in, snapshot

PERIOD = 0.1
"""Seconds between two flushes."""
TICK = 0.001
"""Seconds between two looks at the clock, where times are wanted."""
SUFFIX = ".log"

_WITH_OBJECT = frozenset({MEMBER_READ, MEMBER_WRITE, ITEM_READ, ITEM_WRITE})
_ALREADY_PLAIN = frozenset(range(RAW)) - _WITH_OBJECT - {SHARED, UNSEEN}


class Log:
    """Listens to the probes. `note` is what sites call directly."""

    def __init__(
        self,
        folder: str,
        name: str = "",
        parent: str = "",
        kernel: ModuleType | None = None,
        unasked: tuple[str, ...] = (),
        times: bool = False,
    ) -> None:
        self.folder = folder
        self.times = times
        """Whether it is told when things happened; then there is no compiled twin."""
        self.entries: list[tuple[Any, ...]] = []
        self.append = self.entries.append
        self.name = name
        self.end = ""
        """What the end of this process is known by to the one that started it, if it is."""
        self._sites: dict[tuple[int, int], int] = {}
        """(code, place in it) -> site."""
        self._inner: set[int] = set()
        """Code that is not the program's own."""
        self._site_numbers: dict[tuple[Any, ...], int] = {}
        self.described: dict[int, tuple[str, int, str | None]] = {}
        """Sites -> file, line and variable."""
        self._kept: list[Any] = []
        """Code objects whose identity is a key."""
        self._objects: dict[int, tuple[Callable[[], Any], int]] = {}
        self._object_count = 0
        self._has_new = False
        self._is_ending = False
        self._nameless: set[int] = set()
        """Identities of objects that no global is known for."""
        self._definitions: list[tuple[Any, ...]] = []
        """What objects are, told with the next flush; where they stand in the log does not matter."""
        self._flushing = _thread.RLock()
        """By the flusher itself a second time, if what it looks at ends the recording."""
        self.flusher = 0
        """The identity of the thread that flushes."""
        self._stop: Any = None
        self._pid = 0
        self.tape = self._new_tape(kernel)
        self.before: Callable[..., None] = self.tape.before if self.tape else self.plain_before
        self.after: Callable[..., None] = self.tape.after if self.tape else self.plain_after
        self.note: Callable[[tuple[Any, ...]], None] = self.tape.note if self.tape else self.append
        """What sites call with an entry."""
        self.enter: Callable[[int], None] = self.tape.enter if self.tape else self.plain_enter
        """What sites call where a function begins whose calls are counted."""
        self.leave: Callable[[int], None] = self.tape.leave if self.tape else self.plain_leave
        self.told: Callable[[str, int, port.Thing, Any], None] | None = None
        """Hears of every action; the compiled tape has one of its own."""
        self.as_entries: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None
        """Makes entries of what shadow memory has written down."""
        self.at_fork: Callable[[], None] | None = None
        """Called in the child of a fork."""
        self.unasked = unasked
        """Words that are told as long as that is not too much."""
        self.live = [True] * len(unasked)
        """Of each word that is told unasked whether it still is (`switching`)."""
        self.forget_word: Callable[[str], None] | None = None
        """Told of each word that is turned off."""
        self.sifted: Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]] | None = None
        """What of the entries at hand is written: one for each, and more."""
        self._passed = 0
        """Entries that were taken away."""
        self._most_calls = 0
        self._calls: dict[int, int] = {}
        """How often functions were entered, by their sites."""
        if self.tape:
            self.moved: Callable[[], None] = self.tape.forget
        self._open(parent)

    def _open(self, parent: str) -> None:
        self._pid = os.getpid()
        self.path = _free_path(self.folder, self._pid)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        fields = {"pid": self._pid, "name": self.name, "parent": parent, "key": self.key}
        fields |= {"unasked": self.unasked} if self.unasked else {}
        fields |= {"clock": time() - monotonic()} if self.times else {}
        self.append((HEADER, fields))
        if self.times:
            self.append((TIME, monotonic()))

    @property
    def key(self) -> str:
        """Unique among all processes of the run."""
        return os.path.basename(self.path).removesuffix(SUFFIX)

    # ---- the port -------------------------------------------------------------------------------

    def plain_before(self, action: str, thing: port.Thing, detail: Any = None) -> None:
        """An action is about to be done."""
        if action in TOLD_BEFORE:
            self._plain_sync(action, thing, detail, port.me(), self.place())

    def plain_after(self, action: str, thing: port.Thing, detail: Any = None) -> None:
        """An action was done."""
        if action in TOLD_AFTER:
            self._plain_sync(action, thing, detail, port.me(), self.place())

    def _plain_sync(self, action: str, thing: port.Thing, detail: Any, process: int, place: int) -> None:
        moment = monotonic() if self.times or type(thing) is str else 0.0
        self.append((SYNC, process, place, action, thing, detail, moment))
        if self.told is not None:
            self.told(action, process, thing, detail)

    def sequence(self) -> int:
        """How many entries were made so far."""
        return self._passed + len(self.entries)

    def _new_tape(self, kernel: ModuleType | None) -> Any:
        """The compiled twin of both."""
        if kernel is None:
            return None
        told = ({action: number_of(action) for action in actions} for actions in (TOLD_BEFORE, TOLD_AFTER))
        tables = port.process_tables()
        return kernel.Tape(SYNC, *told, self.entries, *tables, port.me, self._place_of, monotonic)

    def limit_calls(self, most: int) -> None:
        """Of a function that is called more often nothing counts; 0: no function is called too often."""
        self._most_calls = most
        if self.tape:
            self.tape.limit_calls(most)

    def turn_off(self, number: int) -> None:
        """The word with this number is not told any more."""
        self.live[number] = False
        if self.forget_word is not None:
            self.forget_word(self.unasked[number])

    def plain_enter(self, site: int) -> None:
        """A function begins whose calls are counted."""
        if self._most_calls:
            count = self._calls[site] = self._calls.get(site, 0) + 1
            if count > self._most_calls:
                if count == self._most_calls + 1:
                    self.append((LEFT_OUT, site))
                return
        self.append((ENTER, port.me(), site))

    def plain_leave(self, site: int) -> None:
        """It ends."""
        if not self._most_calls or self._calls.get(site, 0) <= self._most_calls:
            self.append((EXIT, port.me(), site))

    def _plain_left_out(self) -> list[int]:
        return [site for site, count in self._calls.items() if count > self._most_calls > 0]

    def switch(self, process: int, name: str) -> None:
        """A process has a name from now on."""
        self.append((PROCESS, process, name))

    def own(self, fields: dict[str, Any], key: str | int | None) -> None:
        """An event that the program itself reports."""
        self.append((OWN, port.me(), self.place(), fields, None if key is None else f"own:{key}"))

    # ---- places ---------------------------------------------------------------------------------

    def place(self) -> int:
        """The site of the innermost line of the program that is being executed."""
        frame: Any = sys._getframe(2)
        inner, sites = self._inner, self._sites
        while frame is not None:
            code = id(frame.f_code)
            if code not in inner:
                found = sites.get((code, frame.f_lasti))
                if found is not None:
                    return found
                found = self._new_place(frame)
                if found:
                    return found
            frame = frame.f_back
        return 0

    def _place_of(self, frame: Any) -> int | None:
        """The site of a frame at its present line; None: its code is not the program's own."""
        return self._new_place(frame) or None

    def _new_place(self, frame: Any) -> int:
        code = frame.f_code
        self._kept.append(code)
        if not _is_shown(code.co_filename):
            self._inner.add(id(code))
            return 0
        found = self._sites[id(code), frame.f_lasti] = self.site(shown_path(code.co_filename), frame.f_lineno)
        return found

    def site(
        self,
        file: str,
        line: int,
        label: str | None = None,
        variable: str | None = None,
        fn: str | None = None,
    ) -> int:
        """The number of a place, the same for the same place."""
        key = (file, line, label, variable, fn)
        found = self._site_numbers.get(key)
        if found is None:
            found = self._site_numbers[key] = len(self._site_numbers) + 1
            self.described[found] = file, line, variable
            self.append((SITE, found, f"{file}:{line}", label, variable, fn))
        return found

    def defined_site(self, file: str, line: int, variable: str | None) -> int:
        """The same while the log is being written: the site is told with the definitions."""
        key = (file, line, None, variable, None)
        found = self._site_numbers.get(key)
        if found is None:
            found = self._site_numbers[key] = len(self._site_numbers) + 1
            self._definitions.append((SITE, found, f"{file}:{line}", None, variable, None))
        return found

    # ---- objects --------------------------------------------------------------------------------

    def object_number(self, thing: Any) -> int:
        """The number of an object whose members are watched, the same as long as the object lives."""
        found = self._objects.get(id(thing))
        if found is not None:
            return found[1]
        self._object_count += 1
        number = self._object_count
        self._objects[id(thing)] = (self._held(thing), number)
        if isinstance(thing, type(sys)):
            name = thing.__name__
            self._definitions.append((NAMED, number, "" if name == "__main__" else name))
        else:
            self._definitions.append((OBJECT, number, _class_name(thing)))
            self._nameless.add(id(thing))
            self._has_new = True
        return number

    def tell_unseen(self, entry: tuple[Any, ...]) -> None:
        """The variable of an access had a value that nobody told."""
        self.note((UNSEEN, entry))

    def name_object(self, number: int, name: str) -> None:
        """An object is called so."""
        self._definitions.append((NAMED, number, name))

    def _held(self, thing: Any) -> Any:
        """A reference that lets the object die where it can; containers are kept, so that they stay
        unique."""
        try:
            return weakref.ref(thing, partial(self._died, id(thing)))
        except TypeError:
            return lambda: thing

    def _died(self, identity: int, _: object) -> None:
        self._objects.pop(identity, None)
        self._nameless.discard(identity)

    def _name_objects(self) -> None:
        """Objects that a global of the program is bound to by now are called by it."""
        if not self._nameless or not (self._has_new or self._is_ending):
            return
        self._has_new = False
        for prefix, variables in globals_of_the_program():
            self._name_from(variables, prefix)
        for held, number in list(self._objects.values()) if self._is_ending else ():
            self._name_from(_members(held()), number)

    def _name_things(self) -> None:
        """Primitives that a global of the program is bound to are called by it."""
        for prefix, variables in globals_of_the_program():
            for variable, value in list(variables.items()):
                number = port.number_of(value)
                if number:
                    self._definitions.append((THING, number, f"{prefix}{variable}"))

    def _name_from(self, variables: dict[str, Any], prefix: str | int) -> None:
        for variable, value in list(variables.items()):
            if id(value) in self._nameless and not variable.startswith(("_possibly", "__")):
                self._nameless.discard(id(value))
                number = self._objects[id(value)][1]
                name = f"{prefix}{variable}" if isinstance(prefix, str) else (prefix, variable)
                self._definitions.append((NAMED, number, name))

    def _plain(self, entry: tuple[Any, ...]) -> tuple[Any, ...]:
        """The entry without references to the program's objects."""
        kind = entry[0]
        if kind in _WITH_OBJECT:
            return (*entry[:3], self.object_number(entry[3]), *map(snapshot, entry[4:]))
        if kind == SHARED and self.as_entries is not None:
            earlier, how, last = self.as_entries(entry)
            told = [(number, manner, self._plain(inner)) for number, manner, inner in earlier]
            return SHARED, tuple(told), how, self._plain(last)
        if kind == UNSEEN:
            return UNSEEN, self._plain((*entry[1], None))
        if kind >= RAW:
            return self._plain((kind - RAW, *entry[1:-1], snapshot(entry[-1])))
        return entry

    # ---- the file -------------------------------------------------------------------------------

    def start(self) -> None:
        """Flushes from now on, and a last time at the end of the process."""
        atexit.register(self.finish)
        self._start_flusher()

    def _start_flusher(self) -> None:
        self._stop = _thread.allocate_lock()
        self._stop.acquire()
        self._stopped = _thread.allocate_lock()
        self._stopped.acquire()
        attend = self._tick_for_ever if self.times else self._flush_for_ever
        _thread.start_new_thread(attend, (self._stop, self._stopped))

    def _flush_for_ever(self, stop: Any, stopped: Any) -> None:
        self.flusher = _thread.get_ident()
        try:
            while not stop.acquire(True, PERIOD):
                self.flush()
        finally:
            stopped.release()

    def _tick_for_ever(self, stop: Any, stopped: Any) -> None:
        """The same, with looks at the clock in between."""
        self.flusher = _thread.get_ident()
        entries, flushed = self.entries, monotonic()
        try:
            while not stop.acquire(True, TICK):
                tick = (TIME, monotonic())
                if entries and entries[-1][0] == TIME:
                    entries[-1] = tick  # nobody else comes between: nothing is called
                else:
                    self.append(tick)
                if tick[1] - flushed > PERIOD:
                    flushed = tick[1]
                    self.flush()
        finally:
            stopped.release()

    def stop_flusher(self) -> None:
        """Ends the thread that flushes, and waits for it."""
        if self._stop is not None:
            self._stop.release()
            if _thread.get_ident() != self.flusher:
                self._stopped.acquire()
            self._stop = None

    def flush(self) -> None:
        """Writes all that was told so far."""
        with self._flushing:
            taken, packed = self._take()
            if self.sifted is not None:
                taken = self.sifted(taken)
            told = [
                entry if type(entry[0]) is tuple or entry[0] in _ALREADY_PLAIN else self._plain(entry)
                for entry in taken
            ]
            self._name_objects()
            defined, self._definitions = self._definitions, []
            if told or defined or packed:
                piece = marshal.dumps(defined + told)
                _write_all(self._file, HEAD.pack(len(defined), len(piece), len(packed)) + piece, packed)

    def _take(self) -> tuple[list[tuple[Any, ...]], bytes]:
        if self.tape is not None:
            taken: tuple[list[tuple[Any, ...]], bytes] = self.tape.take()
            return taken
        count = len(self.entries)
        found = self.entries[:count]
        del self.entries[:count]
        self._passed += count
        return found, b""

    def finish(self) -> None:
        """The last flush; later events are lost."""
        atexit.unregister(self.finish)
        if os.getpid() == self._pid and self._file >= 0:
            self.stop_flusher()
            if self.end:
                self.append((SYNC, port.me(), 0, "end", self.end, None, monotonic()))
                self.end = ""
            self._is_ending = True
            self._name_things()
            self.flush()
            self._tell_last()
            self.flush()

    def _tell_last(self) -> None:
        """What watched variables hold now: it shows whether something changed them unseen."""
        words = {variable for _, _, _, variable, _ in self._site_numbers if variable}
        found = [
            (word, snapshot(value))
            for prefix, variables in globals_of_the_program()
            for name, value in list(variables.items())
            for word in {name, f"{prefix}{name}"} & words
        ]
        members = [
            (number, word, snapshot(value))
            for held, number in list(self._objects.values())
            for word in words
            for value in held_in(held(), word)
        ]
        if found or members:
            self._definitions.append((LAST, tuple(found), tuple(members)))

    def close(self) -> None:
        """The last flush, and the end of the file."""
        self.finish()
        os.close(self._file)
        self._file = -1

    # ---- forks ----------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Nothing of the parent may be written twice, and no thread of ours be seen."""
        self.stop_flusher()
        self.flush()

    def after_fork_in_parent(self) -> None:
        """Goes on with flushing."""
        self._start_flusher()

    def after_fork_in_child(self, name: str) -> None:
        """Begins a log of the child's own, which knows what the parent's knew."""
        parent = self.key
        os.close(self._file)
        self._take()
        self._passed = 0
        if self.tape is not None:
            self.tape.begin()
        if self.at_fork is not None:
            self.at_fork()
        self.end = ""
        self._flushing = _thread.RLock()
        self.name = name
        self._open(parent)
        self._tell_again()
        self._start_flusher()

    def _tell_again(self) -> None:
        """Sites and objects that the child knows from its parent."""
        for (file, line, label, variable, fn), number in self._site_numbers.items():
            self.append((SITE, number, f"{file}:{line}", label, variable, fn))
        for site in self.tape.left_out() if self.tape else self._plain_left_out():
            self.append((LEFT_OUT, site))
        off = {word for word, is_live in zip(self.unasked, self.live, strict=True) if not is_live}
        for site, (_, _, variable) in self.described.items() if off else ():
            if variable and variable.rpartition(".")[2] in off:
                self.append((LEFT_OUT, site))
        for held, number in list(self._objects.values()):
            self._definitions.append((OBJECT, number, _class_name(held())))
            self._nameless.add(id(held()))


def compiled() -> ModuleType | None:
    """The compiled twin of the methods that probes call, if it was built."""
    return built("possibly.recorder._tell")


def globals_of_the_program() -> Iterator[tuple[str, dict[str, Any]]]:
    """The variables of each module of the program, with what their names begin with."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name in _MAIN or (isinstance(file, str) and port.is_user_file(file)):
            yield "" if name in _MAIN else f"{name}.", vars(module)


_MAIN = ("__main__", "__mp_main__")


def _members(thing: Any) -> dict[str, Any]:
    """The attributes of an object itself: a proxy would be asked for those of another, and may have none."""
    for base in type(thing).__mro__:
        found = base.__dict__.get("__dict__")
        if type(found) is GetSetDescriptorType:
            members = found.__get__(thing)
            return members if isinstance(members, dict) else {}
    return {}


def _free_path(folder: str, pid: int) -> str:
    number = 0
    while os.path.exists(path := os.path.join(folder, f"{pid}-{number}{SUFFIX}")):
        number += 1
    return path


def _is_shown(file: str) -> bool:
    """Whether lines of the file mean something to the user: files, and cells of a notebook."""
    return not port.is_library(file) and (not file.startswith("<") or file.startswith("<ipython-input"))


def _class_name(thing: Any) -> str:
    return thing.__name__ if isinstance(thing, type) else type(thing).__name__


def _write_all(file: int, *parts: bytes) -> None:
    written = os.writev(file, parts)
    for part in parts:
        while written < len(part):
            written += os.write(file, memoryview(part)[written:])
        written -= len(part)


def shown_path(file: str) -> str:
    """Relative to where the program was started, if it lies below."""
    start = _START + os.sep
    return file.removeprefix(start)


_START = os.getcwd()
