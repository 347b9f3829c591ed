"""Source places: which line of the user's own code is at work."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType
from typing import Any

from possibly.probes import port

known: dict[str, str] = {}
"""File -> how it is shown; empty for a file that is not the user's."""
_folder = ""
boundary: CodeType | None = None
"""The function of ours that calls the program: what lies outside is not the program's."""


tells_frameworks = False
"""Where code of an installed package is at work for the user's, that is the place."""
_libraries: dict[str, bool] = {}
"""File -> whether it is of a library."""
_frameworks: dict[str, str] = {}
"""File -> how it is shown if it is of an installed package."""


def shown(file: str) -> str:
    """The file as users write it, relative to where they are; empty for code that is not theirs."""
    found = known.get(file)
    if found is None:
        found = known[file] = _shown(file)
    return found


def of_library(file: str) -> str:
    """A file of a library as one would look for it there; empty for one of ours, or of nobody."""
    if file.startswith(("<", port._OWN)):
        return ""
    for mark in ("/site-packages/", "/dist-packages/", "/lib/python3"):
        if mark in file:
            return file.rpartition(mark)[2].partition("/")[2] if mark[1] == "l" else file.rpartition(mark)[2]
    return ""


def _of_framework(file: str) -> str:
    found = _frameworks.get(file)
    if found is None:
        is_installed = "/site-packages/" in file or "/dist-packages/" in file
        found = _frameworks[file] = of_library(file) if is_installed else ""
    return found


def _shown(file: str) -> str:
    if file.startswith("<") or not port.is_user_file(file):
        return ""
    if library := of_library(file):
        return library
    folder = _folder or os.getcwd()
    return file[len(folder) + 1 :] if file.startswith(folder + "/") else file


def is_instrumented(code: CodeType) -> bool:
    """Whether the code tells of what it touches: a site stands last among its constants."""
    return any(getattr(type(each), "possibly_site", False) for each in code.co_consts[-1:])


def variables_of(frame: Any) -> dict[str, Any]:
    """The variables of a function at work, which nobody keeps because they were looked at.

    Older interpreters keep what they show with the frame until somebody looks again: objects would end later.
    It is left there where the program may have it, or whoever follows the frame.
    """
    shown_by_frame: Any = frame.f_locals
    found = dict(shown_by_frame)
    is_optimized = bool(frame.f_code.co_flags & 1)  # else this is where they are
    if (
        is_optimized
        and type(shown_by_frame) is dict
        and frame.f_trace is None
        and NAMING.isdisjoint(frame.f_code.co_names)
    ):
        shown_by_frame.clear()
    return found


NAMING = frozenset({"locals", "vars", "dir", "eval", "exec", "f_locals"})
"""What a function names that looks at its own variables."""


def caller() -> FrameType:
    """The innermost frame that is not ours."""
    frame = _not_ours()
    assert frame is not None
    return frame


def _not_ours() -> FrameType | None:
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(port._OWN):
        frame = frame.f_back
    return frame


def callers(is_at_site: bool) -> dict[int, CodeType]:
    """The frames that wait for another, by number: all that are not ours.

    The innermost is left out where it shows what it is about to do, and waits for nothing. There are none
    where a task ends: in a greenlet what begins it is ours.
    """
    frame = _not_ours()
    if is_at_site and frame is not None:
        frame = frame.f_back
    found: dict[int, CodeType] = {}
    while frame is not None and frame.f_code is not boundary:
        found[id(frame)] = frame.f_code
        frame = frame.f_back
    return found


def forget(file: str) -> None:
    """How the file is shown is asked anew."""
    known.pop(file, None)


def users_line(frame: FrameType | None) -> str:
    """The line of the user's own code that called the library at work; empty where theirs is at work."""
    is_inside = False
    while frame is not None and (code := frame.f_code) is not boundary:
        if name := shown(code.co_filename):
            if not _is_of_library(code.co_filename):
                return f"{name}:{frame.f_lineno}" if is_inside else ""
            is_inside = True
        frame = frame.f_back
    return ""


def _is_of_library(file: str) -> bool:
    found = _libraries.get(file)
    if found is None:
        found = _libraries[file] = bool(of_library(file))
    return found


def place_of(frame: FrameType | None) -> str:
    """The innermost place in the user's code, or in that of a framework if these are told."""
    while frame is not None and (code := frame.f_code) is not boundary:
        name = known.get(code.co_filename)
        if name is None:
            name = shown(code.co_filename)
        if not name and tells_frameworks:
            name = _of_framework(code.co_filename)
        if name:
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
