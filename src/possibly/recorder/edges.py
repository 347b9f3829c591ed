"""Which action gives which order: the table of rules, and the state that turns actions into `after` and
messages.

Law: an edge is what the primitive guarantees in every run, and no more. Actions arrive in an order in
which they
could have happened (see `merge`); each rule keeps what later actions of the same thing refer to.

`ACTIONS` says how an action appears in the trace; `PRIMITIVES` says it for users, a row a primitive, and
the manual's
table is made from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from possibly.records import dataclass

Key = Any
"""A thing: (log, number), or a text that is unique in the whole run."""

MARKS, FOLLOWS, SENDS, RECEIVES = "marks", "follows", "sends", "receives"
STREAMS, READS = "streams", "reads"
GIVES, TAKES, GATHERS, PASSES, MEETS, NOTES = "gives", "takes", "gathers", "passes", "meets", "notes"
GIVING = frozenset({MARKS, SENDS, STREAMS, GATHERS})
"""Rules of actions that others refer to."""


@dataclass(frozen=True, slots=True)
class Action:
    kind: str
    """The kind of the event in the trace; empty: no event."""
    rule: str
    family: str = ""
    """Marks of different families under one key are different marks."""


ACTIONS: dict[str, Action] = {
    "new": Action("", NOTES),
    "units": Action("", NOTES),
    "acquire": Action("acquire", FOLLOWS, "lock"),
    "release": Action("release", MARKS, "lock"),
    "notify": Action("notify", MARKS, "waiter"),
    "wake": Action("wake", FOLLOWS, "waiter"),
    "take": Action("acquire", TAKES),
    "give": Action("release", GIVES),
    "set": Action("set", MARKS, "event"),
    "await": Action("wait", FOLLOWS, "event"),
    "put": Action("send", SENDS),
    "get": Action("receive", RECEIVES),
    "peek": Action("probe", FOLLOWS, "sent"),
    "look": Action("look", NOTES),
    "asked": Action("look", PASSES),
    "free": Action("look", FOLLOWS, "lock"),
    "turn": Action("turn", NOTES),
    "spawn": Action("spawn", MARKS, "spawn"),
    "start": Action("start", FOLLOWS, "spawn"),
    "end": Action("end", MARKS, "end"),
    "join": Action("join", FOLLOWS, "end"),
    "resolve": Action("resolve", MARKS, "future"),
    "learn": Action("result", FOLLOWS, "future"),
    "cancel": Action("cancel", MARKS, "cancel"),
    "resume": Action("cancelled", FOLLOWS, "cancel"),
    "leave": Action("done", GATHERS),
    "passed": Action("join", PASSES),
    "stream": Action("send", STREAMS),
    "streamed": Action("", NOTES),
    "read": Action("receive", READS),
    "arrive": Action("meet", MEETS),
    "meet": Action("meet", MEETS),
    "depart": Action("", NOTES),
}


@dataclass(frozen=True, slots=True)
class Primitive:
    """A row of the manual's table."""

    library: str
    primitive: str
    first: str
    then: str


