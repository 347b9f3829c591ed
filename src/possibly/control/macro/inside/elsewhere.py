"""Whether a file of the program may keep something where nobody looks for it, as its source shows.

Law: all that a program remembers lies in the variables of its own modules and functions, if it imports
nothing but what keeps nothing, gives nothing to a module or to what comes from one, hands on no module, and
of what is in one only what nobody can change (a class in Python could be given an attribute under its other
name), and does not get at variables by other ways than their names. Any doubt counts as no.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType

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
        "excepthook", "displayhook", "addaudithook", "meta_path", "type", "__class__", "__mro__", "mro",
        "__bases__", "__base__", "__subclasses__", "__origin__", "__globals__", "__self__", "__func__",
        "__setattr__", "__delattr__", "f_globals", "gi_frame", "cr_frame", "_getframe", "manager",
        "getLoggerClass", "addLevelName", "setLogRecordFactory", "setLoggerClass", "captureWarnings",
        "stack_size", "set_int_max_str_digits", "setdlopenflags", "set_asyncgen_hooks", "setbufsize",
        "set_coroutine_origin_tracking_depth",
    }
)  # fmt: skip
"""Names of what gets at variables otherwise, or keeps something itself."""
FIXED = 1 << 8
"""The flag of a class that can be given no attributes."""
SCALARS = (int, float, complex, str, bytes, bool, NoneType)


def is_plain(file: str) -> bool:
    tree = _tree(file)
    return tree is not None and _judged(file, tuple(name in sys.modules for name in _modules(file)))


@cache
def _tree(file: str) -> ast.Module | None:
    try:
        with open(file, "rb") as opened:
            return ast.parse(opened.read())
    except (OSError, SyntaxError, ValueError):
        return None


@cache
def _modules(file: str) -> tuple[str, ...]:
    """What it may import."""
    found: list[str] = []
    for node in ast.walk(_tree(file) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return tuple(found)


@cache
def _judged(file: str, there: tuple[bool, ...]) -> bool:
    """`there`: which modules have been imported; nobody has used the others yet."""
    tree = _tree(file)
    assert tree is not None
    given = {name for node in ast.walk(tree) for name in _imported(node)}
    based = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = {name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in _imported(node)}
    if not all(_is_plain(node, given, modules, based) for node in ast.walk(tree)):
        return False
    used = _Used(tree)
    return all(used.is_harmless(node) for node in ast.walk(tree))


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


class _Used:
    """What of other modules a file speaks of, and where it only looks at it."""

    def __init__(self, tree: ast.Module) -> None:
        self.sources: dict[str, tuple[str, str]] = {}
        """What an import binds: the module, and the name in it or nothing."""
        self.looked_at: set[int] = set()
        self.based: set[int] = set()
        """In which something is looked up."""
        for node in ast.walk(tree):
            self._import(node)
            for each in _only_looked_at(node):
                self.looked_at.update(id(part) for part in ast.walk(each))
            if isinstance(node, ast.Call):
                self.looked_at.add(id(node.func))
            elif isinstance(node, ast.Attribute | ast.Subscript):
                self.based.add(id(node.value))

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for each in node.names:
                name = each.name if each.asname else each.name.partition(".")[0]
                self.sources[each.asname or name] = name, ""
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                self.sources[each.asname or each.name] = "" if node.level else node.module or "", each.name

    def is_harmless(self, node: ast.AST) -> bool:
        """Not if a thing of another module that may be changed is handed on, or is changed by a method."""
        if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(node.ctx, ast.Load):
            return True
        way = _way(node)
        if not way or way[0] not in self.sources:
            return True
        module, name = self.sources[way[0]]
        if not module or module not in sys.modules or _is_own(module):
            return True
        found = _found(module, [name, *way[1:]] if name else way[1:])
        if id(node) in self.looked_at:
            return found is not _MISSING
        keeps = (ModuleType, type, FunctionType) if id(node) in self.based else ()
        return isinstance(found, keeps) or _cannot_change(found)


_MISSING = object()


def _only_looked_at(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of it that hand nothing on."""
    match node:
        case ast.ClassDef(bases=bases, keywords=keywords, decorator_list=decorators):
            yield from (*bases, *keywords, *decorators)
        case ast.FunctionDef(decorator_list=decorators, returns=returns):
            yield from (*decorators, *([returns] if returns else []))
        case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
            yield annotation
        case ast.ExceptHandler(type=ast.expr() as kind):
            yield kind
        case ast.Raise(exc=ast.expr() as raised):
            yield raised
        case ast.Compare(left=left, comparators=others):
            yield from (left, *others)
        case ast.Call(func=ast.Name("isinstance" | "issubclass"), args=[_, kind]):
            yield kind
        case ast.keyword(arg="file", value=value):
            yield value


def _way(node: ast.AST) -> list[str]:
    """The names of a chain of attributes; none if it begins with something else than a name."""
    found: list[str] = []
    while isinstance(node, ast.Attribute):
        found.append(node.attr)
        node = node.value
    return [*found, node.id][::-1] if isinstance(node, ast.Name) else []


def _found(module: str, way: list[str]) -> object:
    value: object = sys.modules.get(module, _MISSING)
    for name in way:
        value = getattr(value, name, _MISSING)
    return value


def _cannot_change(value: object) -> bool:
    kind = type(value)
    if isinstance(value, type):
        return bool(value.__flags__ & FIXED)
    if isinstance(value, SCALARS) or kind.__module__.partition(".")[0] in ("mpi4py", "typing", "possibly"):
        return True
    told = (sys.argv, sys.stdout, sys.stderr)
    return kind is BuiltinFunctionType or any(value is each for each in told)


def _imported(node: ast.AST) -> Iterator[str]:
    """The names that an import binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for each in node.names:
            yield each.asname or each.name.partition(".")[0]


def _keeps_nothing(name: str) -> bool:
    return name.partition(".")[0] in KEEPING_NOTHING or _is_own(name)


def _is_own(name: str) -> bool:
    file = getattr(sys.modules.get(name.partition(".")[0]), "__file__", None)
    return isinstance(file, str) and port.is_user_file(file)


def _root(node: ast.AST) -> str:
    """The name that a chain of attributes and items begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
