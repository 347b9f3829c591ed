"""What tasks share without synchronisation, written down as it happens: shadow memory connected with the log.

Sites stand before the instructions of the program's own modules. Of each two accesses that conflict and are
not ordered both go into the log; the earlier one is told when the later one comes, with the number of entries
that the log had when it happened, and is put in its place when the logs are merged.
"""

from __future__ import annotations

import sys
from _thread import _local
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

from possibly.compiled import built
from possibly.probes import port
from possibly.probes.instructions.insert import Wanted, instrumented
from possibly.probes.patching import Patches
from possibly.probes.watching.watch import Watch
from possibly.recorder.entries import (
    ITEM_READ,
    ITEM_WRITE,
    MEMBER_READ,
    MEMBER_WRITE,
    READ,
    SHARED,
    WRITE,
)
from possibly.recorder.log import Log, shown_path
from possibly.recorder.sharing.shadow import ANY_ITEM, EXTENT, ONLY_READS, WHOLE
from possibly.recorder.snapshot import key_text, snapshot

GENERATED = "<string>"
"""The file of code that was made of a text."""
_WORDS = {EXTENT: "[]", WHOLE: "*", ANY_ITEM: "..."}


def kernel() -> ModuleType | None:
    """The compiled twin of shadow memory and its sites, if it was built."""
    return built("possibly.recorder.sharing._shadow")


class Sharing:
    """The shadow memory of one log."""

    def __init__(self, log: Log, watch: Watch, compiled: ModuleType | None) -> None:
        self._log = log
        self._watch = watch
        log.as_entries = self.as_entries
        log.at_fork = self.forget_all
        self._cells: set[int] = set()
        """Numbers of the cells of variables that functions share."""
        self._functions: dict[str, int] = {}
        self._places: list[tuple[str, int]] = []
        """Of each site: its file and line."""
        self.memory = self._compiled_memory(compiled) if compiled and log.tape else self._plain_memory()

    def _plain_memory(self) -> Any:
        from possibly.recorder.sharing.clocks import Clocks
        from possibly.recorder.sharing.shadow import Shadow, Touch
        from possibly.recorder.sharing.sites import Memory

        clocks = Clocks()
        self._log.told = clocks.told

        def conflict(earlier: list[Touch], touch: Touch, thing: Any, key: Any) -> None:
            before = tuple(each[:5] for each in earlier)
            self._log.append((SHARED, thing, key, self.memory.value, touch[:5], before))

        return Memory(Shadow(clocks, conflict), self._log.sequence, self._log.entries)

    def _compiled_memory(self, compiled: Any) -> Any:
        from possibly.recorder.sharing.actions import table
        from possibly.recorder.sharing.sites import Quiet

        tables = port.process_tables()
        memory = compiled.Memory(
            self._log.entries, self._log.tape.counter(), table(), tables[0], port.me, _local,
            (EXTENT, WHOLE, ANY_ITEM), Quiet,
        )  # fmt: skip
        self._log.tape.follow(memory.listener())
        return memory

    # ---- sites ----------------------------------------------------------------------------------

    def wanted(self, file: str) -> Wanted:
        """What the code of a module is to tell."""
        return Wanted(self._maker(shown_path(file)))

    def install(self, patches: Patches) -> None:
        """Methods that the standard library makes of texts for classes of the program have sites too."""
        patches.when_imported("dataclasses", self._follow_dataclasses)

    def _follow_dataclasses(self, patches: Patches) -> None:
        library: Any = sys.modules["dataclasses"]
        make_class = library._process_class

        def _process_class(cls: Any, *options: Any) -> Any:
            made = make_class(cls, *options)
            self._instrument_generated(made, sys._getframe(1))
            return made

        patches.put(library, "_process_class", _process_class)

    def _instrument_generated(self, made: type, frame: Any) -> None:
        """All of what was made of texts stands at the line of the program which asked for it."""
        while frame.f_back is not None and frame.f_globals.get("__name__") == "dataclasses":
            frame = frame.f_back
        file = frame.f_code.co_filename
        if not port.is_user_file(file):
            return
        wanted = Wanted(self._maker(shown_path(file), frame.f_lineno))
        for method in vars(made).values():
            each = getattr(method, "__wrapped__", method)  # by what keeps a text from naming itself
            if type(each) is FunctionType and each.__code__.co_filename == GENERATED:
                each.__code__ = instrumented(each.__code__, wanted, True)

    def _maker(self, file: str, only_line: int = 0) -> Callable[[Any, str, int, Any], object]:
        """`only_line`: where all of it stands."""
        watch, site = self._watch, self.memory.site

        def make(kind: Any, name: str, line: int, more: Any) -> object:
            self._places.append((file, only_line or line))
            is_told_anyway = name in watch.members or name.rpartition(".")[2] in watch.names
            number = 0 if is_told_anyway or name.startswith("_possibly") else len(self._places)
            return site(int(kind), name, number, more if type(more) is int else 0)

        return make

    # ---- conflicts ------------------------------------------------------------------------------

    def as_entries(self, told: tuple[Any, ...]) -> tuple[Any, ...]:
        """The entries of (SHARED, object, key, value, access, earlier accesses).

        An access is a tuple as `shadow.Touch` is: process, time, site, sequence, how.
        """
        _, thing, key, value, touch, before = told
        earlier = [(each[3], each[4], self._entry(each, thing, key, None)) for each in before]
        return earlier, touch[4], self._entry(touch, thing, key, value)

    def _entry(self, touch: Any, thing: Any, key: Any, value: Any) -> tuple[Any, ...]:
        process, _, number, _, how = touch[:5]
        file, line = self._places[number - 1]
        reads = how in ONLY_READS
        if type(key) is tuple:
            head = (
                process,
                self._log.defined_site(file, line, None),
                thing,
                _WORDS.get(key) or key_text(key[0], self._log.object_number),
            )
            return (ITEM_READ, *head) if reads else (ITEM_WRITE, *head, value)
        if type(thing) is dict:
            module = thing.get("__name__", "")
            variable = key if module in ("__main__", "__mp_main__") else f"{module}.{key}"
            site = self._log.defined_site(file, line, variable)
            return (READ, process, site) if reads else (WRITE, process, site, snapshot(value))
        if type(thing) is CellType:
            key = self._named_cell(thing, key)
        owned = (process, self._log.defined_site(file, line, key), thing)
        return (MEMBER_READ, *owned) if reads else (MEMBER_WRITE, *owned, value)

    def _named_cell(self, cell: CellType, variable: str) -> str:
        """The bare name of a variable of a function; its cell is called by the function, and numbered."""
        function, _, name = variable.rpartition(".")
        number = self._log.object_number(cell)
        if number not in self._cells:
            self._cells.add(number)
            count = self._functions[function] = self._functions.get(function, 0) + 1
            self._log.name_object(number, function if count == 1 else f"{function}#{count}")
        return name

    def forget_all(self) -> None:
        """In the child of a fork: what the parent did was done before."""
        self.memory.forget_all()
