"""A line of a log is one step, where the standard library alone makes it.

`Logger._log` finds the caller, makes a record, formats it and writes it to the streams of all handlers, some
five hundred touches of objects that no other task ever sees. Whatever of it others may see is told at its
beginning, as one step: the set-up that it reads, and the streams that it writes.

Law: who is beside it cannot tell the difference. So the logger, its handlers and formatters are exactly those
of the standard library, with nothing of the program's in them, and so are the words of the line: then no code
of the program runs in the middle. And nobody changes the set-up meanwhile: as soon as anything of it races,
it is visible, and the line is made of as many steps as it has.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from possibly.control.runtime import memory as accesses
from possibly.control.runtime.items import DEEPEST, parts_of
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.places import place_of
from possibly.control.runtime.touched.members import attribute_part
from possibly.control.runtime.touched.parts import Part, touch_all
from possibly.probes.patching import Patches

Now = tuple[Kernel, Memory]
PLAIN = frozenset({str, int, float, bool, bytes, type(None)})
"""Words of a line that run no code of the program's."""
METHODS = {
    "Logger": "_log findCaller makeRecord handle callHandlers filter getEffectiveLevel",
    "Handler": "handle filter acquire release format createLock handleError",
    "StreamHandler": "emit flush handle filter acquire release format handleError",
    "FileHandler": "emit flush handle filter acquire release format handleError",
    "Formatter": "format formatTime usesTime formatMessage formatException formatStack",
    "LogRecord": "__init__ getMessage",
}
"""What makes a line; a program may put something else in its place."""
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
        task = now[0].current
        task.looks = True
        try:
            plain(*told)
        finally:
            task.looks = False

    patches.put(logging.Logger, "_log", _log)
    made.remember()


class _Lines:
    """Knows which lines are the standard library's alone."""

    def __init__(self, logging: ModuleType) -> None:
        self._logging: Any = logging
        self._methods: list[tuple[dict[str, Any], str, Any]] = []
        self._loggers = frozenset({self._logging.Logger, self._logging.RootLogger})
        kinds = "StreamHandler FileHandler _StderrHandler NullHandler".split()
        self._handlers = frozenset(getattr(logging, name) for name in kinds)
        self._styles = frozenset(each[0] for each in self._logging._STYLES.values())

    def remember(self) -> None:
        """What the methods are, now that all models are in place."""
        for name, methods in METHODS.items():
            space: Any = vars(getattr(self._logging, name))
            self._methods += [(space, method, space.get(method)) for method in methods.split()]

    def parts(self, now: Now, told: tuple[Any, ...], at: str) -> list[Part] | None:
        """What a line touches; None: it is not the standard library's alone, or its set-up changes."""
        logger, level, message, words, *rest = told
        if type(level) is not int or type(message) is not str or rest[:3] != [None, None, False]:
            return None
        if type(words) is not tuple or any(type(word) not in PLAIN for word in words):
            return None
        if any(space.get(name) is not method for space, name, method in self._methods):
            return None
        if self._logging._logRecordFactory is not self._logging.LogRecord:
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
            if type(logger) not in self._loggers or own["filters"] or not METHOD_NAMES.isdisjoint(own):
                return None
            read += _attributes(logger, OF_LOGGER, at)
            read += parts_of(own["handlers"], now, at, DEEPEST)
            for handler in own["handlers"]:
                is_handled = True
                if not self._is_read(handler, at, streams, read):
                    return None
            logger = own["parent"] if own["propagate"] else None
        if not is_handled and logging.lastResort is not None:
            return streams if self._is_read(logging.lastResort, at, streams, read) else None
        return streams

    def _is_read(self, handler: Any, at: str, streams: list[Any], read: list[Part]) -> bool:
        """Whether a handler is the standard library's; then what it asks and writes is told."""
        own = vars(handler)
        if type(handler) not in self._handlers or own["filters"] or not METHOD_NAMES.isdisjoint(own):
            return False
        read += _attributes(handler, OF_HANDLER, at)
        formatter = own["formatter"]
        if formatter is not None:
            if type(formatter) is not self._logging.Formatter or not METHOD_NAMES.isdisjoint(vars(formatter)):
                return False
            if type(formatter._style) not in self._styles or formatter._style._defaults:
                return False
            read += _attributes(formatter, OF_FORMATTER, at)
        stream = getattr(handler, "stream", None)
        if stream is None:
            return type(handler) is self._logging.NullHandler  # others open theirs with the first line
        if type(stream) not in STREAMS and stream is not sys.stdout and stream is not sys.stderr:
            return False
        streams.append(stream)
        return True


STREAMS = frozenset({io.StringIO, io.TextIOWrapper})
METHOD_NAMES = frozenset(name for names in METHODS.values() for name in names.split())


def _attributes(value: Any, names: Iterable[str], at: str) -> Iterator[Part]:
    for name in names:
        part = attribute_part(value, name, False, at)
        if part is not None:
            yield part
