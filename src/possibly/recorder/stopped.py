"""Where the tasks of this process are, and what their variables are, while one of our calls holds them up."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from possibly.errors import PossiblyError
from possibly.probes import port
from possibly.recorder.log import shown_path
from possibly.records import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """A thread, or a task of an event loop, with its frames in the program, the innermost first."""

    number: int | None
    """That of its process in the log; None for a task of an event loop."""
    name: str
    frames: list[FrameType]

    @property
    def places(self) -> list[str]:
        return [_place_text(each) for each in self.frames]

    @property
    def key(self) -> int | str:
        return self.name if self.number is None else self.number


class Stopped:
    """The tasks of this process as they stand."""

    def __init__(self) -> None:
        self.tasks = list(_tasks())

    def value(self, text: str, task: int | str | None) -> str:
        """`x = 5`, or what is wrong with the question."""
        frames = next((each.frames for each in self.tasks if each.key == task), [])
        try:
            return f"{text} = {looked_up(text, frames)!r}"
        except PossiblyError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - the program's own code runs in a property
            return f"{text}: {type(error).__name__}: {error}"


def _tasks() -> Iterator[Task]:
    threads, _ = port.process_tables()
    for thread, frame in sys._current_frames().items():
        stack = list(_stack(frame))
        loop = next((f.f_locals.get("self") for f in stack if f.f_code.co_name == "run_forever"), None)
        if loop is not None:
            yield from _of_loop(loop)
        if thread in threads:
            number = threads[thread]
            yield Task(number, f"process-{number}", [each for each in stack if _is_program(each)])


def _of_loop(loop: Any) -> Iterator[Task]:
    import asyncio

    for task in sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name()):
        stack: list[FrameType] = []
        inner: Any = task.get_coro()
        while inner is not None and getattr(inner, "cr_frame", None) is not None:
            stack.insert(0, inner.cr_frame)
            inner = inner.cr_await
        yield Task(None, task.get_name(), [each for each in stack if _is_program(each)])


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_program(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return not file.startswith("<frozen") and port.is_user_file(file)


def _place_text(frame: FrameType) -> str:
    file, line = frame.f_code.co_filename, frame.f_lineno
    quoted = linecache.getline(file, line).strip()
    return f"{shown_path(file)}:{line} in {frame.f_code.co_name}    {quoted}"


_PART = re.compile(r"\.([^\W\d]\w*)|\[(-?\d+)\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")


def looked_up(text: str, stack: list[FrameType]) -> object:
    """`x`, `self.items[0]`, `table["a"]` as the innermost function of the task sees it; nothing is called."""
    first = re.match(r"[^\W\d]\w*", text)
    if first is None:
        raise PossiblyError("print takes a variable, its attributes and items: print self.items[0]")
    value = _variable(first.group(), stack)
    at = first.end()
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            raise PossiblyError(f"{text[at:]!r} is neither an attribute nor an item")
        attribute, number, *names = part.groups()
        if attribute is not None:
            value = getattr(value, attribute)
        else:
            key: Any = int(number) if number is not None else names[0] or names[1] or ""
            value = value[key]  # type: ignore[index]
        at = part.end()
    return value


def _variable(name: str, stack: list[FrameType]) -> object:
    for frame in stack:
        if name in frame.f_locals:
            return frame.f_locals[name]
    for frame in stack[:1]:
        if name in frame.f_globals:
            return frame.f_globals[name]
    raise PossiblyError(f"no variable is called {name} there; task TASK looks from another place")
