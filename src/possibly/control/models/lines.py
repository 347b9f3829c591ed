"""A line of a log is one step, where the standard library alone makes it.

`Logger._log` finds the caller, makes a record, formats it and writes it to the streams of all handlers, some
five hundred touches of objects that no other task ever sees. Whatever of it others may see is told at its
beginning, as one step: the set-up that it reads, and the streams that it writes.

Law: who is beside it cannot tell the difference. So the logger, its handlers and formatters are exactly those
of the standard library, or those by which pytest keeps what a test logs, with nothing of the program's in
them or in their classes, and so are the words of the line: then no code of the program runs in the middle.
And nobody changes the set-up meanwhile: as soon as anything of it races, it is visible, and the line is made
of as many steps as it has.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterable, Iterator
from inspect import ismodule
from operator import is_
from types import FunctionType, ModuleType
from typing import Any

from possibly.control.naming import is_of_a_type
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.items import DEEPEST, parts_of
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.places import place_of
from possibly.control.runtime.touched.members import attribute_part
from possibly.control.runtime.touched.parts import Part, touch_all
from possibly.probes.patching import Patches

Now = tuple[Kernel, Memory]
PLAIN = frozenset({str, int, float, bool, bytes, type(None)})
"""Words of a line that run no code of the program's."""
OF_LOGGER = ("level", "handlers", "propagate", "disabled", "filters", "parent", "name")
OF_HANDLER = ("level", "filters", "formatter", "stream", "terminator")
OF_FORMATTER = ("_fmt", "_style", "datefmt", "converter")


def install(patches: Patches) -> None:
    import logging

    made = _Lines(logging)
    plain: Any = logging.Logger._log

    def _log(
        self: Any,
        level: Any,
        msg: Any,
        args: Any,
        exc_info: Any = None,
        extra: Any = None,
        stack_info: Any = False,
        stacklevel: Any = 1,
    ) -> None:
        now = accesses.active()
        above = stacklevel + 1 if type(stacklevel) is int else stacklevel  # this function is one more
        told = (self, level, msg, args, exc_info, extra, stack_info, above)
        if now is None or now[0].alone or now[0].quiet or now[0].ending or now[0].current.looks:
            plain(*told)
            return
        at = place_of(sys._getframe(1))
        parts = made.parts(now, told, at)
        if parts is None:
            plain(*told)
            return
        touch_all(now, parts, at)
        _make_at_once(plain, now[0].current, told)

    _log.__code__ = _log.__code__.replace(co_filename=HANDED_ON)
    patches.put(logging.Logger, "_log", _log)
    made.remember()


HANDED_ON = "<a line of a log>"
"""What `logging` does beyond here is done for the program, whose call this hands on: it is not possibly that
calls the package (`loading.entries`)."""


def _make_at_once(plain: Any, task: Task, told: tuple[Any, ...]) -> None:
    """The line as one step; this function is one more above the caller."""
    *rest, above = told
    task.looks = True
    try:
        plain(*rest, above + 1)
    finally:
        task.looks = False


def _filters(own: dict[str, Any], now: Now, at: str) -> list[Part]:
    """The list of filters of a logger or a handler.

    One that was made before the program is not told from other lists: pytest's handlers keep lines in one.
    """
    return [part for part in parts_of(own["filters"], now, at, DEEPEST) if not is_of_a_type(part.thing)]


