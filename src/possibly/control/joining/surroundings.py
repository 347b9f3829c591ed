"""What a program can change around its own modules and ask for again: its threads, loggers and arguments.

Law: whatever `repeatable` lets a program change outside its own objects is told here, or it cannot be read.
A thread is told though no variable holds it, since it can ask for itself and for the main one; so is the
number of the next one, which is in its name. Loggers are told as a whole, wherever they are asked for by
name: a variable that holds one says the name alone (`values`).
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from possibly.control.joining.frames import Unreadable

if TYPE_CHECKING:
    from possibly.control.joining.values import Words

LOGGER = frozenset({"parent", "manager", "_cache", "handlers", "filters"})
"""Attributes of loggers that follow from others, or are told in words of their own."""
HANDLERS = frozenset({"NullHandler", "StreamHandler", "_StderrHandler"})
"""Those that keep nothing of what they were given."""
PYTEST = "_pytest.logging"
"""Its handlers are there in every test; they are told apart as long as they have caught nothing."""
HANDLER = ("_name", "level", "terminator")
FORMATTER = ("_fmt", "datefmt")


def say(words: Words) -> None:
    """Says all of it."""
    words.said.append(repr(threading._counter.__self__))  # type: ignore[attr-defined]
    words.all("arguments", sys.argv)
    active = threading._active  # type: ignore[attr-defined]
    words.all("active", sorted(active.values(), key=_place))
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
    if logger.filters:
        raise Unreadable("a filter of a logger")
    words.attributes([(name, each) for name, each in vars(logger).items() if name not in LOGGER])
    words.said.append(len(logger.handlers))
    for handler in logger.handlers:
        _say_handler(words, handler)


def _say_handler(words: Words, handler: Any) -> None:
    cls = type(handler)
    if cls.__module__ == PYTEST and not getattr(handler, "records", ()):
        words.said.append(cls.__name__)
        return
    if cls.__module__ != "logging" or cls.__name__ not in HANDLERS or handler.filters:
        raise Unreadable(f"the handler {cls.__qualname__}")
    words.said.append(cls.__name__)
    words.all("set", [getattr(handler, name, None) for name in HANDLER])
    formatter = handler.formatter
    if formatter is None:
        words.said.append("plain")
    elif type(formatter).__module__ == "logging" and type(formatter).__name__ == "Formatter":
        words.all("format", [getattr(formatter, name) for name in FORMATTER])
    else:
        raise Unreadable(f"the formatter {type(formatter).__qualname__}")
