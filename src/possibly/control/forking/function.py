"""A function of a program that runs already, as something to be executed under control again and again.

The process is forked as it is. In the fork the models take the place of what they model, wherever a module of
the user or of an installed package holds it under a name of its own; the user's functions get instrumented
code; and primitives that were made before (a lock in a global variable) become models. The caller's process
is not touched.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

from possibly.control.forking.zygote import ControlledProgram
from possibly.control.loading import instrumented as loading
from possibly.control.loading import packages
from possibly.control.loading.install import install_all
from possibly.control.models import earlier, pools, primitives
from possibly.control.models.earlier import DEEPEST, Cells, Indexed, is_instance
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.places import shown
from possibly.control.runtime.things import CONTAINER, INSTANCE, OPAQUE, dictionary_of, is_user_module
from possibly.probes.existing import existing
from possibly.probes.patching import Patches


def function_program(function: Callable[..., Any], *given: Any, **options: Any) -> ControlledProgram:
    """The call `function(*given)`; a coroutine function is run by `asyncio.run`."""
    found = ControlledProgram(lambda: _prepared(function, given), **options)
    found.path = getattr(inspect.unwrap(function), "__globals__", {}).get("__file__", "")
    return found


def _prepared(function: Callable[..., Any], given: tuple[Any, ...]) -> Callable[[], Any]:
    patches = Patches()
    install_all(patches)
    sys.meta_path.insert(0, loading.Finder(patches))
    roots = [module for module in list(sys.modules.values()) if is_user_module(module)]
    if inspect.iscoroutinefunction(function):
        import asyncio  # noqa: F401 - its models are put in by the import
    _rename([*roots, *_installed_modules()], patches)
    _instrument()
    places = [vars(module) for module in roots if isinstance(module, ModuleType)]
    places += [Cells(function), {"given": given}]
    for place in places:
        earlier.model(place)
    earlier.model_logging()

    def program() -> None:
        pools.renew_earlier()
        for place in places:
            _name(place, DEEPEST, set())
        result = function(*given)
        if inspect.iscoroutine(result):
            import asyncio

            asyncio.run(result)

    return program


def _installed_modules() -> list[ModuleType]:
    """Modules of packages that are imported already; what is modelled, or runs tests, keeps what it has."""
    left_alone = packages.STANDARD | packages.MODELLED
    found = [(name, module) for name, module in list(sys.modules.items()) if isinstance(module, ModuleType)]
    return [module for name, module in found if name.partition(".")[0] not in left_alone]


def _rename(roots: list[Any], patches: Patches) -> None:
    """`from threading import Lock` has put the plain class into a module of the user, or of a package.

    A module that has got a stand-in for another one (`io` of `subprocess`) has it alone.
    """
    new = {}
    for owner, name, old in patches.replaced():
        if isinstance(owner, ModuleType) and old is not None and not isinstance(old, ModuleType):
            new[id(old)] = (old, getattr(owner, name))
    for module in roots:
        for name, value in list(vars(module).items()):
            found = new.get(id(value))
            if found is not None and found[0] is value:
                setattr(module, name, found[1])


# ---- code ---------------------------------------------------------------------------------------


def _instrument() -> None:
    """Gives the user's functions instrumented code: their own, so that no source is needed."""
    codes: dict[tuple[CodeType, str], CodeType] = {}
    for function in existing(FunctionType):
        plain = function.__code__
        file = plain.co_filename
        if not shown(file) or packages.root_of_file(file) or plain.co_name == "<module>":
            continue
        module = str(function.__globals__.get("__name__", "__main__"))
        if (plain, module) not in codes:
            codes[plain, module] = loading.with_sites(plain, shown(file), module, False)
        function.__code__ = codes[plain, module]


# ---- objects that were made before --------------------------------------------------------------


def name_values(values: dict[str, Any]) -> None:
    """Names what an execution made before its program begins, as it is called there."""
    _name(values, DEEPEST, set())


def _name(place: Any, depth: int, seen: set[int]) -> None:
    """Names what exists before the function is called, in the same order in every execution."""
    now = accesses.active()
    if now is None or id(place) in seen or not depth:
        return
    seen.add(id(place))
    kernel, memory = now
    for name, value in list(place.items()):
        kind = memory.things.kind(value)
        if kind in (CONTAINER, INSTANCE, OPAQUE) and not str(name).startswith("__"):
            named = memory.things.made(value, kernel, str(name))
            kernel.labels.setdefault(named.name, str(name))
        elif isinstance(value, primitives.Quiet):
            kernel.labels[value.name] = str(name)
        if isinstance(value, dict):
            _name(value, depth - 1, seen)
        elif isinstance(value, list):
            _name(Indexed(value), depth - 1, seen)
        elif isinstance(value, FunctionType):
            _name(Cells(value), depth - 1, seen)
        elif is_instance(value) and (own := dictionary_of(value)) is not None:
            _name(own, depth - 1, seen)
