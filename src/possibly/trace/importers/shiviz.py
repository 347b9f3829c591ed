"""ShiViz logs: text that a regular expression takes apart, with vector clocks that say the order.

A log has a parser expression with the groups `host` and `clock` (a JSON object, host to number) and
usually `event` (it becomes the label); other groups are kept as fields and become local variables of the
host, numbers as numbers. A delimiter expression splits a log into executions; its group `trace` names
the one that follows. Expressions may use JavaScript's `(?<name>...)`; `^` and `$` match at lines, as in
ShiViz. What the parser does not match is skipped. The expressions are the user's own, so nothing guards
against one that takes for ever on a long line.

What the clocks say about the order: `clocks`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from possibly.errors import TraceError
from possibly.trace.importers.clocks import Record, clock_of, trace_of_clocks
from possibly.trace.importers.scalars import named_groups, scalar
from possibly.trace.intern import decoded
from possibly.trace.model import Trace

PARSER = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"


def import_shiviz(
    text_lines: Iterable[str],
    parser_regex: str | None = None,
    delimiter_regex: str | None = None,
    *,
    file: str | None = None,
) -> list[tuple[str, Trace]]:
    """The executions of a log, each with its name; without a delimiter there is one, called ""."""
    parser = named_groups(parser_regex or PARSER, "parser", ("host", "clock"))
    delimiter = named_groups(delimiter_regex, "delimiter", ()) if delimiter_regex else None
    text = "\n".join(line.rstrip("\r\n") for line in text_lines)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    executions = []
    try:
        for name, start, end in _parts(text, delimiter):
            records = [_record(found, starts) for found in parser.finditer(text, start, end)]
            if records:
                executions.append((name, trace_of_clocks(records, file)))
    except TraceError as error:
        raise TraceError(error.message, file=file, line=error.line, hint=error.hint) from None
    if not executions:
        raise TraceError("the parser expression matches nothing in this log", file=file)
    return executions


def _parts(text: str, delimiter: re.Pattern[str] | None) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of each execution; a name that comes again gets a number."""
    if delimiter is None:
        yield "", 0, len(text)
        return
    names: set[str] = set()
    name, start = None, 0
    for number, found in enumerate([*delimiter.finditer(text), None], 1):
        end = len(text) if found is None else found.start()
        if text[start:end].strip():
            unique = base = name or f"execution {len(names) + 1}"
            while unique in names:
                unique = f"{base} ({number})"
                number += 1
            names.add(unique)
            yield unique, start, end
        if found is not None:
            name, start = found.groupdict().get("trace"), found.end()


# One record.


def _record(found: re.Match[str], starts: list[int]) -> Record:
    groups = found.groupdict()
    line = bisect_right(starts, found.start("clock") if found.start("clock") >= 0 else found.start())
    host = groups.pop("host") or ""
    try:
        if not host:
            raise TraceError("an event without a host")
        clock = clock_of(_written(groups.pop("clock") or ""), host)
    except TraceError as error:
        raise TraceError(error.message, line=line) from None
    label = groups.pop("event", None) or None
    fields = {key: scalar(text) for key, text in groups.items() if text is not None}
    return Record(host, clock, label, fields, line)


def _written(text: str) -> Any:
    """A clock as its text says; inside a text of its own its quotes may be escaped, as TLC prints them."""
    return decoded(text.replace('\\"', '"') if text.startswith('{\\"') else text)
