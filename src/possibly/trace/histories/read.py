"""The text of a history, in any of the formats that are known, recognised by how it begins.

    INFO  jepsen.util - 0  :invoke  :read  nil             the log of Jepsen
    {:process 0, :type :invoke, :f :read, :value nil}      Jepsen's history.edn, porcupine's key-value logs
    {"process": 0, "type": "invoke", "f": "read"}          the same as JSON, a line each or in one list
    {"process": 0, "f": "read", "call": 3, "return": 9, "result": 1}    whole operations with their times

Recorded runs have a reader of their own (`traces`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from possibly.errors import TraceError
from possibly.trace.histories.edn import forms
from possibly.trace.histories.entries import INVOKE, OUTCOMES, Entry, history_from
from possibly.trace.histories.model import History, Keyword, Map, Operation, Outcome, Value

TYPES = (INVOKE, *OUTCOMES)
_LOG = re.compile(r"(\S+)\s+:(invoke|ok|fail|info)\s+:(\S+)(?:\s+(\S.*))?$")
_MARK = re.compile(r"(?:^|\s):(?:invoke|ok|fail|info)\s")
KNOWN = "a log of Jepsen, EDN or JSON with process, type, f and value, or a recorded run"


def read_history(text: str, file: str | None = None) -> History:
    """The history in this text; an error names the line."""
    begin = re.sub(r"\A(?:\s|;[^\n]*\n)*", "", text)[:200]
    if not begin:
        raise TraceError("an empty history", file=file)
    if re.match(r'\{\s*(["}]|$)|\[\s*\{\s*"', begin):
        return _of_documents(_json(text, file), file)
    if re.match(r"[\[({#]", begin):
        return _of_documents(_edn(text, file), file)
    return history_from(_log(text, file), file)


# ---- logs ---------------------------------------------------------------------------------------


def _log(text: str, file: str | None) -> Iterator[Entry]:
    found = False
    for number, line in enumerate(text.split("\n"), start=1):
        if _MARK.search(line) is None:
            continue
        match = _LOG.search(line.rstrip())
        if match is None:
            raise TraceError("not a process, a type, an operation and a value", file=file, line=number)
        found = True
        yield _of_log(match, number, file)
    if not found:
        raise TraceError("no history in it", file=file, hint=KNOWN)


def _of_log(match: re.Match[str], line: int, file: str | None) -> Entry:
    process, kind, name, rest = match.groups()
    values = [value for _, value in forms(rest or "", file, line)]
    if kind in ("fail", "info") and len(values) == 1 and isinstance(values[0], Keyword):
        values.insert(0, None)  # a reason alone: the value is that of the call
    owner = Keyword(process[1:]) if process.startswith(":") else process
    value, error = (*values[:2], None, None)[:2]
    return Entry(owner, kind, name, value, None, error, line)


# ---- documents ----------------------------------------------------------------------------------

Document = tuple[int, Map]


def _json(text: str, file: str | None) -> Iterator[Document]:
    if text.lstrip().startswith("["):
        yield from ((1, each) for each in _parsed(text, file, 1))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _parsed(line, file, number)


def _parsed(text: str, file: str | None, line: int) -> Any:
    try:
        return frozen(json.loads(text))
    except ValueError as error:
        at = getattr(error, "lineno", 1) + line - 1
        raise TraceError(f"not JSON: {getattr(error, 'msg', error)}", file=file, line=at) from None


def _edn(text: str, file: str | None) -> Iterator[Document]:
    for line, form in forms(text, file):
        if isinstance(form, tuple):
            yield from ((line, each) for each in form)
        else:
            yield line, form


def frozen(value: Any) -> Value:
    """A value of JSON as one of a history."""
    if isinstance(value, list):
        return tuple(map(frozen, value))
    if isinstance(value, dict):
        return Map(frozenset((key, frozen(each)) for key, each in value.items()))
    return value


def _of_documents(documents: Iterable[Document], file: str | None) -> History:
    found = []
    for line, document in documents:
        if not isinstance(document, Map):
            raise TraceError("not a map with process, type, f and value", file=file, line=line, hint=KNOWN)
        found.append((line, document))
    if found and found[0][1].get("call") is not None:
        return _of_operations(found, file)
    return history_from((_entry(line, each, file) for line, each in found), file)


def _entry(line: int, document: Map, file: str | None) -> Entry:
    kind, name = _text(document.get("type")), _text(document.get("f"))
    process = document.get("process")
    if kind not in TYPES or name is None or process is None:
        what = "type" if kind not in TYPES else "f" if name is None else "process"
        raise TraceError(
            f"no {what} that is known", file=file, line=line, hint=f"types are {', '.join(TYPES)}"
        )
    value = document.get("value")
    return Entry(process, kind, name, value, document.get("key"), document.get("error"), line)


def _text(value: Value) -> str | None:
    if isinstance(value, Keyword):
        return value.name
    return value if isinstance(value, str) else None


# ---- whole operations ---------------------------------------------------------------------------


def _of_operations(documents: Iterable[Document], file: str | None) -> History:
    """Calls stand before returns of the same time: what may overlap does."""
    rows = [(_time(each, "call", line, file), line, each) for line, each in documents]
    ends = [_time(each, "return", line, file) for _, line, each in rows]
    moments = [(start, 0, number) for number, (start, _, _) in enumerate(rows)]
    moments += [(end, 1, number) for number, end in enumerate(ends) if end is not None]
    called, returned = [0] * len(rows), dict.fromkeys(range(len(rows)), -1)
    for moment, (_, is_return, number) in enumerate(sorted(moments)):
        if is_return:
            returned[number] = moment
        else:
            called[number] = moment
    made = [
        _whole(each, called[number], returned[number], line, file)
        for number, (_, line, each) in enumerate(rows)
    ]
    return History(tuple(sorted(made, key=lambda each: each.called)), len(moments), file)


def _time(document: Map, name: str, line: int, file: str | None) -> Any:
    time = document.get(name)
    missing_allowed = name == "return"
    if time is None and missing_allowed:
        return None
    if isinstance(time, bool) or not isinstance(time, (int, float)) or time != time:
        raise TraceError(f'"{name}" must be a time', file=file, line=line)
    if name == "return" and time < document.get("call"):
        raise TraceError("it returns before it is called", file=file, line=line)
    return time


def _whole(document: Map, called: int, returned: int, line: int, file: str | None) -> Operation:
    name, process = _text(document.get("f")), document.get("process")
    if name is None:
        raise TraceError('no "f" that names the operation', file=file, line=line)
    outcome = Outcome.OK if returned >= 0 else Outcome.UNKNOWN
    if outcome is Outcome.OK and (kind := _text(document.get("type"))) in OUTCOMES:
        outcome = OUTCOMES[kind or ""]
    return Operation(
        "?" if process is None else str(process),
        name,
        document.get("value"),
        document.get("result") if outcome is Outcome.OK else None,
        outcome,
        called,
        returned if outcome is not Outcome.UNKNOWN else None,
        document.get("key"),
        document.get("error"),
        line,
    )
