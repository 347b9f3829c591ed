"""`asyncio`: event loops, and what reaches a loop from outside of its tasks.

A function that the loop is to call is a process of its own (`callbacks`), after whoever asked for it; a
coroutine that another thread has it run (`run_coroutine_threadsafe`) is a task, whose end comes before the
result that the thread gets. A future that the library makes to stand for another one (`shield`,
`wrap_future`) is that other one to whoever awaits it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from possibly.probes import port
from possibly.probes.futures import SOURCE
from possibly.probes.loops import callbacks, task_locks, tasks
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
    run, complete = loop.run_forever, loop.run_until_complete
    call, soon, at = loop.call_soon_threadsafe, loop.call_soon, loop.call_at

    def run_forever(self: Any) -> None:
        tasks.find_tasks_of(self)
        try:
            run(self)
        finally:
            port.set_task_finder(None)
            callbacks.forget(self)

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
        return call(self, callbacks.scheduled(callback, self), *arguments, context=context)

    def call_soon(self: Any, callback: Any, *arguments: Any, context: Any = None) -> Any:
        return soon(self, callbacks.scheduled(callback, self), *arguments, context=context)

    def call_at(self: Any, when: float, callback: Any, *arguments: Any, context: Any = None) -> Any:
        return at(self, when, callbacks.scheduled(callback), *arguments, context=context)

    def call_later(self: Any, delay: float, callback: Any, *arguments: Any, context: Any = None) -> Any:
        told = callbacks.scheduled(callback)
        if delay is None:
            raise TypeError("delay must not be None")
        return at(self, self.time() + delay, told, *arguments, context=context)

    for told in (
        run_forever, run_until_complete, create_future, call_soon_threadsafe, call_soon, call_at, call_later,
    ):  # fmt: skip
        patches.put(loop, told.__name__, told)


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
