"""What a history shows, as text and as JSON: a verdict, the shortest bad prefix drawn, what was reached.

The drawing has a row for each process and a bar for each operation, `|write 4----|`. Bars that overlap in the
drawing overlap in the history. It shows the end of the prefix, as much as the width allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from possibly.session.histories.linearizable import HistoryReport
from possibly.trace.histories.model import Keyword, Map, Operation, Outcome, Value, shown
from possibly.verdict.histories import Prefix
from possibly.verdict.model import Truth
from possibly.views.text.words import count_text, elided, plain

WORDS = {True: "linearizable", False: "NOT LINEARIZABLE", None: "undecided"}
LONGEST_NAME = 40
MOST_EVENTS = 60
"""Calls and returns that a drawing looks back at."""
LAST = 12
"""Operations of an order that are told."""


def lines_of(report: HistoryReport, path: str, width: int) -> Iterator[str]:
    """The report for a reader."""
    answer, history = report.answer, report.history
    processes = count_text(len({each.process for each in history}), "process")
    counted = f"{count_text(len(history), 'operation')} of {processes}"
    yield plain(f"{WORDS[answer.holds]}  {path} as a {report.model}: {counted}")
    if answer.reason is not None:
        yield f"  {answer.reason}"
    if answer.prefix is not None:
        yield ""
        yield from _prefix_lines(answer.prefix, report, width)


def _prefix_lines(prefix: Prefix, report: HistoryReport, width: int) -> Iterator[str]:
    which = "The shortest prefix that cannot be" if report.answer.shortest else "A prefix that cannot be"
    key = f" (key {shown(prefix.key)})" if prefix.key is not None else ""
    yield f"{which} linearised: the first {prefix.length:,} of {report.history.length:,} calls and returns."
    yield plain(f"No order of them allows the last return: {sentence(prefix.stuck)}{key}.")
    yield ""
    yield from (f"  {line}" for line in drawing(prefix, width - 2))
    yield ""
    if prefix.reached:
        named = [operation_text(each, prefix.length) for each in prefix.reached[-LAST:]]
        before = "…, " if len(prefix.reached) > LAST else ""
        yield plain(f"An order of those before: {before}{', '.join(named)}.")
    yield plain(f"After it the state is {elided(shown(prefix.state), LONGEST_NAME * 2)}.")


def sentence(operation: Operation) -> str:
    line = f", called on line {operation.line}" if operation.line else ""
    return f"{operation_text(operation)} of process {operation.process}{line}"


def operation_text(operation: Operation, length: int | None = None) -> str:
    """`write 4`, `read -> 3`, `cas [1 2] failed`; with a length as it was known then."""
    argument = "" if operation.argument is None else f" {elided(shown(operation.argument), LONGEST_NAME)}"
    is_open = operation.returned is None or (length is not None and operation.returned >= length)
    if is_open:
        return f"{operation.name}{argument} ?"
    if operation.outcome is Outcome.FAILED:
        return f"{operation.name}{argument} failed"
    if operation.result == operation.argument and operation.argument is not None:
        return f"{operation.name}{argument}"
    is_silent = operation.result is None and operation.argument is not None
    answer = "" if is_silent else f" -> {elided(shown(operation.result), LONGEST_NAME)}"
    return f"{operation.name}{argument}{answer}"


# ---- the drawing --------------------------------------------------------------------------------


def drawing(prefix: Prefix, width: int) -> list[str]:
    """The operations of the last events of the prefix, a row a process."""
    moments = sorted(
        moment
        for each in prefix.operations
        for moment in (each.called, each.returned)
        if moment is not None and moment < prefix.length
    )[-MOST_EVENTS:]
    names = max(len(plain(each.process)) for each in prefix.operations) + 2
    while True:
        shown_ones = [each for each in prefix.operations if _end(each, prefix) >= moments[0]]
        columns = _columns(shown_ones, moments, prefix)
        if columns[moments[-1]] + names + 2 <= width or len(moments) <= 2:
            return [_row(row, names, columns, prefix, moments) for row in _rows(shown_ones)]
        moments = moments[max(1, len(moments) // 8) :]


def _end(operation: Operation, prefix: Prefix) -> int:
    is_open = operation.returned is None or operation.returned >= prefix.length
    return prefix.length if is_open or operation.returned is None else operation.returned


def _columns(operations: Sequence[Operation], moments: Sequence[int], prefix: Prefix) -> dict[int, int]:
    """Where each moment stands, so that every label fits between its call and its return."""
    begins = {_end(each, prefix): each for each in operations}
    columns: dict[int, int] = {}
    last = -1
    for moment in moments:
        column = last + 1
        if moment in begins:
            each = begins[moment]
            start = columns.get(each.called, 0)
            column = max(column, start + len(_label(each, prefix)) + 1)
        columns[moment] = last = column
    return columns


def _label(operation: Operation, prefix: Prefix) -> str:
    return plain(operation_text(operation, prefix.length))


def _rows(operations: Sequence[Operation]) -> list[list[Operation]]:
    rows: dict[str, list[Operation]] = {}
    for each in operations:
        rows.setdefault(each.process, []).append(each)
    return list(rows.values())


def _row(
    operations: Sequence[Operation],
    names: int,
    columns: dict[int, int],
    prefix: Prefix,
    moments: Sequence[int],
) -> str:
    text = plain(operations[0].process).ljust(names)
    for each in operations:
        start = columns.get(each.called)
        text = text.ljust(names + (start or 0))
        text += "…" if start is None else "|"
        end = columns.get(_end(each, prefix))
        stop = names + (columns[moments[-1]] if end is None else end)
        text += _label(each, prefix)
        text = text.ljust(stop, "-")
        text += "->" if end is None else "X" if each == prefix.stuck else "|"
    return text


# ---- JSON ---------------------------------------------------------------------------------------


def document(report: HistoryReport, path: str) -> dict[str, Any]:
    """The report for a program."""
    answer, history = report.answer, report.history
    numbers = {each.called: number for number, each in enumerate(history)}
    return {
        "history": path,
        "model": report.model,
        "operations": len(history),
        "processes": len({each.process for each in history}),
        "verdict": Truth.of(answer.holds).value,
        "configurations": answer.configurations,
        "seconds": round(report.seconds, 6),
        "reason": answer.reason,
        "orders": None
        if answer.holds is not True
        else [
            {"key": jsonable(key), "order": [numbers[each.called] for each in order]}
            for key, order in answer.orders.items()
        ],
        "prefix": None if answer.prefix is None else _prefix(answer.prefix, report, numbers),
    }


def _prefix(prefix: Prefix, report: HistoryReport, numbers: dict[int, int]) -> dict[str, Any]:
    return {
        "length": prefix.length,
        "of": report.history.length,
        "shortest": report.answer.shortest,
        "key": jsonable(prefix.key),
        "stuck": {"number": numbers[prefix.stuck.called], **_operation(prefix.stuck)},
        "operations": [numbers[each.called] for each in prefix.operations],
        "reached": [numbers[each.called] for each in prefix.reached],
        "state": jsonable(prefix.state),
    }


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "process": operation.process,
        "name": operation.name,
        "argument": jsonable(operation.argument),
        "result": jsonable(operation.result),
        "outcome": operation.outcome.value,
        "line": operation.line,
    }


def jsonable(value: Value) -> Any:
    """The value in JSON; what JSON has no form for as a text."""
    match value:
        case tuple():
            return [jsonable(each) for each in value]
        case frozenset():
            return sorted((jsonable(each) for each in value), key=str)
        case Map():
            return {
                shown(key) if not isinstance(key, str) else key: jsonable(each) for key, each in value.items
            }
        case Keyword(name):
            return {"true": True, "false": False, "missing": None}.get(name, name)
        case None | bool() | int() | float() | str():
            return value
    return repr(value)
