"""`possibly check 'runs/**/*.jsonl*'`: many traces at once, on all cores, with one summary.

Traces are many if a pattern names them, or if they are more than `MANY`. The summary says of each property in
how many runs it is violated or open, and shows the shortest counterexample; the runs that are not in order
are listed. With --json each run is a line as soon as it is known.
"""

from __future__ import annotations

import glob
import json
import os
import sys
from functools import partial
from typing import Any

from possibly.errors import PossiblyError, UsageError
from possibly.logic.specification import Specification
from possibly.records import replace
from possibly.session.check import Options
from possibly.session.many import Journal, answers
from possibly.views.cli.messages import BAD, complain
from possibly.views.text.words import count_text, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    Show = Callable[[str, Specification, Options, argparse.Namespace], None]
    """Shows the report of one trace."""

MANY = 20
LISTED = 30
"""Runs that are listed unless all are asked for."""
STATUS = {"violated": 1, "unknown": 3}


def is_many(traces: Sequence[str]) -> bool:
    return len(traces) > MANY or any(_is_pattern(each) for each in traces)


def _is_pattern(text: str) -> bool:
    return glob.has_magic(text) and not os.path.exists(text)


def expanded(traces: Sequence[str]) -> list[str]:
    """The files that the patterns stand for; the others as they are."""
    found: dict[str, None] = {}
    for each in traces:
        paths = sorted(glob.glob(each, recursive=True)) if _is_pattern(each) else [each]
        files = [path for path in paths if not os.path.isdir(path)]
        if not files:
            raise UsageError(f"no file matches {each}")
        found |= dict.fromkeys(files)
    return list(found)


def document_of(specification: Specification, options: Options, notes: bool, path: str) -> dict[str, Any]:
    """One run; asked in another process."""
    from possibly.session.check import check_trace
    from possibly.views.cli.files import loaded
    from possibly.views.text.json_report import document

    report = check_trace(loaded(path, None), specification, options)
    return document(replace(report, trace=path), notes)


def run(
    specification: Specification, options: Options, arguments: argparse.Namespace, show_one: Show
) -> list[int]:
    """The statuses of all runs."""
    paths = expanded(arguments.traces)
    question = partial(document_of, specification, _without(options, arguments), arguments.explain)
    about = [(each.language, each.name, each.text) for each in specification.properties], options
    journal = Journal(arguments.resume, (about, [let.text for let in specification.lets]))
    summary = Summary([each.name for each in specification.properties])
    for path, answer in _answered(question, paths, journal, arguments.jobs or os.cpu_count() or 1):
        if isinstance(answer, PossiblyError):
            complain(answer)
            summary.bad(path, answer)
            continue
        summary.add(path, answer)
        if arguments.json:
            print(json.dumps(answer, allow_nan=False), flush=True)
    if not arguments.json:
        for line in summary.lines(arguments.full):
            print(plain(line))
        _show_shortest(summary, specification, options, arguments, show_one)
    return summary.statuses


def _without(options: Options, arguments: argparse.Namespace) -> Options:
    """A summary needs no explanations."""
    return replace(options, explain=arguments.json and arguments.explain)


def _answered(
    question: Any, paths: list[str], journal: Journal, jobs: int
) -> Iterator[tuple[str, dict[str, Any] | PossiblyError]]:
    fresh = []
    for path in paths:
        known = journal.known(path)
        if known is None:
            fresh.append(path)
        else:
            yield path, known
    found = answers(question, fresh, min(jobs, max(1, len(fresh))))
    for done, (path, answer) in enumerate(found, start=1):
        if not isinstance(answer, PossiblyError):
            journal.put(path, answer)
        _progress(done, len(fresh))
        yield path, answer


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {of:,} traces", end="\n" if done == of else "", file=sys.stderr, flush=True)


class Summary:
    """What is known of all runs together."""

    def __init__(self, names: list[str]) -> None:
        self._counts = {name: dict.fromkeys(("holds", "violated", "unknown"), 0) for name in names}
        self.shortest: dict[str, tuple[int, str]] = {}
        """By property: the length of the shortest counterexample, and its run."""
        self.statuses: list[int] = []
        self._rows: list[tuple[str, int, str]] = []
        self._runs = self._events = 0

    def bad(self, path: str, error: PossiblyError) -> None:
        self.statuses.append(BAD)
        self._rows.append((path, 0, f"BAD {error.message}"))

    def add(self, path: str, found: dict[str, Any]) -> None:
        self._runs += 1
        self._events += found["events"]
        words = []
        for each in found["properties"]:
            verdict, name = each["verdict"], each["name"]
            counts = self._counts.setdefault(name, {})
            counts[verdict] = counts.get(verdict, 0) + 1
            self.statuses.append(STATUS.get(verdict, 0))
            if verdict in STATUS:
                words.append(f"{verdict.upper()} {name}")
            if verdict == "violated":
                self._note(name, path, each["witness"])
        self._rows.append((path, found["events"], ", ".join(words)))

    def _note(self, name: str, path: str, witness: dict[str, Any] | None) -> None:
        length = len(witness["path"]) if witness is not None else sys.maxsize
        if name not in self.shortest or (length, path) < self.shortest[name]:
            self.shortest[name] = length, path

    def lines(self, full: bool) -> Iterator[str]:
        bad = sum(text.startswith("BAD") for _, _, text in self._rows)
        yield f"{count_text(self._runs, 'run')}, {count_text(self._events, 'event')}" + (
            f", {count_text(bad, 'file')} that cannot be read" if bad else ""
        )
        yield ""
        for name, counts in self._counts.items():
            texts = [f"{verdict} in {count:,}" for verdict, count in counts.items() if count]
            yield f"{name}: {', '.join(texts)}"
        rows = [row for row in sorted(self._rows) if row[2] or full]
        if rows:
            yield ""
        for path, events, text in rows if full else rows[:LISTED]:
            yield f"{path}  {events:,}  {text or 'all hold'}"
        if len(rows) > LISTED and not full:
            yield f"... and {len(rows) - LISTED:,} more; --full lists all runs"


def _show_shortest(
    summary: Summary,
    specification: Specification,
    options: Options,
    arguments: argparse.Namespace,
    show_one: Show,
) -> None:
    """For each property that is violated somewhere, the order in the run where it is shortest."""
    for found in specification.properties:
        if found.name in summary.shortest:
            path = summary.shortest[found.name][1]
            print()
            show_one(path, replace(specification, properties=(found,)), options, arguments)
