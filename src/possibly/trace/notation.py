"""A tiny notation for traces, so that tests and manuals can write a run on one line.

    trace("p: a send(m) x{n=1} | q(n=0): recv(m) b")

Processes are separated by `|` or by new lines; `;` may stand between events, where blanks do as well.
A process is `name:` or `name(variable=value, ...):` with its initial values; quote odd names.
`shared(turn=0)` in front of the processes gives the initial values of shared variables.

An event is a word and what follows it without a blank:

    a               an internal event with the name a
    _               an internal event without a given name
    {x=1,y="s"}     an event that sets local variables; also x=1, a{x=1}, send(m){x=1}
    send(m)         a send; send(m>Q) names the receiver, send(m>Q,R) several; send() has no message
    recv(m)         the receive; recv() has no message
    w(turn=1)       a write of shared variables, r(turn,x) a read; a&w(turn=1)&r(x) attaches them to a
    enter(f)        exit(f), also acquire(l), release(l) and any other kind: kind(name)
    a<b,c           the event happens after b and c
    a%m             the event is part of the joint event (meet) m
    a@"f.py:3"      its source place
    a#label         its label
    a!send(m)       an event named a of that kind

A value is JSON, or a bare word, which means the string. Names of events default to `P:k`.

The lines of a trace stand in a possible order. It is found by taking turns: the processes are visited
in their order again and again, and each visit executes one event whose predecessors (sends, `<`) are all
executed; the lines of a joint event wait for each other and stand together. `order="a b q:1"` says the
order instead, by names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from json.decoder import JSONDecodeError, JSONDecoder
from typing import Any

from possibly.errors import TraceError
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace, Value

_WORD = re.compile(r"[^\W\d][\w.\-]*|\d[\w.\-]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_BLANKS = re.compile(r"[ \t;]*")
_SEPARATORS = re.compile(r"[\s;|]*")
_POSITION = re.compile(r":\d+")
_KINDS = {"recv": "receive", "w": "write", "r": "read"}
_DECODER = JSONDecoder()


@dataclass(slots=True)
class _Line:
    """One event as written: its fields, and the column it starts at."""

    fields: dict[str, Any]
    column: int
    name: str = ""


@dataclass(slots=True)
class _Part:
    """One process as written."""

    name: str
    init: dict[str, Value]
    column: int
    lines: list[_Line] = field(default_factory=list)


def trace(text: str, *, order: str | Sequence[str] | None = None) -> Trace:
    """The trace that the text describes."""
    shared, parts = _Reader(text).read()
    builder = TraceBuilder()
    try:
        builder.header([(part.name, part.init) for part in parts], shared, line=None)
        for line in _Turns(parts).lines() if order is None else _in_order(parts, order):
            try:
                builder.add_fields(line.fields)
            except TraceError as error:
                raise _error(text, error.message, line.column) from None
        return builder.finish()
    except TraceError as error:
        raise (error if error.column else TraceError(error.message, column=1)) from None


def _error(text: str, message: str, offset: int) -> TraceError:
    """Line and column of an offset; the line is left out if there is but one."""
    before = text[:offset]
    line = before.count("\n") + 1 if "\n" in text.strip() else None
    return TraceError(message, line=line, column=offset - (before.rfind("\n") + 1) + 1)


class _Reader:
    """Reads the text from left to right; `at` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def read(self) -> tuple[dict[str, Value], list[_Part]]:
        shared: dict[str, Value] = {}
        self._skip(newlines=True)
        if re.compile(r"shared\(").match(self.text, self.at):
            self.at += len("shared(")
            shared = self._assignments(")")
            self._skip(newlines=True)
        parts: list[_Part] = []
        while self.at < len(self.text):
            self._part(parts)
            self._skip(newlines=True)
        return shared, parts

    def _part(self, parts: list[_Part]) -> None:
        start = self.at
        name = self._word("the name of a process")
        init = self._assignments(")") if self._takes("(") else {}
        if not self._takes(":"):
            raise self._expected('":" after the name of the process')
        if any(part.name == name for part in parts):
            raise _error(self.text, f'process "{name}" stands here twice', start)
        part = _Part(name, init, start)
        parts.append(part)
        self._skip()
        while self.at < len(self.text) and self.text[self.at] not in "|\n":
            part.lines.append(self._event(part))
            self._skip()

    def _event(self, part: _Part) -> _Line:
        line = _Line({"p": part.name}, self.at)
        if self.text[self.at] != "{":
            self._head(line.fields)
        while self.at < len(self.text) and self.text[self.at] in "{<%@#!&":
            self._suffix(line.fields)
        if self.at < len(self.text) and self.text[self.at] not in " \t\r;|\n":
            raise self._expected("a blank after the event")
        line.name = line.fields.get("id", f"{part.name}:{len(part.lines) + 1}")
        return line

    def _head(self, fields: dict[str, Any]) -> None:
        word = self._word("an event")
        if self._takes("("):
            self._kind(word, fields)
        elif self._takes("="):
            fields["set"] = {word: self._value()}
        elif word != "_":
            fields["id"] = word

    def _suffix(self, fields: dict[str, Any]) -> None:
        mark = self.text[self.at]
        self.at += 1
        match mark:
            case "{":
                fields.setdefault("set", {}).update(self._assignments("}"))
            case "<":
                fields.setdefault("after", []).extend(self._words("the name of an event", _POSITION))
            case "%":
                fields["meet"] = self._word("the name of a joint event")
            case "@":
                fields["at"] = self._word("a source place")
            case "#":
                fields["label"] = self._word("a label")
            case _:
                word = self._word("a kind")
                if not self._takes("("):
                    raise self._expected('"("')
                self._kind(word, fields, is_attached=mark == "&")

    def _kind(self, word: str, fields: dict[str, Any], *, is_attached: bool = False) -> None:
        """What stands in the parentheses of kind(...)."""
        if not is_attached or word not in ("w", "r"):
            fields["kind"] = _KINDS.get(word, word)
        if word == "w":
            fields.setdefault("write", {}).update(self._assignments(")"))
            return
        if not self._takes(")"):
            self._argument(word, fields)
            if not self._takes(")"):
                raise self._expected('")"')

    def _argument(self, word: str, fields: dict[str, Any]) -> None:
        if word == "r":
            fields.setdefault("read", []).extend(self._words("a shared variable"))
        elif word in ("enter", "exit"):
            fields["fn"] = self._word("the name of a function")
        else:
            if self.text[self.at : self.at + 1] != ">":
                fields["msg"] = self._word("the name of a message")
            if self._takes(">"):
                fields["to"] = self._words("the name of a process")

    # Small things.

    def _skip(self, *, newlines: bool = False) -> None:
        pattern = _SEPARATORS if newlines else _BLANKS
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _takes(self, mark: str) -> bool:
        is_there = self.text.startswith(mark, self.at)
        self.at += is_there
        return is_there

    def _word(self, what: str) -> str:
        for pattern in (_STRING, _WORD):
            found = pattern.match(self.text, self.at)
            if found:
                try:
                    word = found.group() if pattern is _WORD else json.loads(found.group(), strict=False)
                except ValueError:
                    raise self._expected(what) from None
                self.at = found.end()
                return str(word)
        raise self._expected(what)

    def _words(self, what: str, ending: re.Pattern[str] | None = None) -> list[str]:
        """Words with commas between; `ending` may follow each, as the 1 in the event name p:1."""
        words: list[str] = []
        while not words or self._takes(","):
            word = self._word(what)
            tail = ending.match(self.text, self.at) if ending else None
            words.append(word + (tail.group() if tail else ""))
            self.at = tail.end() if tail else self.at
        return words

    def _assignments(self, closing: str) -> dict[str, Value]:
        """`x=1, y=2` up to the closing bracket."""
        found: dict[str, Value] = {}
        self._skip()
        while not self._takes(closing):
            variable = self._word("a variable")
            if not self._takes("="):
                raise self._expected('"="')
            found[variable] = self._value()
            self._skip()
            if not self._takes(",") and not self.text.startswith(closing, self.at):
                raise self._expected(f'"," or "{closing}"')
            self._skip()
        return found

    def _value(self) -> Value:
        try:
            value, self.at = _DECODER.raw_decode(self.text, self.at)
        except JSONDecodeError:
            return self._word("a value")
        except (ValueError, RecursionError):
            raise self._expected("a smaller value") from None
        return value

    def _expected(self, what: str) -> TraceError:
        rest = self.text[self.at : self.at + 1]
        found = {"": "the end", "\n": "the end of the line"}.get(rest, f'"{rest}"')
        return _error(self.text, f"expected {what}, found {found}", self.at)


