"""Whether a file of the program may keep something where nobody looks for it, as its source shows.

Law: all that a program remembers lies in the variables of its own modules and functions, if it imports
nothing but what keeps nothing, gives nothing to a module or to what comes from one, hands no module on, and
does not get at variables by other ways than their names. Any doubt counts as no.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache

from possibly.probes import port

KEEPING_NOTHING = frozenset(
    {
        "__future__", "abc", "bisect", "collections", "copy", "dataclasses", "enum", "fractions", "functools",
        "heapq", "itertools", "json", "logging", "math", "mpi4py", "numpy", "operator", "possibly", "queue",
        "statistics", "string", "sys", "textwrap", "threading", "time", "typing",
    }
)  # fmt: skip
LOOKING = frozenset(
    {
        "globals", "vars", "locals", "eval", "exec", "compile", "__import__", "setattr", "delattr", "getattr",
        "__dict__", "attrgetter", "methodcaller", "import_module", "modules", "local", "setrecursionlimit",
        "setswitchinterval", "settrace", "setprofile", "random", "seterr", "errstate", "seterrcall",
        "set_printoptions", "printoptions", "Set_attr", "Create_keyval", "stdin", "open", "input", "ctypes",
        "Set_name", "Set_errhandler", "Buffer", "Attach_buffer", "lru_cache", "cache", "singledispatch",
        "excepthook", "displayhook", "addaudithook", "meta_path",
    }
)  # fmt: skip
"""Names of what gets at variables otherwise, or keeps something itself."""


@cache
def is_plain(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            tree = ast.parse(opened.read())
    except (OSError, SyntaxError, ValueError):
        return False
    given = {name for node in ast.walk(tree) for name in _imported(node)}
    based = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = {name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in _imported(node)}
    return all(_is_plain(node, given, modules, based) for node in ast.walk(tree))


def _is_plain(node: ast.AST, given: set[str], modules: set[str], based: set[int]) -> bool:
    match node:
        case ast.Import(names):
            return all(_keeps_nothing(each.name) for each in names)
        case ast.ImportFrom(module, names, level):
            own = level > 0 or _keeps_nothing(module or "")
            return own and not any(each.name in LOOKING or each.name == "*" for each in names)
        case ast.Attribute(attr=name, ctx=context):
            is_given = not isinstance(context, ast.Load) and _root(node) in given
            return name not in LOOKING and not is_given
        case ast.Subscript(ctx=context):
            return isinstance(context, ast.Load) or _root(node) not in given
        case ast.Name(name):
            return name not in LOOKING and (name not in modules or id(node) in based)
    return True


def _imported(node: ast.AST) -> Iterator[str]:
    """The names that an import binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for each in node.names:
            yield each.asname or each.name.partition(".")[0]


def _keeps_nothing(name: str) -> bool:
    first = name.partition(".")[0]
    file = getattr(sys.modules.get(first), "__file__", None)
    return first in KEEPING_NOTHING or (isinstance(file, str) and port.is_user_file(file))


def _root(node: ast.AST) -> str:
    """The name that a chain of attributes and items begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