PRIMITIVES: tuple[Primitive, ...] = (
    Primitive("threading", "Thread, Timer", "start()", "the first event of the thread"),
    Primitive(
        "threading", "Thread, Timer", "the end of the thread", "join() that returns, is_alive() that is false"
    ),
    Primitive("threading", "Lock, RLock", "release (the outermost)", "the next acquire (the outermost)"),
    Primitive("threading", "Lock", "release", "locked() that is false"),
    Primitive(
        "threading", "Condition", "release, also inside wait()", "the next acquire, also inside wait()"
    ),
    Primitive("threading", "Condition", "notify(), notify_all()", "the end of each wait() that it woke"),
    Primitive(
        "threading", "Semaphore, BoundedSemaphore", "the n-th release", "acquire number n + initial value"
    ),
    Primitive("threading", "Event", "the set() that made it true", "wait() and is_set() that are true"),
    Primitive("threading", "Barrier", "all wait() of a round", "one joint event; then the end of the action"),
    Primitive(
        "threading", "Barrier", "abort(), reset(), a wait() that times out", "the wait() that it breaks"
    ),
    Primitive("threading", "local", "nothing", "nothing"),
    Primitive("queue", "Queue, LifoQueue, PriorityQueue, SimpleQueue", "put of an item", "get of that item"),
    Primitive("queue", "Queue(n) and its kin", "the get that frees a place", "the put that uses it"),
    Primitive("queue", "Queue and its kin", "every put and get until then", "empty(), full(), qsize()"),
    Primitive("queue", "Queue and its kin", "every task_done()", "join()"),
    Primitive(
        "concurrent.futures", "Executor (threads, processes)", "submit, map", "the call's begin in the worker"
    ),
    Primitive(
        "concurrent.futures", "ThreadPoolExecutor(1)", "the end of a call", "the begin of the next one"
    ),
    Primitive("concurrent.futures", "ThreadPoolExecutor", "its initializer", "the calls in that thread"),
    Primitive(
        "concurrent.futures",
        "Future",
        "result or exception set, cancel()",
        "result(), exception(), done() that is true, wait, as_completed, its callbacks",
    ),
    Primitive("asyncio", "Task", "create_task, TaskGroup.create_task, gather, run", "the task's first event"),
    Primitive(
        "asyncio",
        "Task",
        "the end of the task",
        "await, result(), done() that is true, gather, wait, shield, as_completed, the end of a TaskGroup, "
        "its callbacks",
    ),
    Primitive("asyncio", "Task", "cancel()", "the task that meets CancelledError"),
    Primitive(
        "asyncio", "Future", "set_result, set_exception", "await of it, done() that is true, its callbacks"
    ),
    Primitive("asyncio", "call_soon, call_later, call_at", "the call", "the callback"),
    Primitive("asyncio", "call_soon", "a callback", "the next one that the same process asked for"),
    Primitive("asyncio", "Lock, Condition", "release", "the next acquire, locked() that is false"),
    Primitive("asyncio", "Condition", "notify", "the end of the wait() that it woke"),
    Primitive(
        "asyncio", "Semaphore, BoundedSemaphore", "the n-th release", "acquire number n + initial value"
    ),
    Primitive("asyncio", "Event", "the set() that made it true", "wait() and is_set() that are true"),
    Primitive("asyncio", "Queue and its kin", "put of an item", "get of that item"),
    Primitive("asyncio", "Queue(n) and its kin", "the get that frees a place", "the put that uses it"),
    Primitive("asyncio", "Queue and its kin", "every put and get until then", "empty(), full(), qsize()"),
    Primitive("asyncio", "Queue and its kin", "every task_done()", "join()"),
    Primitive("asyncio", "Barrier", "the arrivals of a round", "the ends of the waits"),
    Primitive("asyncio", "streams (StreamReader, StreamWriter)", "write of a byte", "read of that byte"),
    Primitive(
        "asyncio", "to_thread, run_in_executor", "the call", "the thread's work, and back to the await"
    ),
    Primitive(
        "asyncio",
        "run_coroutine_threadsafe, call_soon_threadsafe",
        "the call",
        "the task, and back to the result; the callback",
    ),
    Primitive(
        "multiprocessing", "Process (fork, spawn, forkserver)", "start()", "the first event of the process"
    ),
    Primitive("multiprocessing", "Process", "the end of the process", "join() that returns"),
    Primitive(
        "multiprocessing",
        "Queue, JoinableQueue, SimpleQueue, Pipe",
        "put, send of an object",
        "get, recv of that object",
    ),
    Primitive("multiprocessing", "JoinableQueue", "every task_done()", "join()"),
    Primitive("multiprocessing", "Lock, RLock, Value, Array", "release (the outermost)", "the next acquire"),
    Primitive(
        "multiprocessing", "Condition", "release, also inside wait()", "the next acquire, also inside wait()"
    ),
    Primitive(
        "multiprocessing",
        "Semaphore, BoundedSemaphore",
        "the n-th release",
        "acquire number n + initial value",
    ),
    Primitive("multiprocessing", "Event", "the set() that made it true", "wait() and is_set() that are true"),
    Primitive(
        "multiprocessing", "Barrier", "all wait() of a round, then the action", "the ends of these wait()"
    ),
    Primitive(
        "multiprocessing", "Barrier", "abort(), reset(), a wait() that times out", "the wait() that it breaks"
    ),
    Primitive(
        "multiprocessing", "Manager", "a call of a proxy", "the call in the manager, and back to the result"
    ),
    Primitive(
        "multiprocessing",
        "Pool",
        "apply, map and their kin",
        "the call in the worker, and back to the result",
    ),
    Primitive(
        "socket", "stream sockets, socketpair", "send, sendall of a byte", "recv, recv_into of that byte"
    ),
    Primitive("socket", "datagram sockets", "sendto, send of a datagram", "recvfrom, recv of that datagram"),
    Primitive("subprocess", "Popen, run, ... of a Python program", "the call", "its first event"),
    Primitive(
        "subprocess", "Popen, run, ... of a Python program", "its end", "wait(), poll(), run() that end"
    ),
    Primitive(
        "mpi4py", "send, isend, Send, ...", "the send", "the receive that it matches, also by wildcards"
    ),
    Primitive(
        "mpi4py", "probe, iprobe, mprobe, ...", "the send", "the end of the probe that saw its message"
    ),
    Primitive("mpi4py", "barrier, allreduce, alltoall, ...", "all calls of a round", "one joint event"),
    Primitive("mpi4py", "bcast, scatter", "the call of the root", "the ends of the other calls"),
    Primitive("mpi4py", "gather, reduce", "the calls of the others", "the end of the root's call"),
    Primitive("mpi4py", "Ibarrier, Iallreduce, ...", "all calls of a round", "the ends of the waits for it"),
    Primitive("possibly", "send(key)", "the send", "receive(key)"),
)