class _Lines:
    """Knows which lines are the standard library's alone."""

    def __init__(self, logging: ModuleType) -> None:
        self._logging: Any = logging
        self._loggers = frozenset({self._logging.Logger, self._logging.RootLogger})
        kinds = "StreamHandler FileHandler _StderrHandler NullHandler".split()
        self._handlers = frozenset(getattr(logging, name) for name in kinds)
        self._styles = frozenset(each[0] for each in self._logging._STYLES.values())
        self._formatters = frozenset({self._logging.Formatter})
        self._classes: list[tuple[Any, tuple[Any, ...]]] = []
        """What each class was made of: a program may put something else there."""
        self._used: dict[str, Any] = {}
        """Functions, classes and modules that the module uses."""
        self._methods: frozenset[str] = frozenset()

    def remember(self) -> None:
        """What `logging` is made of, now that all models are in place."""
        kept = self._of_pytest()
        space = vars(self._logging)
        self._used = {name: each for name, each in space.items() if callable(each) or ismodule(each)}
        classes = [vars(each) for each in (*self._used.values(), *kept) if isinstance(each, type)]
        self._classes = [(each, tuple(each.values())) for each in classes]
        called = [name for each in classes for name, value in each.items() if isinstance(value, FunctionType)]
        self._methods = frozenset({*called, "converter"})  # the one attribute that is called

    def _of_pytest(self) -> list[type]:
        """Classes of the handlers, formatters and styles that pytest adds for every test."""
        module = vars(sys.modules[PYTEST]) if PYTEST in sys.modules else {}
        found = [[module[name] for name in names if name in module] for names in OF_PYTEST]
        self._handlers |= frozenset(found[0])
        self._formatters |= frozenset(found[1])
        self._styles |= frozenset(found[2])
        return [each for kinds in found for each in kinds]

    def _is_as_it_was(self) -> bool:
        space = vars(self._logging)
        return all(map(is_, map(space.get, self._used), self._used.values())) and all(
            len(each) == len(values) and all(map(is_, each.values(), values))
            for each, values in self._classes
        )

    def parts(self, now: Now, told: tuple[Any, ...], at: str) -> list[Part] | None:
        """What a line touches; None: it is not the standard library's alone, or its set-up changes."""
        logger, level, message, words, *rest = told
        if type(level) is not int or type(message) is not str or rest[:3] != [None, None, False]:
            return None
        if type(rest[3]) is not int:
            return None
        if type(words) is not tuple or any(type(word) not in PLAIN for word in words):
            return None
        if not self._is_as_it_was():
            return None
        read: list[Part] = []
        streams = self._gather(now, logger, at, read)
        if streams is None or any(now[1]._is_visible(now[0], part.family, part.thing) for part in read):
            return None
        for stream in streams:
            read += parts_of(stream, now, at, DEEPEST, True)
        return read

    def _gather(self, now: Now, logger: Any, at: str, read: list[Part]) -> list[Any] | None:
        """The streams of all handlers that a line may come to; into `read` goes what is asked on the way."""
        logging = self._logging
        streams: list[Any] = []
        is_handled = False
        read += parts_of(logging._levelToName, now, at, DEEPEST)
        read += _attributes(threading.current_thread(), ("name",), at)
        while logger is not None:
            own = vars(logger)
            if type(logger) not in self._loggers or own["filters"] or not self._methods.isdisjoint(own):
                return None
            read += _attributes(logger, OF_LOGGER, at)
            read += parts_of(own["handlers"], now, at, DEEPEST) + _filters(own, now, at)
            for handler in own["handlers"]:
                is_handled = True
                if not self._is_read(handler, now, at, streams, read):
                    return None
            logger = own["parent"] if own["propagate"] else None
        if not is_handled and logging.lastResort is not None:
            return streams if self._is_read(logging.lastResort, now, at, streams, read) else None
        return streams

    def _is_read(self, handler: Any, now: Now, at: str, streams: list[Any], read: list[Part]) -> bool:
        """Whether a handler is the standard library's; then what it asks and writes is told."""
        own = vars(handler)
        if type(handler) not in self._handlers or own["filters"] or not self._methods.isdisjoint(own):
            return False
        read += _attributes(handler, OF_HANDLER, at)
        read += _filters(own, now, at)
        formatter = own["formatter"]
        if formatter is not None:
            if not self._is_plain(formatter):
                return False
            read += _attributes(formatter, OF_FORMATTER, at)
        stream = getattr(handler, "stream", None)
        if stream is None:
            return isinstance(handler, self._logging.NullHandler)  # others open theirs with the first line
        if type(stream) not in STREAMS and stream is not sys.stdout and stream is not sys.stderr:
            return False
        streams.append(stream)
        streams += [own[KEPT]] if KEPT in own else []
        return True

    def _is_plain(self, formatter: Any) -> bool:
        own = vars(formatter)
        if type(formatter) not in self._formatters or not self._methods.isdisjoint(own):
            return False
        return type(own["_style"]) in self._styles and not getattr(own["_style"], "_defaults", None)


PYTEST = "_pytest.logging"
OF_PYTEST = (
    ("LogCaptureHandler", "_LiveLoggingNullHandler", "_FileHandler"),
    ("DatetimeFormatter", "ColoredLevelFormatter"),
    ("PercentStyleMultiline",),
)
"""Its handlers, formatters and styles."""
KEPT = "records"
"""Where a handler of pytest keeps the records."""
STREAMS = frozenset({io.StringIO, io.TextIOWrapper})


def _attributes(value: Any, names: Iterable[str], at: str) -> Iterator[Part]:
    for name in names:
        part = attribute_part(value, name, False, at)
        if part is not None:
            yield part
