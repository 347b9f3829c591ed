"""Messages of the Debug Adapter Protocol: a header that tells the length, an empty line, a JSON object.

What comes in is not to be trusted: a header is a few short lines, a body has a bound, and what is neither
ends the conversation with one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from possibly.errors import PossiblyError

LONGEST_LINE = 4_096
MOST_LINES = 16
LARGEST_BODY = 16_000_000
Message = dict[str, Any]


def messages(stream: BinaryIO) -> Iterator[Message]:
    """What a client says, until it says no more."""
    while (size := _size(stream)) is not None:
        body = stream.read(size)
        if len(body) < size:
            return
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise PossiblyError("a message of the client is not JSON") from None
        if not isinstance(found, dict):
            raise PossiblyError("a message of the client is not an object")
        yield found


def _size(stream: BinaryIO) -> int | None:
    """The length that the next header tells; None at the end."""
    size: int | None = None
    for number in range(MOST_LINES):
        line = stream.readline(LONGEST_LINE)
        if not line and not number:
            return None
        name, _, value = line.decode("latin-1").partition(":")
        if not line.strip():
            break
        value = value.strip()
        if name.strip().lower() == "content-length" and value.isdecimal():
            size = int(value)
    if size is None or size > LARGEST_BODY:
        raise PossiblyError("a message of the client has no header with its length")
    return size


class Channel:
    """Where answers and events go; they are numbered."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._number = 0

    def answer(self, request: Message, body: Message | None = None, error: str | None = None) -> None:
        found: Message = {
            "type": "response",
            "request_seq": request.get("seq", 0),
            "command": request.get("command", ""),
            "success": error is None,
        }
        if error is not None:
            found["message"] = error
            body = {"error": {"id": 1, "format": error.replace("{", "(").replace("}", ")"), "showUser": True}}
        self._send(found if body is None else {**found, "body": body})

    def event(self, name: str, **body: Any) -> None:
        self._send({"type": "event", "event": name, "body": body})

    def _send(self, message: Message) -> None:
        self._number += 1
        text = json.dumps({"seq": self._number, **message}, default=str).encode()
        self._stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self._stream.flush()
