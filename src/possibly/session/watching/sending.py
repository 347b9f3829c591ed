"""The other end of the monitor: a client that sends events while the program runs.

Here belongs a small thing for programs to hold: it must never harm them. A monitor that goes away is told
on standard error once, and from then on events are dropped. Events for a durable stream wait on disk instead
(`streams.publishing`).
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, Self

from possibly.errors import PossiblyError
from possibly.session.watching.listening import Address
from possibly.trace.jsonl import FORMAT, VERSION

TOKEN = "POSSIBLY_TOKEN"


Hear = Callable[[Mapping[str, Any]], None]
"""Is told what the monitor says of a line."""


class Lines:
    """A way to a monitor that takes lines as they stand. Several threads may use it.

    With `told`, `line` returns once the monitor has taken the line in, and what path expressions say by then
    was handed to `told`.
    """

    def __init__(self, address: str, token: str | None = None, told: Hear | None = None) -> None:
        self._way = _way(address)
        self._token = token or os.environ.get(TOKEN)
        self._told = told
        self._waiting = threading.Lock()
        self._sent = 0

    @property
    def is_open(self) -> bool:
        return self._way.is_open

    def header(self, processes: list[dict[str, Any]], shared: Mapping[str, Any]) -> None:
        fields: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        if self._token and self._way.has_token:
            fields["token"] = self._token
        if self._told is not None:
            fields["answers"] = True
        self.line({**fields, "processes": processes, "shared": dict(shared)})

    def line(self, fields: Mapping[str, Any]) -> None:
        data = json.dumps(fields).encode() + b"\n"
        if self._told is None:
            self._way.put(data)
            return
        with self._waiting:
            self._way.put(data)
            self._sent += 1
            heard = list(self._way.answers(self._sent)) if self._sent > 1 else []
        for each in heard:
            self._told(each)

    def close(self) -> None:
        self._way.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Way(Protocol):
    """How lines get to a monitor."""

    has_token: bool
    """Whether the monitor asks who sends; a stream has asked already."""

    @property
    def is_open(self) -> bool: ...

    def put(self, lines: bytes) -> None: ...

    def answers(self, count: int) -> Iterator[Mapping[str, Any]]:
        """What is told until so many lines were taken in; nothing where nobody answers."""

    def close(self) -> None: ...


def _way(address: str) -> _Way:
    from possibly.session.watching.streams.messages import is_stream

    if not is_stream(address):
        return _Socket(Address.of(address))
    from possibly.session.watching.streams.publishing import Publisher

    return Publisher(address)


class _Socket:
    has_token = True

    def __init__(self, address: Address) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = _connected(address)
        self._reader = self._socket.makefile("rb")

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    def put(self, lines: bytes) -> None:
        with self._lock:
            if self._socket is None:
                return
            try:
                self._socket.sendall(lines)
            except OSError as error:
                self._socket.close()
                self._socket = None
                print(f"possibly: the monitor is gone, events are lost: {error}", file=sys.stderr)

    def answers(self, count: int) -> Iterator[Mapping[str, Any]]:
        while self._socket is not None:
            try:
                line = self._reader.readline()
            except OSError:
                line = b""
            if not line:
                return  # it is gone, which `put` tells
            answer = json.loads(line)
            if "told" in answer:
                yield answer["told"]
            elif answer["taken"] >= count:
                return

    def close(self) -> None:
        with self._lock:
            if self._socket is not None:
                self._reader.close()
                self._socket.close()
                self._socket = None


class Sender(Lines):
    """What programs hold. Several threads may use it; their events go in the order of the calls."""

    def __init__(
        self,
        address: str,
        processes: Mapping[str, Mapping[str, Any]] | None = None,
        shared: Mapping[str, Any] | None = None,
        *,
        token: str | None = None,
        told: Hear | None = None,
    ) -> None:
        super().__init__(address, token, told)
        declared = [{"name": name, "init": dict(init)} for name, init in (processes or {}).items()]
        self.header(declared, shared or {})

    def event(self, p: str, **fields: Any) -> None:
        """An event of process p, with the fields of a trace file: `event("P1", set={"x": 2})`.

        With `told` it returns once the monitor has taken the event in, and what path expressions say by then
        was handed to `told`: a program that stops there stops right after its event.
        """
        self.line({"p": p, **fields})


def _connected(address: Address) -> socket.socket:
    try:
        if not address.path:
            return socket.create_connection((address.host, address.port))
        found = socket.socket(socket.AF_UNIX)
        try:
            found.connect(address.path)
        except OSError:
            found.close()
            raise
    except OSError as error:
        raise PossiblyError(
            f"no monitor answers at {address}: {error.strerror or error}", hint="start `possibly watch` first"
        ) from None
    return found
