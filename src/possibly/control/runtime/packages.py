"""Python code of installed packages and of the standard library, watched if it is asked for.

Law: the code of a package that is included is instrumented like the program's own. Where two tasks enter code
of another one with something that they share and race for, no verdict is complete, unless that package is
trusted: each of its calls is then one step, by the user's word. What is modelled stays modelled.

A package is known by its first name. A loaded module gets its functions instrumented in place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from possibly.control.runtime.known_calls import HARMLESS
from possibly.control.runtime.places import forget
from possibly.probes import port

NEVER = HARMLESS | frozenset(
    "possibly builtins importlib _frozen_importlib _frozen_importlib_external re sre_parse linecache "
    "traceback functools greenlet encodings codecs zipimport site _collections_abc".split()
)
"""Code that is modelled, or that everything stands on."""
watched: set[str] = set()


def is_watched(module: str) -> bool:
    return bool(watched) and module.partition(".")[0] in watched


def root_of(function: Any) -> str:
    """The package of a function in Python that is not instrumented; empty if it has none that could be."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    module = getattr(function, "__module__", None)
    if code is None or not isinstance(module, str) or port.is_user_file(code.co_filename):
        return ""
    root = module.partition(".")[0]
    return "" if root in NEVER else root


def watch(roots: Iterable[str], with_sites: Callable[[CodeType, str, str, bool], CodeType]) -> None:
    """From now on the code of these packages is instrumented."""
    for root in sorted(set(roots) - watched - NEVER):
        watched.add(root)
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == root and isinstance(module, ModuleType):
                _instrument(module, with_sites)


def adopt(file: str) -> None:
    """The file counts as the program's own."""
    port.adopt(file)
    forget(file)


def _instrument(module: ModuleType, with_sites: Callable[[CodeType, str, str, bool], CodeType]) -> None:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py"):
        return
    plain = list(_functions(vars(module), module.__name__, 4))
    adopt(file)
    from possibly.control.runtime.places import shown

    for function in dict.fromkeys(plain):
        function.__code__ = with_sites(function.__code__, shown(file), module.__name__, False)


def _functions(space: Any, module: str, depth: int) -> Iterator[FunctionType]:
    """The functions that a module and its classes hold."""
    for value in list(space.values()):
        for each in (value, *(getattr(value, name, None) for name in ("__func__", "fget", "fset", "fdel"))):
            if isinstance(each, FunctionType) and each.__module__ == module:
                yield each
        if isinstance(value, type) and value.__module__ == module and depth:
            yield from _functions(value.__dict__, module, depth - 1)
