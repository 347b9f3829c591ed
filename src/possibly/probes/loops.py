"""`asyncio`: event loops, and what reaches a loop from outside of its tasks.

A function that another thread has the loop call (`call_soon_threadsafe`) comes after that thread's request,
and belongs to the thread of the loop; a coroutine that it has it run (`run_coroutine_threadsafe`) is a task,
whose end comes before the result that the thread gets. A future that the library makes to stand for another
one (`shield`, `wrap_future`) is that other one to whoever awaits it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from possibly.probes import port, task_locks, tasks
from possibly.probes.futures import SOURCE
from possibly.probes.patching import Patches


def install(patches: Patches) -> None:
    """Everything of `asyncio`, tasks and locks too."""
    from asyncio import base_events, futures

    tasks.install(patches)
    task_locks.install(patches)
    _told_loop(patches, base_events.BaseEventLoop)
    patches.put(futures, "_chain_future", _told_chain(futures._chain_future))  # type: ignore[attr-defined]
    for name, told in (("shield", _told_shield), ("run_coroutine_threadsafe", _told_threadsafe)):
        made = told(getattr(asyncio, name))
        for module in (asyncio, asyncio.tasks):
            patches.put(module, name, made)


def _told_loop(patches: Patches, loop: Any) -> None:
    run, complete, call = loop.run_forever, loop.run_until_complete, loop.call_soon_threadsafe

    def run_forever(self: Any) -> None:
        tasks.find_tasks_of(self)
        try:
            run(self)
        finally:
            port.set_task_finder(None)

    def run_until_complete(self: Any, future: Any) -> Any:
        inner = asyncio.ensure_future(future, loop=self)
        try:
            return complete(self, inner)
        finally:
            if inner.done():
                tasks.learn_future(inner)

    def create_future(self: Any) -> Any:
        return tasks.Future(loop=self)

    def call_soon_threadsafe(self: Any, callback: Any, *arguments: Any, context: Any = None) -> Any:
        if not port.called_by_library():
            callback = _Asked(callback)
        return call(self, callback, *arguments, context=context)

    for told in (run_forever, run_until_complete, create_future, call_soon_threadsafe):
        patches.put(loop, told.__name__, told)


class _Asked:
    """A function that another thread asked the loop to call."""

    __slots__ = ("_function", "_message")

    def __init__(self, function: Any) -> None:
        self._function = function
        self._message = port.number()
        port.before("put", self._message)

    def __call__(self, *arguments: Any) -> Any:
        port.after("get", self._message)
        return self._function(*arguments)

    def __repr__(self) -> str:
        return repr(self._function)


def _told_threadsafe(plain: Any) -> Any:
    def run_coroutine_threadsafe(coro: Any, loop: Any) -> Any:
        if asyncio.iscoroutine(coro):
            message = tasks.asked_elsewhere[coro] = port.number()
            port.before("put", message)
        return plain(coro, loop)

    return run_coroutine_threadsafe


def _told_chain(plain: Any) -> Any:
    def _chain_future(source: Any, destination: Any) -> None:
        setattr(destination, SOURCE, source)
        plain(source, destination)

    return _chain_future


def _told_shield(plain: Any) -> Any:
    def shield(arg: Any) -> Any:
        inner = asyncio.ensure_future(arg)
        outer = plain(inner)
        if outer is not inner:
            setattr(outer, SOURCE, inner)
        return outer

    return shield
