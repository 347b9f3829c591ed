"""What a macro-step is made of: operations, messages, choices, states; plain data, made and read everywhere.

A process is stopped at its pending `Operation`: all of its code up to there has run. A macro-step lets some
operations complete; the processes that did them stop again directly after them, which is the collective
breakpoint, and their states there are what claims speak of. (A process that could not complete its
operation is seen where it waits.) "Integrating temporal assertions into a parallel debugger", section 2.

Names do not depend on the choices that are made later: a message is named by its sender and how many it has
sent (`Producer#2`), a receive by its process and how many it has posted (`Buffer?3`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

Process = str
Channel = str
MessageName = str
ReceiveName = str


class Receive(NamedTuple):
    """A receive that was posted: blocking, or by a request that is waited for later."""

    name: ReceiveName
    process: Process
    channels: tuple[Channel, ...]
    source: Process | None = None
    """None: from anybody, a wildcard."""
    tag: str | None = None
    peeks: bool = False
    """It looks at a message and leaves it where it is."""
    optional: bool = False
    """It need not wait: it may find nothing."""
    mailbox: bool = False
    """Its channel is a mailbox, not a queue (see `Operation.order`)."""


class Turn(NamedTuple):
    """A task of an event loop goes on for the so-many-th time; messages that it waits for do not count."""

    task: int
    """Its number in the loop."""
    number: int


class Started(NamedTuple):
    """A task of an event loop was started."""

    by: Turn
    acts: int
    """Puts and gets that whoever started it had done."""
    place: int
    """How many tasks were started before it."""


class Operation(NamedTuple):
    """What a process is about to do.

    kinds: `send`, `receive`, `wait`, `collective` are communication; `join`, `end`, `go` and `await` (of
    something inside an event loop) are not, and make no macro-step of their own.
    """

    kind: str
    text: str = ""
    """As the user knows it: `recv(ANY_SOURCE)`."""
    at: str = ""
    channel: Channel = ""
    to: Process = ""
    """The receiver of a send, where only one process can be it."""
    tag: str | None = None
    synchronous: bool = False
    """The send completes only together with its receive."""
    capacity: int = 0
    """So many messages fit into the channel; 0: any number."""
    order: str = "causal"
    """Of the channel. `source`: a mailbox, messages of one sender stay in order. `causal`: a queue, a message
    enters when it is sent. `later`: a queue, it enters some time after that."""
    receive: Receive | None = None
    requests: tuple[ReceiveName, ...] = ()
    """What a `wait` waits for."""
    first: bool = False
    """The wait is for one of them."""
    optional: bool = False
    """The wait may also find that none of them is done, or, if it is for all of them, that one is not."""
    posts: tuple[Receive, ...] = ()
    """Receives posted since the operation before."""
    sends: tuple[Any, ...] = ()
    """Sends since the operation before that did not stop the process: operations like this one."""
    members: tuple[Process, ...] = ()
    """Of a collective, which `channel` names: those who must have come to it before this process goes on."""
    target: Process = ""
    """Of a join."""
    loop: str = ""
    """Of a task: the thread whose event loop runs it."""
    suspended: bool = False
    """Before it the task waited for something that is no message, or began."""
    after: tuple[tuple[Process, int], ...] = ()
    """What that was: tasks, and how many puts and gets each had done (see `loops`)."""
    turn: Turn | None = None
    """Of a task: the turn in which it comes to this."""
    started: Started | None = None
    """Of the first put or get of a task: who started the task."""
    touched: tuple[tuple[str, bool], ...] = ()
    """Files that were opened since the operation before, and whether to write."""
    seen: Any = None
    """How the process is seen after a send that did not stop it (a `Seen`)."""
    value: tuple[Any, ...] = ()
    """Of a send: what is sent, as plain data; empty where that is not told."""


class Message(NamedTuple):
    name: MessageName
    sender: Process
    channel: Channel
    tag: str | None
    number: int
    """How many its sender had sent, with this one."""
    entry: int
    """The event at which it came into the channel (see `matching.Before`)."""
    order: str
    synchronous: bool
    to: Process = ""
    at: str = ""
    value: tuple[Any, ...] = ()
    """What it carries, as plain data, if that was told."""


class Choice(NamedTuple):
    """One thing that need not happen in one way only.

    kinds: `match` a receive with a message, `take` a message from a queue, `nothing` for an optional
    receive, `enter` of a message into a channel of bounded capacity, `first` of several requests that a
    process waits for.
    """

    kind: str
    receive: str
    message: MessageName = ""
    channel: Channel = ""

    def __str__(self) -> str:
        match self.kind:
            case "nothing":
                return f"{self.receive} finds nothing"
            case "enter":
                return f"{self.message} enters {self.channel}"
            case "first":
                return f"{self.receive} goes on with {self.message}"
        return f"{self.receive} <- {self.message}"

    @property
    def process(self) -> Process:
        return process_of(self.receive)


Selection = tuple[Choice, ...]
"""The choices of one macro-step; empty where there was none to make."""


class Completion(NamedTuple):
    """An operation completes: what its process is told."""

    process: Process
    deliveries: tuple[tuple[ReceiveName, MessageName, Process, str | None], ...] = ()
    """Receives of this process that are matched now, in the order in which messages are to be taken:
    (receive, message, sender, tag)."""
    first: ReceiveName = ""
    """The request that a wait for one of several goes on with."""
    nothing: bool = False


class Seen(NamedTuple):
    """A process as it is seen at a breakpoint."""

    at: str = ""
    label: str = ""
    function: str = ""
    variables: dict[str, Any] = {}  # noqa: RUF012 - never written to
    globals: dict[str, Any] = {}  # noqa: RUF012
    ended: bool = False


class MadeClaim(NamedTuple):
    """A claim that a process of the program made."""

    process: Process
    text: str
    at: str
    predicates: tuple[str, ...] = ()
    """Names that are Python functions of the process."""


class Moment(NamedTuple):
    """What a system reports when all its processes have stopped."""

    pending: dict[Process, Operation]
    """Of the processes that went on since the moment before."""
    waiting: dict[Process, Seen]
    """Their states at these operations."""
    breaks: dict[Process, Seen]
    """Their states directly after the operations that completed."""
    started: tuple[tuple[Process, Process | None, tuple[tuple[str, bool], ...]], ...] = ()
    """Processes that began since, each with the one that started it and the files that it had opened."""
    claims: tuple[MadeClaim, ...] = ()
    failures: tuple[tuple[Process, str], ...] = ()
    """Uncaught exceptions: process and last line of the message."""
    uncontrolled: tuple[str, ...] = ()
    """What the processes do that cannot be controlled."""
    assumed: tuple[str, ...] = ()
    """What is taken for granted of them and cannot be seen."""
    files: tuple[str, ...] = ()
    """Files of the program that were imported since."""
    daemons: tuple[Process, ...] = ()
    """Processes that began since and are not waited for at the end."""


def process_of(name: str) -> Process:
    """The process that a message `P#3` or a receive `P?3` belongs to, whatever that is called."""
    return name.rstrip("0123456789")[:-1]
