"""Lists of which the program cannot see all, as its source shows: what is in them, or in which order.

Theory of operation. A word is what a variable or an attribute is called, wherever that is. If each place of
all sources in which a word stands either binds it to a new list, appends to that list, or asks something
whose answer is the same for all orders of its items, then nothing in the program depends on that order: the
list is unordered. If no place asks anything, nothing depends on the items at all: it is unread. The list
itself goes nowhere else, since its word stands nowhere else. So states that differ in this only go on alike,
and to append to a list that is unread commutes with whatever anybody does: it is no access (`memory`), if the
list is also lasting: a variable of a module that is bound once, so that its address is nobody else's.

Law: that holds as long as a program gets at its variables by their names. Where a source does anything else
(`globals()`, `__dict__`, attributes by computed names, modules that look into others), no word counts. Nor
does the order of items go unseen unless they are numbers or strings of one type, or tuples alike of these:
others can be told apart though they are equal, sums depend on their order, or comparing runs code.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from possibly.control.loading import instrumented as loading

MODULES = frozenset(
    {
        "__future__", "abc", "asyncio", "bisect", "collections", "concurrent.futures", "contextlib",
        "dataclasses", "enum", "functools", "heapq", "itertools", "math", "operator", "queue", "random",
        "string", "threading", "time", "typing",
    }
)  # fmt: skip
"""Those that look at nothing but what they are given."""
LOOKING = frozenset(
    {
        "globals", "vars", "locals", "dir", "eval", "exec", "compile", "__import__", "breakpoint", "getattr",
        "setattr", "hasattr", "delattr", "attrgetter", "methodcaller", "*",
    }
)  # fmt: skip
"""What gets at variables and attributes without their names."""
SPECIAL = frozenset({"__name__", "__init__", "__enter__", "__exit__", "__class__", "__qualname__"})
FRAMES = frozenset({"f_locals", "f_globals", "f_back", "tb_frame", "gi_frame", "cr_frame", "cell_contents"})
INTERCEPTING = frozenset(
    {"__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__", "__eq__", "__hash__"}
)
"""Methods that are called where none is to be seen."""
BASES = frozenset({"object", "Exception", "ABC", "Generic", "Protocol"})
"""Classes of others that look at no attribute of their subclasses."""
ASKING = frozenset({"len", "sorted", "min", "max", "sum"})
"""Functions whose answer is the same for all orders."""
WITHOUT_ORDER = frozenset({"set", "frozenset"})
"""Likewise, if that is only compared or counted: it may show the order when it is gone through."""
FUNCTIONS = ASKING | WITHOUT_ORDER | {"list"}
SCALARS = frozenset({int, str, bytes, bool, type(None)})


class Unseen(NamedTuple):
    """What variables and attributes are called whose lists are not seen as they are."""

    unread: frozenset[str] = frozenset()
    lasting: frozenset[str] = frozenset()
    """Of these the variables of modules that are bound once and for all."""
    unordered: frozenset[str] = frozenset()


def unseen(executed: Sequence[str], codes: dict[tuple[str, str], CodeType]) -> Unseen:
    """Of the modules that a program has executed."""
    files = tuple(sorted(file for file, module in codes if module in executed))
    return _unseen(files, tuple(sorted(executed))) if len(files) == len(executed) else Unseen()


@lru_cache(maxsize=4)
def _unseen(files: tuple[str, ...], modules: tuple[str, ...]) -> Unseen:
    trees = []
    for file in files:
        try:
            with open(file, "rb") as opened:
                trees.append(ast.parse(opened.read(), file))
        except (OSError, SyntaxError, ValueError):
            return Unseen()
    return unseen_in(trees, modules)


def unseen_in(trees: Sequence[ast.Module], modules: Sequence[str] = ()) -> Unseen:
    """Of all sources of a program, whose own modules have these names."""
    if not all(is_plain(node, modules) for tree in trees for node in ast.walk(tree)):
        return Unseen()
    uses: dict[str, list[str]] = {}
    for tree in trees:
        for word, use in _uses(tree):
            uses.setdefault(word, []).append(use)
    made = {word for word, found in uses.items() if OTHERWISE not in found and MADE in found}
    unread = frozenset(word for word in made if ASKED not in uses[word])
    lasting = unread & {word for tree in trees for word in bound_in(tree) if uses[word].count(MADE) == 1}
    return Unseen(unread, lasting, frozenset(made - unread))


def unread_lists() -> frozenset[int]:
    """The addresses of the lists that the running program never looks at, and that live to its end."""
    words = unseen(loading.executed, loading.codes).lasting
    modules = [vars(sys.modules[name]) for name in loading.executed if words and name in sys.modules]
    found = (module.get(word) for module in modules for word in words)
    return frozenset(id(each) for each in found if type(each) is list)


def shape_of(value: Any) -> Any:
    """What items must have in common for their order to go unseen; None: nothing makes it so."""
    cls = type(value)
    if cls in SCALARS:
        return cls.__name__
    if cls is not tuple:
        return None
    found = tuple(shape_of(each) for each in value)
    return None if None in found else found


Parents = dict[ast.AST, ast.AST]
MADE, ADDED, ASKED, OTHERWISE = "made", "added", "asked", "otherwise"


def is_plain(node: ast.AST, modules: Sequence[str]) -> bool:
    """Whether a part of a source gets at variables by their names alone."""
    match node:
        case ast.Import(names=names):
            return all(_is_known(each.name, modules) for each in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            known = bool(level) or (module is not None and _is_known(module, modules))
            return known and all(each.name not in LOOKING for each in names)
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return name not in FUNCTIONS
        case ast.Name(id=name):
            return name not in LOOKING and not (is_private(name) and name not in SPECIAL)
        case ast.Attribute(attr=name):
            special = name.endswith("__") and name not in SPECIAL
            return not special and name not in FRAMES and name not in LOOKING
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name not in INTERCEPTING and name not in FUNCTIONS
        case ast.arg(arg=name):
            return name not in FUNCTIONS
        case ast.alias(name=name, asname=other):
            return name not in FUNCTIONS and other not in FUNCTIONS
    return True


def _is_known(module: str, modules: Sequence[str]) -> bool:
    return module in MODULES or module in modules or module in ("collections.abc", "concurrent")


def _uses(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Every word with how it is used, wherever one stands."""
    parents = parents_in(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word):
                yield word, OTHERWISE if is_private(word) else _use(node, parents)
            case _:
                yield from ((word, OTHERWISE) for word in words_of(node))


