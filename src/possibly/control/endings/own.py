"""Errors of possibly itself that come out in the program: they are never told as the program's own.

Models raise on purpose what the standard library would, and ask the program's objects on its behalf; so not
every exception that comes from a file of ours is a mistake of ours. It is one if what went wrong can only be
about our own data: an assertion or a name of ours, an attribute that an object of ours or None lacks, a key
that a table of ours lacks. An exception that the program raised because of such a one counts as well; not
one that it raised while we had caught such a one ourselves, as whoever looks into a table may.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from types import FrameType, ModuleType, TracebackType
from typing import Any

from possibly.errors import PossiblyError
from possibly.probes import port

INTERNAL = "internal"
"""The kind of a failure that is an error of possibly itself."""
WHAT = "an error of possibly itself"
REMEDY = "please report it with the program; --trust PACKAGE goes round what happens inside a package"
_ALWAYS = (AssertionError, NameError)


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
            code = trace.tb_frame.f_code
            place = f"{code.co_filename.removeprefix(port._OWN)}:{trace.tb_lineno}"
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
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(port._OWN)


def _innermost(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _is_ours(error: BaseException, trace: TracebackType) -> bool:
    file = trace.tb_frame.f_code.co_filename
    if not file.startswith(port._OWN) or isinstance(error, PossiblyError):
        return False
    line = linecache.getline(file, trace.tb_lineno).strip()
    if line.startswith("raise"):
        return False
    if isinstance(error, _ALWAYS):
        return True
    if isinstance(error, AttributeError):
        return error.obj is None or _belongs_to_us(error.obj)
    return isinstance(error, LookupError) and _looks_into_ours(line, trace.tb_frame)


def _belongs_to_us(thing: Any) -> bool:
    name = thing.__name__ if isinstance(thing, ModuleType) else type(thing).__module__
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
