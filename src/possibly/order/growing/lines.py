"""Lines that arrive one by one: their form, what they wait for, and what they are once taken in.

Here belongs the single line; how lines find each other is in `growing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from possibly.errors import TraceError
from possibly.order.computation import Place
from possibly.trace.intern import quoted, shown

ONLINE_FIELDS = frozenset({"k", "parties"})
"""Fields that only a line that arrives by itself needs; a trace file does without them."""


class Sent(NamedTuple):
    """A message: who sent it to whom."""

    place: Place
    to: tuple[str, ...] | None
    """None: to whoever receives it."""
    tag: str | None


class Flight(NamedTuple):
    """A message that has been sent."""

    sent: Sent
    left: set[str] | None
    """Who has not received it yet; None: nobody has, and anybody may."""


class Line(NamedTuple):
    """One line that was taken in."""

    name: str
    process: int
    position: int
    needs: tuple[Place, ...]
    """Direct predecessors on other processes, the other lines of its joint event among them."""
    fields: Mapping[str, Any]
    sends: Sent | None = None
    receives: Sent | None = None

    @property
    def place(self) -> Place:
        return self.process, self.position


Step = tuple[Line, ...]
"""What happens at once: one line, or all lines of a joint event."""


class Arrived(NamedTuple):
    """A line that has arrived and was found well-formed."""

    fields: Mapping[str, Any]
    owner: str
    position: int
    number: int | None
    """The line in the file or stream, for errors."""

    @property
    def name(self) -> str:
        return str(self.fields.get("id", f"{self.owner}:{self.position}"))

    def error(self, message: str) -> TraceError:
        return TraceError(f"{quoted(self.name)}: {message}", line=self.number)


Missing = tuple[str, str]
"""What a line waits for: ("event", name), ("message", name), or ("order", "P:k") for the line before it."""


def missing_of(lines: Sequence[Arrived]) -> Iterator[Missing]:
    """What the lines need, without what they bring themselves."""
    own = {line.name for line in lines} | {f"{line.owner}:{line.position}" for line in lines}
    sent = {line.fields.get("msg") for line in lines if line.fields.get("kind") == "send"}
    for line in lines:
        if line.position > 1:
            yield "order", f"{line.owner}:{line.position - 1}"
        for name in line.fields.get("after", ()):
            if name not in own:
                yield "event", name
        if line.fields.get("kind") == "receive" and line.fields.get("msg", None) not in (None, *sent):
            yield "message", line.fields["msg"]


def reason(missing: Missing) -> str:
    return f"the send of {quoted(missing[1])}" if missing[0] == "message" else f"event {quoted(missing[1])}"


# ---- the form of a line -----------------------------------------------------------------------------

_FORMS: Mapping[str, type] = {
    **dict.fromkeys(("p", "id", "kind", "msg", "tag", "meet", "fn", "at", "label", "parent"), str),
    **dict.fromkeys(("after", "to", "read", "parties"), list),
    **dict.fromkeys(("set", "write"), dict),
    "k": int,
}
_WORDS: Mapping[type, str] = {
    str: "a string",
    list: "a list of names",
    dict: "an object of variables and values",
    int: "a number from 1",
}


def checked_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields, one name made a list of one where the format wants a list; an error if a form is wrong."""
    if not fields.get("p"):
        raise TraceError('an event needs "p", its process')
    lists: dict[str, list[str]] = {}
    for key, value in fields.items():
        form = _FORMS.get(key)
        if form is list and type(value) is str:
            lists[key] = [value]
        elif form is not None and not _has_form(form, value):
            raise TraceError(f'"{key}" must be {_WORDS[form]}, found {shown(value)}')
    if "t" in fields and (type(fields["t"]) not in (int, float) or not isfinite(fields["t"])):
        raise TraceError(f'"t" must be a number of seconds, found {shown(fields["t"])}')
    found = {**fields, **lists} if lists else fields
    if "" in found.get("to", ()):
        raise TraceError('"to" has an empty name')
    if "kind" in fields or "msg" in fields:
        _check_kind(found)
    return found


def _has_form(form: type, value: Any) -> bool:
    if type(value) is not form:
        return False
    if isinstance(value, list):
        return all(type(name) is str for name in value)
    return not isinstance(value, int) or value >= 1


def _check_kind(fields: Mapping[str, Any]) -> None:
    kind = fields.get("kind", "internal")
    if "msg" in fields and kind == "internal":
        raise TraceError("an event with msg needs kind send or receive")
    if kind in ("enter", "exit") and "fn" not in fields:
        raise TraceError(f"an event of kind {kind} needs fn")
    if len(set(fields.get("to", ()))) < len(fields.get("to", ())):
        raise TraceError('"to" names a process twice')
