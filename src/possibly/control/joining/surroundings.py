"""What a program can change around its own modules and ask for again: its threads, loggers and arguments.

Law: whatever `repeatable` lets a program change outside its own objects is told here, or it cannot be read.
A thread is told though no variable holds it, since it can ask for itself and for the main one; so is the
number of the next one, which is in its name. Loggers are told as a whole, wherever they are asked for by
name: a variable that holds one says the name alone (`values`).
"""

from __future__ import annotations

import io
import sys
import threading
from typing import TYPE_CHECKING, Any

from possibly.control.joining.frames import Unreadable

if TYPE_CHECKING:
    from possibly.control.joining.values import Words

LOGGER = frozenset({"parent", "manager", "_cache", "handlers", "filters"})
"""Attributes of loggers that follow from others, or are told in words of their own."""
HANDLERS = frozenset({"NullHandler", "StreamHandler", "_StderrHandler"})
"""Those that keep nothing of what they were given but in their stream."""
APART = frozenset({"lock", "formatter", "filters"})
"""Attributes of other handlers that are told in words of their own, or keep nothing that can be asked for."""
PYTEST = "_pytest.logging"
"""Its handlers keep in records what they write into a stream, too."""
CAPTURED = "_pytest.capture"
"""What stands there for the terminal."""
HANDLER = ("_name", "level", "terminator")
FORMATTER = ("_fmt", "datefmt")


def say(words: Words) -> None:
    """Says all of it."""
    words.said.append(repr(threading._counter.__self__))  # type: ignore[attr-defined]
    words.all("arguments", sys.argv)
    active = threading._active  # type: ignore[attr-defined]
    words.all("active", sorted(active.values(), key=_place))
    say_loggers(words)


def say_loggers(words: Words) -> None:
    logging = sys.modules.get("logging")
    if logging is not None:
        _say_logging(words, logging)


def _place(thread: Any) -> tuple[int, ...]:
    """Threads in the order of their tasks."""
    task = vars(thread).get("_possibly_task")
    return () if task is None else task.ancestry


def _say_logging(words: Words, logging: Any) -> None:
    manager = logging.Logger.manager
    words.said += ("logging", manager.disable, logging.raiseExceptions, len(manager.loggerDict))
    for name, logger in (("", logging.root), *manager.loggerDict.items()):
        words.said.append(name)
        if isinstance(logger, logging.Logger):
            _say_logger(words, logger)


def _say_logger(words: Words, logger: Any) -> None:
    _say_filters(words, logger.filters)
    words.attributes([(name, each) for name, each in vars(logger).items() if name not in LOGGER])
    words.said.append(len(logger.handlers))
    for handler in logger.handlers:
        _say_handler(words, handler)


def _say_filters(words: Words, filters: list[Any]) -> None:
    words.said.append(len(filters))
    for each in filters:
        words.said.append(type(each).__module__)
        _say_attributes(words, each, frozenset())


def _say_attributes(words: Words, each: Any, apart: frozenset[str]) -> None:
    """What an object of a class in Python keeps is among its attributes; one in C may hide more."""
    cls = type(each)
    if cls.__basicsize__ != _Plain.__basicsize__ or not hasattr(each, "__dict__"):
        raise Unreadable(f"what {cls.__qualname__} keeps")
    words.said.append(cls.__qualname__)
    words.attributes([(name, value) for name, value in vars(each).items() if name not in apart])


class _Plain:
    """An object that keeps nothing but attributes."""


def _say_stream(words: Words, stream: Any) -> None:
    """What was written somewhere else than to the terminal can be read there again."""
    terminals = (None, sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    is_terminal = any(stream is each for each in terminals) or type(stream).__module__ == CAPTURED
    if type(stream) is io.StringIO and not stream.closed:
        words.said += ("text", stream.getvalue(), stream.tell())
    elif not is_terminal:
        words.all("stream", [stream])


def _say_handler(words: Words, handler: Any) -> None:
    cls = type(handler)
    words.said.append(cls.__name__)
    _say_filters(words, handler.filters)
    if cls.__module__ == "logging" and cls.__name__ in HANDLERS:
        words.all("set", [getattr(handler, name, None) for name in HANDLER])
        _say_stream(words, vars(handler).get("stream"))
    else:  # what it has caught is among its attributes
        _say_attributes(words, handler, APART | {"stream"} if cls.__module__ == PYTEST else APART)
    formatter = handler.formatter
    if formatter is None:
        words.said.append("plain")
    elif type(formatter).__module__ == "logging" and type(formatter).__name__ == "Formatter":
        words.all("format", [getattr(formatter, name) for name in FORMATTER])
    elif cls.__module__ != PYTEST:
        raise Unreadable(f"the formatter {type(formatter).__qualname__}")
