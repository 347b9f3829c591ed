"""The words of a program that is not Python, as lines of JSON: version 1 of the protocol.

Law: docs/protocol.md says what a line means; here each becomes the message that a Python process would have
sent, so nobody else knows the difference. A line that says something else is an error of that program, told
with the line. What a process has received so far is counted here, since names are ours.
"""

from __future__ import annotations

import json
from collections import deque
from typing import Any

from possibly.control.macro.model import Completion, MadeClaim, Operation, Receive, Seen
from possibly.errors import ControlError

VERSION = 1
KINDS = ("send", "receive", "collective", "end")
NO_PREDICATES = "a program that is not Python has no predicates"


class Lines:
    """Of one connection."""

    def __init__(self) -> None:
        self._name = ""
        self._received = 0
        self._answers: deque[tuple[Any, ...]] = deque()
        """What is known without asking the program."""

    # ---- from the program -------------------------------------------------------------------------

    def read(self, buffer: bytearray) -> tuple[Any, ...] | None:
        """The next message in the buffer, which is taken out of it."""
        if self._answers:
            return self._answers.popleft()
        line, newline, rest = bytes(buffer).partition(b"\n")
        if not newline:
            return None
        buffer[:] = rest
        try:
            return self._message(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            told = line[:200].decode(errors="replace")
            hint = "the manual's chapter on the protocol says what is"
            raise ControlError(
                f"{self._name or 'a program'} says what is no line: {told}", hint=hint
            ) from error

    def _message(self, line: dict[str, Any]) -> tuple[Any, ...]:
        match next(iter(line), None):
            case "hello":
                return self._hello(line)
            case "at":
                operation = self._operation(line["at"])
                claims = [MadeClaim(self._name, str(each), operation.at) for each in line.get("claims", ())]
                seen = _seen(line.get("seen", {}), operation.at)
                return "at", operation, seen._replace(ended=operation.kind == "end"), claims, None
            case "break":
                return "break", _seen(line["break"], "")
            case "failed" | "uncontrolled" as word:
                return word, str(line[word])
        raise ValueError(line)

    def _hello(self, line: dict[str, Any]) -> tuple[Any, ...]:
        if line["protocol"] != VERSION:
            raise ControlError(f"a program speaks version {line['protocol']} of the protocol, not {VERSION}")
        self._name = str(line["hello"])
        return "hello", self._name, int(line["pid"])

    def _operation(self, told: dict[str, Any]) -> Operation:
        kind, channel = told["kind"], str(told.get("channel", ""))
        if kind not in KINDS:
            raise ValueError(kind)
        tag = told.get("tag")
        return Operation(
            kind,
            str(told.get("text", kind)),
            str(told.get("at", "")),
            channel,
            str(told.get("to", "")),
            None if tag is None else str(tag),
            bool(told.get("synchronous", False)),
            order=_order(told),
            receive=self._receive(told, channel) if kind == "receive" else None,
            members=tuple([str(each) for each in told.get("members", ())]),
            value=(told["value"],) if "value" in told else (),
        )

    def _receive(self, told: dict[str, Any], channel: str) -> Receive:
        self._received += 1
        source, tag = told.get("from"), told.get("tag")
        return Receive(
            f"{self._name}?{self._received}",
            self._name,
            (channel,),
            None if source is None else str(source),
            None if tag is None else str(tag),
            optional=bool(told.get("optional", False)),
            mailbox=_order(told) == "source",
        )

    # ---- to the program ---------------------------------------------------------------------------

    def written(self, message: tuple[Any, ...]) -> bytes:
        what, *rest = message
        if what == "go":
            return json.dumps({"go": _completion(rest[0])}).encode() + b"\n"
        if what == "evaluate":
            self._answers.append(("value", NO_PREDICATES, []))
        return b""


def _order(told: dict[str, Any]) -> str:
    found = told.get("order", "source")
    if found not in ("source", "causal", "later"):
        raise ValueError(found)
    return str(found)


def _seen(told: dict[str, Any], at: str) -> Seen:
    variables = dict(told.get("variables", {}))
    return Seen(str(told.get("at", at)), str(told.get("label", "")), str(told.get("function", "")), variables)


def _completion(found: Completion) -> dict[str, Any]:
    if found.nothing or not found.deliveries:
        return {"nothing": True} if found.nothing else {}
    _, message, sender, tag = found.deliveries[-1]
    return {"message": message, "from": sender, "tag": tag}