def parents_in(tree: ast.Module) -> Parents:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def words_of(node: ast.AST) -> Iterator[str]:
    """The words that stand in a part of a source which is no expression of a variable or attribute."""
    match node:
        case ast.Constant(value=str(word)) | ast.arg(arg=word) | ast.keyword(arg=str(word)):
            yield word
        case ast.FunctionDef(name=word) | ast.AsyncFunctionDef(name=word) | ast.ClassDef(name=word):
            yield word
        case ast.alias(name=name, asname=other):
            yield from (*name.split("."), *([other] if other else []))
        case ast.ExceptHandler(name=str(word)) | ast.MatchAs(name=str(word)):
            yield word
        case ast.MatchStar(name=str(word)) | ast.MatchMapping(rest=str(word)):
            yield word
        case ast.MatchClass(kwd_attrs=words):
            yield from words


def bound_in(tree: ast.Module) -> Iterator[str]:
    """The variables that a module binds to new lists when it is executed, not in a loop or function."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=word)]) | ast.AnnAssign(target=ast.Name(id=word)):
                yield word


def is_private(word: str) -> bool:
    """Whether classes may call it otherwise than it is spelt."""
    return word.startswith("__")


def _use(node: ast.expr, parents: Parents) -> str:
    parent = parents[node]
    match parent:
        case ast.Assign(targets=[target], value=value) if target is node:
            return MADE if _is_new_list(value) and is_own(node, parents) else OTHERWISE
        case ast.AnnAssign(target=target, value=value) if target is node:
            return MADE if _is_new_list(value) and is_own(node, parents) else OTHERWISE
        case ast.Attribute(attr="append"):
            return ADDED if _is_appended(parent, parents) else OTHERWISE
        case ast.Call(func=ast.Name(id=function), args=[only], keywords=[]) if only is node:
            is_blind = function in ASKING or (function in WITHOUT_ORDER and _is_compared(parent, parents))
            return ASKED if is_blind else OTHERWISE
        case ast.UnaryOp(op=ast.Not()):
            return ASKED
        case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test) if test is node:
            return ASKED
    return OTHERWISE


def _is_new_list(value: ast.expr | None) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Call(func=ast.Name(id="list"), args=[], keywords=[]):
            return True
    return False


def is_own(node: ast.expr, parents: Parents) -> bool:
    """Whether it is a variable of a module or function, or an attribute that no class of others looks at."""
    scope = _scope(node, parents)
    match node, scope:
        case ast.Name(), _:
            return not isinstance(scope, ast.ClassDef)
        case ast.Attribute(value=ast.Name(id=me)), ast.FunctionDef(args=ast.arguments(args=[first, *_])):
            cls = _scope(scope, parents)
            return first.arg == me and isinstance(cls, ast.ClassDef) and _is_plain_class(cls)
    return False


def _scope(node: ast.AST, parents: Parents) -> ast.AST | None:
    """What a part of a source stands in."""
    found = parents.get(node)
    while found is not None and not isinstance(found, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        found = parents.get(found)
    return found


def _is_plain_class(cls: ast.ClassDef) -> bool:
    bases = (each.id if isinstance(each, ast.Name) else "" for each in cls.bases)
    return not cls.keywords and all(each in BASES for each in bases)


def _is_appended(method: ast.expr, parents: Parents) -> bool:
    """`log.append(item)`, as a statement."""
    call = parents[method]
    match call:
        case ast.Call(func=function, args=[item], keywords=[]) if function is method:
            return isinstance(parents[call], ast.Expr) and not isinstance(item, ast.Starred)
    return False


def _is_compared(call: ast.Call, parents: Parents) -> bool:
    """Whether a set goes nowhere: it is compared with others, counted or sorted."""
    match parents[call]:
        case ast.Compare(left=left, comparators=others):
            return all(_is_set(each) for each in (left, *others))
        case ast.Call(func=ast.Name(id="len" | "sorted"), args=[only], keywords=[]):
            return only is call
    return False


def _is_set(value: ast.expr) -> bool:
    match value:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=function)):
            return function in WITHOUT_ORDER
    return False
