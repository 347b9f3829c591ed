"""The way to the controller: a process tells what it is about to do, waits, does it, and is seen after it.

A process here is a thread; each has its own connection. `arrive` tells the operation and waits until the
controller lets it complete; while it waits it evaluates predicates that the controller asks for. `leave`
sets the local breakpoint: directly after the statement that contains the operation, that is when the
interpreter comes to the next line of that function, or leaves it. There the process tells its variables,
and goes on to its next operation, unless it is held, line by line, for the user.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from possibly.control.macro.inside import files, names, variables
from possibly.control.macro.inside.clocks import Known
from possibly.control.macro.inside.state import SystemState
from possibly.control.macro.model import Completion, MadeClaim, Operation, Receive
from possibly.control.macro.program.wire import ClosedError, Wire
from possibly.probes import claiming, port

Trace = Callable[[FrameType, str, Any], Any]


class Local(threading.local):
    """What each thread has for itself."""

    gate: Gate | None = None
    is_ours = False
    """What it does just now is our doing, not the program's."""


local = Local()
socket_path = ""
unbuffered = False
"""A standard send of MPI waits for its receive."""
first = ""
"""What the process of the operating system is called itself."""
gates: dict[int, Gate] = {}
"""Of the threads that live, by their numbers."""
is_absent = False
"""The process was started by a library for itself: nothing of it is controlled."""


class Gate:
    """The connection of one process."""

    def __init__(self, name: str, wire: Any = None) -> None:
        self.name = name
        self.wire: Any = _connected() if wire is None else wire
        self.known = Known(name)
        self.is_asked = False
        """A predicate is evaluated: what that touches is not the program's doing."""
        self.kept: dict[str, Any] = {}
        self.spaces: variables.Spaces = {}
        self.touched: dict[str, bool] = {}
        """Files that were opened since the operation before, and whether to write."""
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

    @property
    def knows(self) -> Known:
        """What the task knows that runs in this thread, else the thread."""
        return knowing() or self.known

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
        frame = variables.user_frame(frame)
        self._at = variables.place(frame)
        operation = operation._replace(
            at=self._at, posts=tuple(self.posts), sends=self.taken_sends(), touched=self.taken_touched()
        )
        self.posts = []
        if operation.kind == "send":
            self.sends += 1
            self.knows.publish(f"{self.name}#{self.sends}")
        waiting = variables.seen(frame, self.kept, self.spaces, self._at, operation.kind == "end")
        claims, self.claims = self.claims, []
        if imported := files.fresh():
            self.wire.send("files", imported)
        self.wire.send("at", operation, waiting, claims, payload)

    def send_at_once(self, operation: Operation) -> None:
        """A send that does not stop the process; it is told with the next operation."""
        self.sends += 1
        self.knows.publish(f"{self.name}#{self.sends}")
        frame = variables.user_frame(sys._getframe(1))
        at = variables.place(frame)
        state = variables.seen(frame, self.kept, self.spaces, at)
        self._sent.append(operation._replace(at=at, seen=state))

    def taken_touched(self) -> tuple[tuple[str, bool], ...]:
        found, self.touched = tuple(self.touched.items()), {}
        return found

    def starts(self, child: str, is_daemon: bool = False) -> None:
        """A thread or a process of the program is about to begin."""
        self.tell("expect", child, self.taken_touched(), is_daemon)

    def taken_sends(self) -> tuple[Operation, ...]:
        found, self._sent = tuple(self._sent), []
        return found

    def _wait(self) -> tuple[Completion, Any]:
        """Until the controller says go. When it has gone there is nothing left to do."""
        while True:
            try:
                what, *rest = self._word()
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

    def _word(self) -> tuple[Any, ...]:
        """The next word of the controller; until it comes, a library goes on with what it has begun."""
        pause = SHORT
        while is_busy():
            found: tuple[Any, ...] | None = self.wire.next()
            if found is not None:
                return found
            if select.select([self.wire.end], [], [], pause)[0]:
                break
            pause = min(2 * pause, LONG)
        received: tuple[Any, ...] = self.wire.receive()
        return received

    def learn(self, completion: Completion) -> None:
        for _, message, _, _ in completion.deliveries:
            self.knows.learn(message)

    def answer(self, what: str, *rest: Any) -> None:
        """The controller wants to know something."""
        if what == "state":
            self._state = SystemState(*rest)
        elif what == "content":
            self.wire.send("content", _content())
        elif what == "evaluate":
            found = self._evaluated(rest[0])
            self.wire.send("value", found, self._state._reads if self._state is not None else [])

    def _evaluated(self, name: str) -> bool | str:
        tracing = sys.gettrace()
        sys.settrace(None)
        self.is_asked = True
        try:
            assert self._state is not None
            self._state._reads.clear()
            return bool(claiming.predicates[name](self._state))
        except Exception as error:  # noqa: BLE001 - a predicate is the user's: whatever it raises is reported
            return f"{type(error).__name__}: {error}"
        finally:
            self.is_asked = False
            sys.settrace(tracing)

    # ---- breakpoints ----------------------------------------------------------------------------

    def leave(self) -> None:
        """The operation is done: stop directly after its statement."""
        frame = variables.user_frame(sys._getframe(1))
        if frame is None:
            self.wire.send("break", variables.seen(None, self.kept, self.spaces, self._at))
            return
        self._armed = frame
        for each in variables.user_frames(frame):
            each.f_trace = self._on_event
            each.f_trace_lines = each is frame
        sys.settrace(self._on_call)

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Trace | None:
        """Functions that are called from now on are followed only while the user goes by line."""
        return self._on_event if self._held and variables.is_user(frame) else None

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> Trace | None:
        if frame is self._armed and event in ("line", "return"):
            self._break(frame)
        elif self._held and event == "line":
            self._hold(frame)
        if event == "return" and frame.f_locals is not frame.f_globals:
            self.kept.update(variables.plain(frame.f_locals))
        return self._on_event

    def _break(self, frame: FrameType) -> None:
        self._armed = None
        frame.f_trace_lines = self._held
        self.wire.send("break", variables.seen(frame, self.kept, self.spaces, self._at))
        if self._held:
            self._hold(frame)

    def _hold(self, frame: FrameType) -> None:
        """Directly after the operation, or after a line: what the user wants next."""
        at = variables.place(frame)
        self.wire.send("line", at, variables.seen(frame, self.kept, self.spaces, at))
        self._wait()

    # ---- the rest -------------------------------------------------------------------------------

    def claim(self, formula: str, frame: FrameType) -> None:
        names = tuple(sorted(claiming.predicates))
        self.claims.append(MadeClaim(self.name, formula, variables.place(frame), names))

    def tell(self, *message: Any) -> None:
        self.wire.send(*message)

    def leave_for_ever(self) -> None:
        """A thread or a child process ends, and does not stay."""
        self.end()
        self.known.publish(f"end {self.name}")
        if local.gate is self:
            local.gate = None
            gates.pop(threading.get_ident(), None)
        waiting = variables.seen(None, self.kept, self.spaces, self._at, ended=True)
        claims, self.claims = self.claims, []
        try:
            sends, touched = self.taken_sends(), self.taken_touched()
            last = Operation("end", "end", posts=tuple(self.posts), sends=sends, touched=touched)
            self.wire.send("at", last, waiting, claims, None)
        except ClosedError:
            os._exit(0)
        self.wire.close()

    def end(self) -> None:
        """The process has come to its end; nothing of it is followed any more."""
        sys.settrace(None)
        if self._armed is not None:
            self.wire.send("break", variables.seen(None, self.kept, self.spaces, self._at))
            self._armed = None