def _needs(line: _Line) -> set[str]:
    """What must be executed before: names of events, and messages as `_sent` calls them."""
    needs = set(line.fields.get("after", ()))
    if line.fields.get("kind") == "receive" and "msg" in line.fields:
        needs.add(f"send {line.fields['msg']}")
    return needs


def _sent(line: _Line) -> str:
    """A name for the message that the event sends; no event has a name with a blank and a message."""
    is_send = line.fields.get("kind") == "send" and "msg" in line.fields
    return f"send {line.fields['msg']}" if is_send else line.name


class _Turns:
    """Takes turns, one event a visit. When nothing can move, one event is let through all the same:

    if it waits for the other lines of its joint event only, that is a cycle for others to find;
    if it waits for something that never comes, the builder says so at its column.
    """

    def __init__(self, parts: list[_Part]) -> None:
        self._waiting = [list(reversed(part.lines)) for part in parts]
        self._pending = {name for part in parts for line in part.lines for name in (line.name, _sent(line))}

    def lines(self) -> Iterator[_Line]:
        while any(self._waiting):
            moved = False
            for lines in self._waiting:
                for together in self._ready(lines):
                    moved = True
                    yield self._execute(together)
            if not moved:
                heads = [lines for lines in self._waiting if lines]
                yield self._execute(next((lines for lines in heads if self._is_free(lines[-1])), heads[0]))

    def _is_free(self, line: _Line) -> bool:
        return not _needs(line) & self._pending

    def _ready(self, lines: list[_Line]) -> list[list[_Line]]:
        """The processes that move now, if this one can: itself, or all that its next event joins."""
        meet = lines[-1].fields.get("meet") if lines else None
        if meet is None:
            return [lines] if lines and self._is_free(lines[-1]) else []
        joined = [other for other in self._waiting if any(line.fields.get("meet") == meet for line in other)]
        heads = [other[-1] for other in joined]
        is_ready = all(line.fields.get("meet") == meet and self._is_free(line) for line in heads)
        return joined if is_ready else []

    def _execute(self, lines: list[_Line]) -> _Line:
        line = lines.pop()
        self._pending -= {line.name, _sent(line)}
        return line


def _in_order(parts: list[_Part], order: str | Sequence[str]) -> Iterator[_Line]:
    waiting = {part.name: list(reversed(part.lines)) for part in parts}
    owner = {line.name: part.name for part in parts for line in part.lines}
    for name in order.split() if isinstance(order, str) else order:
        lines = waiting.get(owner.get(name, ""))
        if not lines or lines[-1].name != name:
            raise TraceError(f'the order names "{name}", which is not the next event of a process', column=1)
        yield lines.pop()
    left = [line.name for lines in waiting.values() for line in reversed(lines)]
    if left:
        raise TraceError(f'the order leaves out "{left[0]}"', column=1)
