"""Code of installed packages that is not watched, in the turns of an event loop: which turns run any.

Law: a turn that runs such code conflicts with every other one that does. What that code keeps between two
turns (parsers, connections, pools) is not seen, so nothing shows that two such turns commute. A turn is one
step: so both orders of them are explored, and nothing is missed. Of a package that is trusted, turns
commute by the user's word; of one that is included, every access is seen.

That takes many executions. So a search begins as if such turns commuted, which finds what is wrong soonest,
and only when nothing is left begins anew with all orders (`LIBRARIES` is among the visible families then).

Functions in Python are heard of when they begin (`runtime.entries`). A protocol or callback in C is asked for
the module that it is from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from possibly.control.loading import packages
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.probes import port
from possibly.probes.stated import stated, stated_text


def runs(function: Callable[..., Any]) -> None:
    """The running turn calls this for an event loop: if it is in C nobody hears of it."""
    plain = stated(function, "__func__") or function
    if stated(plain, "__code__") is None:
        owner = stated(function, "__self__")
        _touch(_strange_root(stated_text(plain, "__module__") or type(owner).__module__))


def uses(value: object) -> None:
    """The running turn calls methods of this object for an event loop."""
    _touch(_strange_root(type(value).__module__))


def _touch(root: str) -> None:
    """The running turn runs code of this package, if it has a name."""
    kernel, memory = running.kernel, accesses.memory
    if root and kernel is not None and memory is not None and kernel.in_step:
        memory.run_in_turn(kernel, root)


def _strange_root(module: str) -> str:
    """The installed package of a module, if it is of one that is not watched."""
    root = module.partition(".")[0]
    if (
        root in sys.stdlib_module_names
        or root in packages.NEVER | packages.OF_TRIO
        or packages.is_watched(module)
    ):
        return ""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return "" if not file or port.is_user_file(file) else root
