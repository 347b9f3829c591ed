"""The way to the controller: a process tells what it is about to do, waits, does it, and is seen after it.

A process here is a thread; each has its own connection. `arrive` tells the operation and waits until the
controller lets it complete; while it waits it evaluates predicates that the controller asks for. `leave`
sets the local breakpoint: directly after the statement that contains the operation, that is when the
interpreter comes to the next line of that function, or leaves it. There the process tells its variables,
and goes on to its next operation, unless it is held, line by line, for the user.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from possibly.control.macro.inside import seen as looks
from possibly.control.macro.inside.known import Known
from possibly.control.macro.inside.state import SystemState
from possibly.control.macro.model import Completion, MadeClaim, Operation, Receive
from possibly.control.macro.wire import ClosedError, Wire
from possibly.probes import claiming, port

Trace = Callable[[FrameType, str, Any], Any]


class Local(threading.local):
    """What each thread has for itself."""

    gate: Gate | None = None


local = Local()
socket_path = ""


class Gate:
    """The connection of one process."""

    def __init__(self, name: str, wire: Any = None) -> None:
        self.name = name
        self.wire: Any = Wire.to(socket_path) if wire is None else wire
        self.known = Known()
        self.is_asked = False
        """A predicate is evaluated: what that touches is not the program's doing."""
        self.kept: dict[str, Any] = {}
        self.spaces: looks.Spaces = {}
        self.receives = 0
        self.sends = 0
        self.posts: list[Receive] = []
        self._sent: list[Operation] = []
        self.claims: list[MadeClaim] = []
        self.fetch: dict[str, Callable[[str, str, str | None], None]] = {}
        """How to take the message of a receive that was posted."""
        self._armed: FrameType | None = None
        self._at = ""
        self._held = False
        self._state: SystemState | None = None
        self.wire.send("hello", name, os.getpid())

    # ---- operations -----------------------------------------------------------------------------

    def receive_name(self) -> str:
        self.receives += 1
        return f"{self.name}?{self.receives}"

    def arrive(self, operation: Operation, payload: bytes | None = None) -> tuple[Completion, Any]:
        """Tells the operation and waits until it may complete; also what came with the completion."""
        self.tell_operation(operation, payload, sys._getframe(1))
        return self._wait()

    def tell_operation(self, operation: Operation, payload: bytes | None, frame: FrameType | None) -> None:
        if self._armed is not None:
            self._break(self._armed)
        frame = looks.user_frame(frame)
        self._at = looks.place(frame)
        operation = operation._replace(at=self._at, posts=tuple(self.posts), sends=self.taken_sends())
        self.posts = []
        if operation.kind == "send":
            self.sends += 1
            self.known.publish(f"{self.name}#{self.sends}")
        waiting = looks.seen(frame, self.kept, self.spaces, self._at, operation.kind == "end")
        claims, self.claims = self.claims, []
        self.wire.send("at", operation, waiting, claims, payload)

    def send_at_once(self, operation: Operation) -> None:
        """A send that does not stop the process; it is told with the next operation."""
        self.sends += 1
        self.known.publish(f"{self.name}#{self.sends}")
        self._sent.append(operation._replace(at=looks.place(looks.user_frame(sys._getframe(1)))))

    def taken_sends(self) -> tuple[Operation, ...]:
        found, self._sent = tuple(self._sent), []
        return found

    def _wait(self) -> tuple[Completion, Any]:
        """Until the controller says go. When it has gone there is nothing left to do."""
        while True:
            try:
                what, *rest = self.wire.receive()
            except ClosedError:
                os._exit(0)
            match what:
                case "go":
                    completion, payload, self._held = rest
                    self.learn(completion)
                    return completion, payload
                case "line":
                    return Completion(self.name), None
                case _:
                    self.answer(what, *rest)

    def learn(self, completion: Completion) -> None:
        for _, message, _, _ in completion.deliveries:
            self.known.learn(message)

    def answer(self, what: str, *rest: Any) -> None:
        """The controller wants to know something."""
        if what == "state":
            self._state = SystemState(*rest)
        elif what == "evaluate":
            self.wire.send("value", self._evaluated(rest[0]))

    def _evaluated(self, name: str) -> bool | str:
        tracing = sys.gettrace()
        sys.settrace(None)
        self.is_asked = True
        try:
            return bool(claiming.predicates[name](self._state))
        except Exception as error:  # noqa: BLE001 - a predicate is the user's: whatever it raises is reported
            return f"{type(error).__name__}: {error}"
        finally:
            self.is_asked = False
            sys.settrace(tracing)

    # ---- breakpoints ----------------------------------------------------------------------------

    def leave(self) -> None:
        """The operation is done: stop directly after its statement."""
        frame = looks.user_frame(sys._getframe(1))
        if frame is None:
            self.wire.send("break", looks.seen(None, self.kept, self.spaces, self._at))
            return
        self._armed = frame
        for each in looks.user_frames(frame):
            each.f_trace = self._on_event
            each.f_trace_lines = each is frame
        sys.settrace(self._on_call)

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Trace | None:
        """Functions that are called from now on are followed only while the user goes by line."""
        return self._on_event if self._held and looks.is_user(frame) else None

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> Trace | None:
        if frame is self._armed and event in ("line", "return"):
            self._break(frame)
        elif self._held and event == "line":
            self._hold(frame)
        if event == "return" and frame.f_locals is not frame.f_globals:
            self.kept.update(looks.plain(frame.f_locals))
        return self._on_event

    def _break(self, frame: FrameType) -> None:
        self._armed = None
        frame.f_trace_lines = self._held
        self.wire.send("break", looks.seen(frame, self.kept, self.spaces, self._at))
        if self._held:
            self._hold(frame)

    def _hold(self, frame: FrameType) -> None:
        """Directly after the operation, or after a line: what the user wants next."""
        at = looks.place(frame)
        self.wire.send("line", at, looks.seen(frame, self.kept, self.spaces, at))
        self._wait()

    # ---- the rest -------------------------------------------------------------------------------

    def claim(self, formula: str, frame: FrameType) -> None:
        names = tuple(sorted(claiming.predicates))
        self.claims.append(MadeClaim(self.name, formula, looks.place(frame), names))

    def tell(self, *message: Any) -> None:
        self.wire.send(*message)

    def leave_for_ever(self) -> None:
        """A thread or a child process ends, and does not stay."""
        self.end()
        self.known.publish(f"end {self.name}")
        if local.gate is self:
            local.gate = None
        waiting = looks.seen(None, self.kept, self.spaces, self._at, ended=True)
        claims, self.claims = self.claims, []
        try:
            last = Operation("end", "end", posts=tuple(self.posts), sends=self.taken_sends())
            self.wire.send("at", last, waiting, claims, None)
        except ClosedError:
            os._exit(0)
        self.wire.close()

    def end(self) -> None:
        """The process has come to its end; nothing of it is followed any more."""
        sys.settrace(None)
        if self._armed is not None:
            self.wire.send("break", looks.seen(None, self.kept, self.spaces, self._at))
            self._armed = None