def changed_queue(detail: Any) -> int | None:
    """The number of the queue that a put or get tells of, if it is one of this process."""
    number = detail[0] if isinstance(detail, tuple) else detail
    return number if type(number) is int else None


Effect = tuple[list[str], str | None]
"""What an action adds to its event: the events before it, and its message."""


class Edges:
    """What has happened so far, as far as later actions may refer to it."""

    def __init__(self) -> None:
        self.marks: dict[tuple[str, Key], str] = {}
        """(family, thing) -> the newest event that left a mark there."""
        self._messages: dict[Key, str] = {}
        self._message_count = 0
        self._units: dict[Key, deque[str | None]] = {}
        self._gathered: dict[Key, dict[str, str]] = {}
        """The newest event of each process that later ones pass."""
        self._gathered_count: dict[Key, int] = {}
        self._streams: dict[Key, list[tuple[int, str]]] = {}
        """The sends of a stream with the number of the first byte of each."""
        self._streamed: dict[Key, int] = {}

    def units(self, key: Key, count: int) -> None:
        self._units[key] = deque([None] * max(0, count))

    def wanted(self, action: Action, key: Key, detail: Any = None) -> bool:
        """Whether the action refers to something that has not been seen."""
        match action.rule:
            case "follows":
                return (action.family, key) not in self.marks
            case "receives":
                return key not in self._messages
            case "reads":
                return self._streamed.get(key, 0) < (detail or 0)
            case "passes":
                return self._gathered_count.get(key, 0) < (detail or 0)
        return False

    def effect(self, action: Action, key: Key, detail: Any, event: str, process: str, log: str) -> Effect:
        message: str | None = None
        after: list[str] = []
        match action.rule:
            case "follows":
                after = self._marked(action.family, key)
            case "marks":
                self._mark(action, key, detail, event, log)
            case "receives":
                message = self._messages.pop(key, None)
                self.marks["room", key] = event
                self._change(detail, event, process, log)
            case "sends":
                message, after = self._sent(key, detail, event, log)
                self._change(detail, event, process, log)
            case "gives":
                self._units.setdefault(key, deque()).extend([event] * (detail or 1))
            case "takes":
                units = self._units.get(key)
                given = units.popleft() if units else None
                after = [given] if given is not None else []
            case "gathers":
                self._gathered.setdefault(key, {})[process] = event
                self._gathered_count[key] = self._gathered_count.get(key, 0) + 1
            case "streams":
                self._streams.setdefault(key, []).append((detail, event))
            case "reads":
                after = self._read(key, detail)
            case "passes":
                after = list(self._gathered.get(key, {}).values())
        return after, message

    def _change(self, detail: Any, event: str, process: str, log: str) -> None:
        """A queue holds something else from now on, which those see who ask how much it holds."""
        number = changed_queue(detail)
        if number is not None:
            self._gathered.setdefault((log, number), {})[process] = event

    def _sent(self, key: Key, detail: Any, event: str, log: str) -> tuple[str, list[str]]:
        self._message_count += 1
        message = self._messages[key] = f"m{self._message_count}"
        if isinstance(key, str) and key.startswith("mpi:"):
            self.marks["sent", key] = event
        room = detail[1] if isinstance(detail, tuple) else 0
        return message, self._marked("room", (log, room)) if room else []

    def streamed(self, key: Key, end: int) -> None:
        """So many bytes of the stream have been sent."""
        self._streamed[key] = end

    def _read(self, key: Key, end: int) -> list[str]:
        """The sends whose bytes begin before that one; the newest may have more to come."""
        sends = self._streams.get(key, [])
        found = [event for start, event in sends if start < end]
        self._streams[key] = [each for each in sends if each[0] >= end] or sends[-1:]
        return found

    def _mark(self, action: Action, key: Key, detail: Any, event: str, log: str) -> None:
        if action.family == "waiter":
            for waiter in detail:
                self.marks["waiter", (log, waiter)] = event
        else:
            self.marks[action.family, key] = event

    def _marked(self, family: str, key: Key) -> list[str]:
        found = self.marks.get((family, key))
        return [] if found is None else [found]

    def mark(self, family: str, key: Key, event: str) -> None:
        self.marks[family, key] = event


def table(rows: Iterable[Primitive] = PRIMITIVES) -> str:
    """The manual's table in Markdown."""
    lines = ["| library | primitive | this happens before | that |", "| --- | --- | --- | --- |"]
    for row in rows:
        name = f"`{row.library}`"
        lines.append(f"| {name} | {row.primitive} | {row.first} | {row.then} |")
    return "\n".join(lines)
