"""`asyncio` tasks with queues under a controller: each task that communicates is a process of the program.

All tasks of an event loop speak through the connection of its thread, so what they say stays in order. A
task waits for the controller as it waits for anything: by a future. When the loop has nothing left to do it
says so, with the state of every task: then all of them have stopped. Other things that a task waits for
(other tasks, locks, events) are the loop's own and no macro-steps; while a timer runs, the loop is waited
for.
"""

from __future__ import annotations

import asyncio
import os
import sys
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from possibly.control.macro.inside import gate, turns, variables
from possibly.control.macro.inside.threads import unique
from possibly.control.macro.model import Completion, Operation, Receive
from possibly.control.macro.program.wire import ClosedError
from possibly.probes.patching import Patches
from possibly.recorder.snapshot import snapshot

_gates: WeakKeyDictionary[Any, TaskGate] = WeakKeyDictionary()
_items: dict[str, Any] = {}
_resting: set[str] = set()
"""Threads whose loops have told that they rest, and were not stirred since."""


def install(patches: Patches) -> None:
    kind: Any = asyncio.Queue
    patches.put(kind, "__init__", _init(kind.__init__))
    for name, wrap in (("put", _put), ("get", _get), ("put_nowait", _put_nowait), ("get_nowait", _refused)):
        patches.put(kind, name, wrap(getattr(kind, name)))
    loop: Any = asyncio.BaseEventLoop
    patches.put(loop, "run_forever", _run_forever(loop.run_forever))
    patches.put(loop, "run_in_executor", _run_in_executor(loop.run_in_executor))
    patches.put(loop, "call_at", _call_at(loop.call_at))
    patches.put(kind, "join", _join(kind.join))
    for name in ("qsize", "empty", "full"):
        patches.put(kind, name, _unasked(getattr(kind, name), name))
    for module in (asyncio, asyncio.tasks):
        patches.put(module, "wait", _wait(asyncio.tasks.wait))
        patches.put(module, "as_completed", _as_completed(asyncio.tasks.as_completed))
    turns.install(patches)
    patches.put(loop, "call_soon_threadsafe", _from_elsewhere(loop.call_soon_threadsafe))
    gate.find = current_gate
    gate.knowing = turns.knowing


class _Through:
    """Sends by the connection of the loop's thread."""

    def __init__(self, owner: gate.Gate, name: str) -> None:
        self.owner = owner
        self.name = name

    def send(self, *message: Any) -> None:
        self.owner.wire.send("for", self.name, *message)

    def close(self) -> None:
        pass


class TaskGate(gate.Gate):
    """The way of a task to the controller."""

    def __init__(self, name: str, owner: gate.Gate, record: turns.Record) -> None:
        self.owner = owner
        self.record = record
        self.future: asyncio.Future[tuple[Completion, Any]] | None = None
        super().__init__(name, _Through(owner, name))
        self.known = record.known

    async def arrive_later(self, operation: Operation) -> Completion:
        """Tells the operation and waits, as a task does, until it may complete."""
        self.tell_operation(self.placed(operation), None, sys._getframe(1))
        self.future = self.record.future = asyncio.get_running_loop().create_future()
        try:
            completion, _ = await self.future
        finally:
            self.future = None
        self.learn(completion)
        return completion

    def placed(self, operation: Operation) -> Operation:
        """With what it comes after in its loop."""
        turn, started = self.record.turn, self.record.started_now
        suspended, after = self.record.act(self.name)
        return operation._replace(
            loop=self.owner.name, suspended=suspended, after=after, turn=turn, started=started
        )

    def send_at_once(self, operation: Operation) -> None:
        super().send_at_once(self.placed(operation))

    def go(self, completion: Completion, payload: Any, held: bool) -> None:
        """A task is never held: its loop would be, with all the others."""
        if self.future is not None and not self.future.done():
            self.future.set_result((completion, payload))

    def rest(self, task: Any) -> None:
        """The task waits for something in the loop."""
        frames = _frames(task)
        at = variables.place(frames[0]) if frames else self._at
        if self._armed is not None:
            self._armed = None
            self.wire.send("break", variables.seen(None, self.kept, self.spaces, self._at, frames=frames))
        seen = variables.seen(None, self.kept, self.spaces, at, frames=frames)
        claims, self.claims = self.claims, []
        self.wire.send("at", Operation("await", "await", at, sends=self.taken_sends()), seen, claims, None)