find: Callable[[], Gate | None] = lambda: None  # noqa: E731
"""The gate of the task that runs, if one does."""


def here() -> Gate:
    """The gate of the running task or thread."""
    found = find()
    if found is not None:
        return found
    if local.gate is None:
        local.gate = Gate(threading.current_thread().name)
        local.gate.tell("uncontrolled", f"the thread {local.gate.name} was started by a library")
    return local.gate


def open_gate(name: str) -> Gate:
    local.gate = Gate(name)
    return local.gate


def heard(formula: str, frame: FrameType) -> None:
    here().claim(formula, frame)


def told(text: str) -> None:
    """Something that the controller cannot control."""
    here().tell("uncontrolled", text)


def refuse(what: str) -> None:
    """The program does something without which it makes no sense to go on: it stays here."""
    found = local.gate or here()
    found.tell("refused", what)
    while True:
        try:
            found.wire.receive()
        except ClosedError:
            os._exit(0)


_RUNTIME = os.path.join(os.path.dirname(__file__), "..", "..", "runtime")
_HOOKS = os.path.abspath(_RUNTIME) + os.sep
"""Where calls of rewritten source pass through."""


def by_library(depth: int = 2) -> bool:
    """Whether the caller of our caller is code of a library, as `port.called_by_library`."""
    while sys._getframe(depth).f_code.co_filename.startswith(_HOOKS):
        depth += 1
    return port.called_by_library(depth + 1)


_made: dict[str, int] = {}


def channel_name(word: str) -> str:
    """`main.queue2`: the second one that main made."""
    key = f"{here().name}.{word}"
    _made[key] = _made.get(key, 0) + 1
    return f"{key}{_made[key]}"
