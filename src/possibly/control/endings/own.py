"""Errors of possibly itself that come out in the program: they are never told as the program's own.

Models raise on purpose what the standard library would, and ask the program's objects on its behalf; so not
every exception that comes from a file of ours is a mistake of ours. It is one if what went wrong can only be
about our own data: an assertion or a name of ours, an attribute that an object of ours or None lacks, a key
that a table of ours lacks, a call of a function of ours that does not fit it, None where something of ours
should be. Compiled modules only look at what the program is about to do, so whatever goes wrong there is
ours, unless it comes from a function that they were given. An exception that the program raised because of
such a one counts as well; not one that it raised while we had caught such a one ourselves, as whoever looks
into a table may.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import re
from collections.abc import Iterable, Iterator
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

from possibly.errors import PossiblyError
from possibly.probes import port

INTERNAL = "internal"
"""The kind of a failure that is an error of possibly itself."""
WHAT = "an error of possibly itself"
REMEDY = "please report it with the program; --trust PACKAGE goes round what happens inside a package"
_ALWAYS = (AssertionError, NameError)
_ABOUT_DATA = (TypeError, LookupError, AttributeError, ValueError)


def is_broken(noted: Iterable[str]) -> bool:
    """Whether what was noted of an execution has an error of ours."""
    return any(what.startswith(WHAT) for what in noted)


def error_of_ours(error: BaseException) -> str | None:
    """What went wrong and where, if it is ours; also where the program made another exception of it."""
    for each in _chain(error):
        if each is not error and _is_caught_by_us(each):
            continue
        trace = _innermost(each.__traceback__)
        if trace is not None and _is_ours(each, trace):
            place = f"{own_file(trace.tb_frame).removeprefix(port._OWN)}:{trace.tb_lineno}"
            return f"{WHAT}: {type(each).__name__}: {each} ({place})"
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that it was raised because of, or inside a group."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        inner = each.exceptions if isinstance(each, BaseExceptionGroup) else ()
        waiting += [found for found in (each.__cause__, each.__context__, *inner) if found is not None]


def _is_caught_by_us(error: BaseException) -> bool:
    """A traceback begins where the exception was caught."""
    trace = error.__traceback__
    return trace is not None and bool(own_file(trace.tb_frame))


def _innermost(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _is_ours(error: BaseException, trace: TracebackType) -> bool:
    file = own_file(trace.tb_frame)
    if not file or isinstance(error, PossiblyError):
        return False
    line = linecache.getline(file, trace.tb_lineno).strip()
    if line.startswith("raise"):
        return False
    if isinstance(error, _ALWAYS):
        return True
    if _is_compiled(trace.tb_frame):
        return isinstance(error, _ABOUT_DATA) and not _calls_what_it_was_given(line, trace.tb_frame)
    if isinstance(error, AttributeError):
        return error.obj is None or _belongs_to_us(error.obj)
    if isinstance(error, TypeError):
        return _misfits(str(error), line, trace.tb_frame) or _finds_nothing(str(error), line, trace.tb_frame)
    return isinstance(error, LookupError) and _looks_into_ours(line, trace.tb_frame)


def own_file(frame: FrameType) -> str:
    """The file of ours that the frame is in, or nothing; a compiled module has it relative to its build."""
    file = frame.f_code.co_filename
    if file.startswith(port._OWN):
        return file
    return port._OWN + file.removeprefix(BUILT_FROM) if _is_compiled(frame) else ""


BUILT_FROM = "src/possibly/"


def _is_compiled(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__")
    is_ours = isinstance(name, str) and name.startswith("possibly.")
    return is_ours and frame.f_code.co_filename.startswith(BUILT_FROM)


def _calls_what_it_was_given(line: str, frame: FrameType) -> bool:
    """Whether the line calls a variable, which may be the program's; so may be what cannot be read alone."""
    calls = _calls(line)
    known = {**vars(builtins), **frame.f_globals}
    return calls is None or any(isinstance(each, ast.Name) and each.id not in known for each in calls)


def _misfits(message: str, line: str, frame: FrameType) -> bool:
    """Whether a function of ours is called there with arguments that do not fit it."""
    called = re.match(r"([\w.<>]+)\(\) (?:missing|takes|got) ", message)
    if called is None:
        return False
    word = called[1].rpartition(".")[2]
    found = [_value(each, frame) for each in _calls(line) or ()]
    return any(
        _belongs_to_us(each) and getattr(each, "__name__", "") in (word, called[1]) for each in found
    ) or any(isinstance(each, type) and word == "__init__" and _is_class_of_ours(each) for each in found)


def _is_class_of_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "possibly"


def _finds_nothing(message: str, line: str, frame: FrameType) -> bool:
    """Whether None stands where something of ours should: all that the line speaks of is ours."""
    tree = _tree(line)
    if "NoneType" not in message or tree is None:
        return False
    loaded = [
        each for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    ]
    mine = [frame.f_locals[each.id] for each in loaded if each.id in frame.f_locals]
    return all(each is None or _belongs_to_us(each) for each in mine) and not any(
        isinstance(each, ast.Call) and not _is_of_ours(_value(each.func, frame)) for each in ast.walk(tree)
    )


def _is_of_ours(function: Any) -> bool:
    return _belongs_to_us(function) or getattr(function, "__module__", None) == "builtins"


def _calls(line: str) -> list[ast.expr] | None:
    tree = _tree(line)
    return None if tree is None else [each.func for each in ast.walk(tree) if isinstance(each, ast.Call)]


def _tree(line: str) -> ast.AST | None:
    """A line by itself; None: it goes on, or is none that can be read so."""
    for text in (line, f"{line} pass", f"{line} = None", line.removeprefix("el") + " pass"):
        try:
            return ast.parse(text)
        except SyntaxError:
            continue
    return None


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What a name or an attribute of an object of ours is in a frame; nothing of the program is asked."""
    match node:
        case ast.Name(name):
            return frame.f_locals.get(name, frame.f_globals.get(name, vars(builtins).get(name)))
        case ast.Attribute(owner, name):
            found = _value(owner, frame)
            return inspect.getattr_static(found, name, None) if _belongs_to_us(found) else None
    return None


def _belongs_to_us(thing: Any) -> bool:
    if isinstance(thing, ModuleType):
        name = thing.__name__
    else:
        name = thing.__module__ if isinstance(thing, FunctionType) else type(thing).__module__
    return isinstance(name, str) and name.partition(".")[0] == "possibly"


def _looks_into_ours(line: str, frame: FrameType) -> bool:
    """Whether all that the line looks into are attributes of objects of ours, or tables of the module."""
    found = list(_tables(line))
    return bool(found) and all(_is_table_of_ours(each, frame) for each in found)


def _tables(line: str) -> Iterator[ast.expr]:
    """What stands before brackets in a line; nothing if it cannot be read by itself."""
    try:
        tree = ast.parse(line.rstrip(":") if not line.endswith("]:") else line[:-1])
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield node.value


def _is_table_of_ours(table: ast.expr, frame: FrameType) -> bool:
    match table:
        case ast.Attribute(ast.Name(owner)):
            return owner in frame.f_locals and _belongs_to_us(frame.f_locals[owner])
        case ast.Name(name):
            return name not in frame.f_locals and name in frame.f_globals
    return False