is_busy: Callable[[], bool] = lambda: False  # noqa: E731
"""Lets a library go on with what it does only while it is called; whether anything is left of that."""
SHORT, LONG = 0.0005, 0.02
"""Seconds between two such calls, at first and at most."""
digest: Callable[[], bytes | None] = lambda: None  # noqa: E731
"""Of all that the interpreter holds (see `content`)."""
knowing: Callable[[], Known | None] = lambda: None  # noqa: E731
"""What the task knows that runs, if one does."""
find: Callable[[], Gate | None] = lambda: None  # noqa: E731
"""The gate of the task that runs, if one does."""


def _content() -> bytes | None:
    local.is_ours = True
    try:
        return digest()
    finally:
        local.is_ours = False


def _connected() -> Wire:
    local.is_ours = True
    try:
        return Wire.to(socket_path)
    finally:
        local.is_ours = False


def current() -> Gate:
    """The gate of the running task, else of the thread."""
    return find() or here()


def here() -> Gate:
    """The gate of the running thread: what blocks it blocks all of its tasks."""
    if local.gate is None:
        local.gate = gates[threading.get_ident()] = Gate(threading.current_thread().name)
        local.gate.tell("uncontrolled", f"the thread {local.gate.name} was started by a library")
    return local.gate


def open_gate(name: str) -> Gate:
    global first
    first = first or name
    local.gate = gates[threading.get_ident()] = Gate(name)
    return local.gate


def heard(formula: str, frame: FrameType) -> None:
    if not is_absent:
        current().claim(formula, frame)


def told(text: str) -> None:
    """Something that the controller cannot control."""
    if is_absent:
        return
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


OWN = os.path.abspath(os.path.dirname(__file__)) + os.sep
CONTROL = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
_HOOKS = tuple(os.path.join(CONTROL, each, "") for each in ("runtime", "models", "loading", "forking"))
"""Where calls of instrumented code pass through."""


def by_library(depth: int = 2, through: tuple[str, ...] = ()) -> bool:
    """Whether the caller of our caller is code of a library, as `port.called_by_library`.

    `through`: modules that do what they are asked for, so that their callers count.
    """
    if is_absent:
        return True
    while _is_passed(sys._getframe(depth), through):
        depth += 1
    return port.called_by_library(depth + 1)


def _is_passed(frame: FrameType, through: tuple[str, ...]) -> bool:
    return frame.f_code.co_filename.startswith(_HOOKS) or frame.f_globals.get("__name__") in through


def by_context() -> bool:
    """The same for what the user makes by a method of multiprocessing's contexts."""
    is_context = sys._getframe(2).f_globals.get("__name__") == "multiprocessing.context"
    return by_library(4 if is_context else 3)


_made: dict[str, int] = {}


def channel_name(word: str) -> str:
    """Of what the caller makes (see `names`)."""
    return names.channel_name(current().name, word, variables.user_frame(sys._getframe(1)), _made)
