"""The variables of a process at a breakpoint, as plain data.

A variable is a local of one of the user's functions that are being executed, the innermost first; one whose
function has returned keeps its last value, so that the end of a process can be seen too; or a global of the
user's modules in which those functions stand. Functions, classes, modules and private names are left out.
"""

from __future__ import annotations

import linecache
import os
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from possibly.control.macro.model import Seen
from possibly.probes import port
from possibly.recorder.snapshot import snapshot
from possibly.trace.place import place_in

_LEFT_OUT = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)


def is_user(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return not file.startswith("<") and port.is_user_file(file)


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's own code, from this one outwards."""
    while frame is not None and not is_user(frame):
        frame = frame.f_back
    return frame


def user_frames(frame: FrameType | None) -> list[FrameType]:
    """All frames of the user's code, the innermost first."""
    found = []
    frame = user_frame(frame)
    while frame is not None:
        found.append(frame)
        frame = user_frame(frame.f_back)
    return found


def place(frame: FrameType | None) -> str:
    if frame is None:
        return ""
    return f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"


def shown(file: str) -> str:
    here = os.path.relpath(file)
    return file if here.startswith("..") else here


Spaces = dict[str, dict[str, Any]]
"""The globals of the user's modules in which a process was, by the name of the module."""


def seen(
    frame: FrameType | None,
    kept: dict[str, Any],
    spaces: Spaces,
    at: str,
    ended: bool = False,
    frames: list[FrameType] | None = None,
) -> Seen:
    """The process as it is; `at` is the place of its operation. New modules are noted in `spaces`."""
    frames = user_frames(frame) if frames is None else frames
    variables = dict(kept)
    for each in reversed(frames):
        spaces[each.f_globals.get("__name__", "")] = each.f_globals
        if each.f_locals is not each.f_globals:
            variables.update(plain(each.f_locals))
    own_globals: dict[str, Any] = {}
    for space in spaces.values():
        own_globals.update(plain(space))
    function = frames[0].f_code.co_name if frames else ""
    return Seen(at, label_of(at), function, variables, own_globals, ended)


def plain(variables: dict[str, Any]) -> dict[str, Any]:
    return {
        name: snapshot(value)
        for name, value in list(variables.items())
        if not name.startswith("_") and not isinstance(value, _LEFT_OUT)
    }


def label_of(at: str) -> str:
    """The label `#: m2` at the end of a line."""
    file, line = place_in(at)
    text = linecache.getline(file, line) if line else ""
    _, mark, label = text.rpartition("#:")
    return label.strip() if mark else ""
