"""Classes and functions of the standard library in Python that keep what the program gives them.

Law: what stands here is instrumented in place, like code of the program. So a `UserDict` is as fine as the
dictionary inside it, and whatever calls the program back is seen in the middle. What is modelled, what our
own code uses while it works, and what everything stands on is not among them. It is done as soon as code of
the program names one of them: what nobody names costs nothing, and what is reached by another way is an
object of a library like others.
"""

from __future__ import annotations

import sys
from functools import wraps
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any

from possibly.control.loading.callers import tell_of_calls
from possibly.control.runtime import kernel as running
from possibly.control.runtime import sites
from possibly.control.runtime.places import is_instrumented
from possibly.control.runtime.things import followed_classes
from possibly.probes.instructions.insert import Wanted, instrumented
from possibly.probes.patching import Patches

FOLLOWED: dict[str, str] = {
    "collections": "UserDict UserList UserString ChainMap Counter",
    "_collections_abc": "Mapping MutableMapping Sequence MutableSequence Set MutableSet KeysView ItemsView "
    "ValuesView MappingView",
    "functools": "cached_property singledispatch singledispatchmethod _find_impl _compose_mro",
    "contextlib": "_RedirectStream _BaseExitStack ExitStack closing chdir",
    "os": "_Environ getenv",
    "typing": "get_type_hints ForwardRef",
}
"""Module -> names of its classes and functions."""
CALLING: dict[str, str] = {
    "concurrent.futures._base": "Future._invoke_callbacks Future.add_done_callback",
    "sched": "scheduler.run",
}
"""Module -> functions that call what the program gave them."""

STEADY: dict[str, str] = {
    "importlib.metadata": "version distribution distributions metadata entry_points files requires "
    "packages_distributions",
}
"""Module -> functions that look at what is installed, which does not change: each call is one step, whatever
it runs in the middle."""


WORDS: dict[str, tuple[str, ...]] = {
    "collections": ("collections", "_collections_abc"),
    "UserDict": ("collections", "_collections_abc"), "UserList": ("collections", "_collections_abc"),
    "UserString": ("collections", "_collections_abc"), "ChainMap": ("collections", "_collections_abc"),
    "Counter": ("collections",), "abc": ("_collections_abc",), "environ": ("os", "_collections_abc"),
    "environb": ("os", "_collections_abc"), "getenv": ("os", "_collections_abc"), "getenvb": ("os",),
    "cached_property": ("functools",), "singledispatch": ("functools",),
    "singledispatchmethod": ("functools",), "functools": ("functools",), "contextlib": ("contextlib",),
    "os": ("os", "_collections_abc"), "get_type_hints": ("typing",),
}  # fmt: skip
"""A name in code of the program -> modules that are looked at for it."""
_done: set[str] = set()


def follow_for(code: CodeType) -> None:
    """Instruments what this code of the program, or code that stands in it, names."""
    pending = [code]
    while pending:
        each = pending.pop()
        pending += [const for const in each.co_consts if isinstance(const, CodeType)]
        for word in each.co_names:
            for part in word.split("."):
                _follow_all(WORDS.get(part, ()))


def _follow_all(modules: tuple[str, ...]) -> None:
    for name in modules:
        if name not in _done:
            _done.add(name)
            _follow(import_module(name))


def install(patches: Patches) -> None:
    patches.when_imported("weakref", lambda _: _tell_of_finalizers(sys.modules["weakref"]))
    for module in CALLING:
        patches.when_imported(module, lambda _, module=module: _call(sys.modules[module]))  # type: ignore[misc]
    for module in STEADY:
        patches.when_imported(module, lambda found, module=module: _settle(sys.modules[module], found))  # type: ignore[misc]


def _tell_of_finalizers(module: Any) -> None:
    """They are called where an object ends, by nobody's code: so they are told of in any case."""
    _instrument(vars(module.finalize)["__call__"], module.__name__)


def _settle(module: Any, patches: Patches) -> None:
    for name in STEADY[module.__name__].split():
        patches.put(module, name, _in_one_step(getattr(module, name)))


def _in_one_step(plain: Any) -> Any:
    @wraps(plain)
    def steady(*given: Any, **options: Any) -> Any:
        kernel = running.kernel
        if kernel is None:
            return plain(*given, **options)
        kernel.quiet += 1
        try:
            return plain(*given, **options)
        finally:
            kernel.quiet -= 1

    return steady


def _follow(module: Any) -> None:
    for name in FOLLOWED.get(module.__name__, "").split():
        found = getattr(module, name, None)
        if isinstance(found, type):
            followed_classes.add(found)
            for each in list(vars(found).values()):
                _instrument(each, module.__name__)
        else:
            _instrument(found, module.__name__)


def _call(module: Any) -> None:
    for path in CALLING.get(module.__name__, "").split():
        cls, _, method = path.partition(".")
        tell_of_calls(vars(getattr(module, cls)).get(method))


def _instrument(value: Any, module: str) -> None:
    for each in (value, *(getattr(value, name, None) for name in ("__func__", "fget", "fset", "fdel"))):
        if isinstance(each, FunctionType) and not is_instrumented(each.__code__):
            wanted = Wanted(sites.site_maker("", module))
            each.__code__ = instrumented(each.__code__, wanted, False)