def _frames(task: Any) -> list[FrameType]:
    """The frames of a task that waits, the innermost first."""
    found, coroutine = [], task.get_coro()
    while coroutine is not None and getattr(coroutine, "cr_frame", None) is not None:
        if variables.is_user(coroutine.cr_frame):
            found.append(coroutine.cr_frame)
        coroutine = coroutine.cr_await
    return found[::-1]


def current_gate() -> gate.Gate | None:
    """That of the running task; it becomes a process of the program when it first asks."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return None
    if task is None or gate.local.gate is None:
        return None
    if task not in _gates:
        _gates[task] = TaskGate(unique(task.get_name()), gate.local.gate, turns.record(task))
        task.add_done_callback(_ended)
    return _gates[task]


def _ended(task: Any) -> None:
    found = _gates.pop(task, None)
    if found is not None:
        found.leave_for_ever()


# ---- the loop -----------------------------------------------------------------------------------


def _run_forever(plain: Any) -> Any:
    def run_forever(self: Any) -> None:
        owner = gate.local.gate
        selector = getattr(self, "_selector", None)
        if owner is None or selector is None or "select" in selector.__dict__:
            plain(self)
            return
        self.add_reader(owner.wire.fileno(), _hear, owner)
        selector.select = _telling(self, selector.select, owner)
        try:
            plain(self)
        finally:
            turns.left_loop(owner.known)
            del selector.select
            self.remove_reader(owner.wire.fileno())

    return run_forever


def _telling(loop: Any, plain: Any, owner: gate.Gate) -> Any:
    """Before the loop waits without end, it tells that it rests."""
    own = {owner.wire.fileno(), loop._ssock.fileno()}

    def select(timeout: float | None = None) -> Any:
        if timeout is not None:
            return plain(timeout)
        found = plain(0)
        if found or set(loop._selector.get_map()) - own:
            return found or plain(timeout)
        if owner.name not in _resting:
            _rest(owner)
        return plain(None)

    return select


def _rest(owner: gate.Gate) -> None:
    _resting.add(owner.name)
    for task, each in list(_gates.items()):
        if each.owner is owner and each.future is None and not task.done():
            each.rest(task)
    frame = variables.user_frame(sys._getframe(1))
    at = variables.place(frame)
    claims, owner.claims = owner.claims, []
    seen = variables.seen(frame, owner.kept, owner.spaces, at)
    owner.wire.send("idle", Operation("await", "run its tasks", at), seen, claims)


def _hear(owner: gate.Gate) -> None:
    try:
        owner.wire.fill()
        while (message := owner.wire.next()) is not None:
            _take(owner, *message)
    except ClosedError:
        os._exit(0)


def _take(owner: gate.Gate, what: str, *rest: Any) -> None:
    if what == "for":
        _resting.discard(owner.name)
        by_name = {each.name: each for each in _gates.values()}
        for name, *told in rest[0]:
            by_name[name].go(*told)
    else:
        owner.answer(what, *rest)


def _run_in_executor(plain: Any) -> Any:
    def run_in_executor(self: Any, *arguments: Any) -> Any:
        gate.told("run_in_executor, to_thread")
        return plain(self, *arguments)

    return run_in_executor


def _from_elsewhere(plain: Any) -> Any:
    def call_soon_threadsafe(self: Any, *arguments: Any, **options: Any) -> Any:
        if asyncio._get_running_loop() is not self:
            gate.told("call_soon_threadsafe, run_coroutine_threadsafe: when the loop gets to it")
        return plain(self, *arguments, **options)

    return call_soon_threadsafe


def _call_at(plain: Any) -> Any:
    def call_at(self: Any, *arguments: Any, **options: Any) -> Any:
        gate.told("a timer of an event loop (sleep, wait_for, timeout, call_later)")
        return plain(self, *arguments, **options)

    return call_at


def _wait(plain: Any) -> Any:
    async def wait(fs: Any, *, timeout: float | None = None, return_when: str = asyncio.ALL_COMPLETED) -> Any:
        futures = list(fs)
        if return_when != asyncio.ALL_COMPLETED:
            gate.told(f"asyncio.wait with {return_when}")
        found = await plain(futures, timeout=timeout, return_when=return_when)
        if return_when == asyncio.ALL_COMPLETED:
            turns.joined(found[0])
        return found

    return wait


def _as_completed(plain: Any) -> Any:
    def as_completed(*arguments: Any, **options: Any) -> Any:
        gate.told("asyncio.as_completed")
        return plain(*arguments, **options)

    return as_completed


# ---- queues -------------------------------------------------------------------------------------


def _init(plain: Any) -> Any:
    def __init__(self: Any, maxsize: int = 0, **options: Any) -> None:  # noqa: N807
        plain(self, maxsize, **options)
        if gate.by_library():
            return
        if type(self)._get is not asyncio.Queue._get:
            gate.told(f"{type(self).__name__} orders its items by itself")
            return
        self._possibly_channel = gate.channel_name("queue")

    return __init__


def _put(plain: Any) -> Any:
    async def put(self: Any, item: Any) -> None:
        channel = self.__dict__.get("_possibly_channel")
        here = current_gate()
        if channel is None or not isinstance(here, TaskGate):
            await plain(self, item)
            return
        _items[f"{here.name}#{here.sends + 1}"] = item
        capacity = max(self.maxsize, 0)
        value = (snapshot(item),)
        operation = Operation("send", f"put into {channel}", channel=channel, capacity=capacity, value=value)
        await here.arrive_later(operation)
        _count(self)
        here.leave()

    return put


def _put_nowait(plain: Any) -> Any:
    """It cannot wait, so it makes no breakpoint; the message is sent all the same."""

    def put_nowait(self: Any, item: Any) -> None:
        channel = self.__dict__.get("_possibly_channel")
        here = gate.current()
        if channel is None:
            plain(self, item)
            return
        if self.maxsize > 0:
            gate.told("put_nowait into a bounded queue")
        _items[f"{here.name}#{here.sends + 1}"] = item
        value = (snapshot(item),)
        here.send_at_once(Operation("send", f"put into {channel}", channel=channel, value=value))
        _count(self)

    return put_nowait


def _count(queue: Any) -> None:
    queue._unfinished_tasks += 1
    queue._finished.clear()


def _get(plain: Any) -> Any:
    async def get(self: Any) -> Any:
        channel = self.__dict__.get("_possibly_channel")
        here = current_gate()
        if channel is None or not isinstance(here, TaskGate):
            return await plain(self)
        receive = Receive(here.receive_name(), here.name, (channel,))
        completion = await here.arrive_later(Operation("receive", f"get from {channel}", receive=receive))
        here.leave()
        return _items.pop(completion.deliveries[-1][1])

    return get


def _join(plain: Any) -> Any:
    async def join(self: Any) -> None:
        if "_possibly_channel" in self.__dict__:
            gate.told("join() of an asyncio queue")
        await plain(self)

    return join


def _unasked(plain: Any, name: str) -> Any:
    """The items are with the controller, so the queue itself does not know."""

    def asked(self: Any) -> Any:
        if "_possibly_channel" in self.__dict__ and not gate.by_library():
            gate.refuse(f"{name}() of an asyncio queue")
        return plain(self)

    return asked


def _refused(plain: Any) -> Any:
    def get_nowait(self: Any) -> Any:
        if "_possibly_channel" in self.__dict__:
            gate.refuse("get_nowait of an asyncio queue")
        return plain(self)

    return get_nowait
