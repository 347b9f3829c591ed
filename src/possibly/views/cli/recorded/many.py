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
from urllib.parse import quote

from possibly.errors import PossiblyError, UsageError
from possibly.logic.specification import Specification
from possibly.records import replace
from possibly.session.checking.check import Options
from possibly.session.checking.many import Journal, answers, answers_in
from possibly.verdict.model import Truth
from possibly.views.cli.messages import BAD, complain, remark
from possibly.views.text.words import count_text, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    from possibly.trace.model import Trace
    from possibly.verdict.model import Report
    from possibly.views.web.index import PropertyRow

    class Checked(Protocol):
        """Gives a trace and the answers on it; of a module, so that another process can find it."""

        def __call__(
            self, path: str, specification: Specification, options: Options, *, whole: bool = False
        ) -> tuple[Trace, Report]: ...

    Show = Callable[[str, Specification, Options, argparse.Namespace], None]
    """Shows the report of one trace."""

MANY = 20
LISTED = 30
"""Runs that are listed unless all are asked for."""
PAGES = 200
"""Runs that get a page of their own."""
Row = tuple[str, int, tuple[tuple[str, str], ...]]
"""A run, its events, and what is not in order: a verdict with the name of its property, or what is bad."""


def is_many(traces: Sequence[str]) -> bool:
    return len(traces) > MANY or any(_is_pattern(each) or os.path.isdir(each) for each in traces)


def _is_pattern(text: str) -> bool:
    return glob.has_magic(text) and not os.path.exists(text)


def expanded(traces: Sequence[str]) -> list[str]:
    """The files that the patterns stand for; the others as they are."""
    found: dict[str, None] = {}
    for each in traces:
        paths = sorted(glob.glob(each, recursive=True)) if _is_pattern(each) else _inside(each)
        files = [path for path in paths if not os.path.isdir(path)]
        if not files:
            raise UsageError(f"no file matches {each}")
        found |= dict.fromkeys(files)
    return list(found)


def _inside(path: str) -> list[str]:
    """A folder stands for the runs that are written in it as Parquet."""
    if not os.path.isdir(path):
        return [path]
    return sorted(glob.glob(os.path.join(glob.escape(path), "**", "*.parquet"), recursive=True))


def document_of(
    checked: Checked, specification: Specification, options: Options, notes: bool, path: str
) -> dict[str, Any]:
    """One run; asked in another process."""
    from possibly.views.text.json_report import document

    return document(checked(path, specification, options)[1], notes)


def run(
    specification: Specification,
    options: Options,
    arguments: argparse.Namespace,
    show_one: Show,
    checked: Checked,
) -> list[int]:
    """The statuses of all runs."""
    paths = expanded(arguments.traces)
    question = partial(document_of, checked, specification, _without(options, arguments), arguments.explain)
    about = [(each.language, each.name, each.text) for each in specification.properties], options
    journal = Journal(arguments.resume, (about, [let.text for let in specification.lets]))
    summary = Summary([each.name for each in specification.properties])
    jobs = arguments.jobs or os.cpu_count() or 1
    for path, answer in _answered(question, paths, journal, jobs, arguments.cluster):
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
    if arguments.html:
        write = partial(_write_run, checked, specification, options, arguments)
        _write_index(summary, specification, arguments, write)
    return summary.statuses


def _without(options: Options, arguments: argparse.Namespace) -> Options:
    """A summary needs no explanations."""
    is_asked = arguments.json and arguments.explain
    return replace(options, explain=is_asked, tells_races=is_asked)


def _answered(
    question: Any, paths: list[str], journal: Journal, jobs: int, cluster: str | None
) -> Iterator[tuple[str, dict[str, Any] | PossiblyError]]:
    fresh = []
    for path in paths:
        known = journal.known(path)
        if known is None:
            fresh.append(path)
        else:
            yield path, known
    if cluster is not None and fresh:
        found = answers_in(cluster, question, fresh)
    else:
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
        self.counts = {name: dict.fromkeys(("holds", "violated", "unknown"), 0) for name in names}
        self.shortest: dict[str, tuple[int, str]] = {}
        """By property: the length of the shortest counterexample, and its run."""
        self.statuses: list[int] = []
        self.rows: list[Row] = []
        self._runs = self._events = 0

    def bad(self, path: str, error: PossiblyError) -> None:
        self.statuses.append(BAD)
        self.rows.append((path, 0, (("bad", error.message),)))

    def add(self, path: str, found: dict[str, Any]) -> None:
        self._runs += 1
        self._events += found["events"]
        words = []
        for each in found["properties"]:
            verdict, name = each["verdict"], each["name"]
            counts = self.counts.setdefault(name, {})
            counts[verdict] = counts.get(verdict, 0) + 1
            status = Truth(verdict).status
            self.statuses.append(status)
            if status:
                words.append((verdict, name))
            if verdict == "violated":
                self._note(name, path, each["witness"])
        self.rows.append((path, found["events"], tuple(words)))

    def _note(self, name: str, path: str, witness: dict[str, Any] | None) -> None:
        length = len(witness["path"]) if witness is not None else sys.maxsize
        if name not in self.shortest or (length, path) < self.shortest[name]:
            self.shortest[name] = length, path

    def sizes(self) -> str:
        bad = sum(verdict == "bad" for _, _, words in self.rows for verdict, _ in words)
        unread = f", {count_text(bad, 'file')} that cannot be read" if bad else ""
        return f"{count_text(self._runs, 'run')}, {count_text(self._events, 'event')}{unread}"

    def lines(self, full: bool) -> Iterator[str]:
        yield self.sizes()
        yield ""
        for name, counts in self.counts.items():
            texts = [f"{verdict} in {count:,}" for verdict, count in counts.items() if count]
            yield f"{name}: {', '.join(texts)}"
        rows = [row for row in sorted(self.rows) if row[2] or full]
        if rows:
            yield ""
        for path, events, words in rows if full else rows[:LISTED]:
            text = ", ".join(f"{verdict.upper()} {word}" for verdict, word in words)
            yield f"{path}  {events:,}  {text or 'all hold'}"
        if len(rows) > LISTED and not full:
            yield f"... and {len(rows) - LISTED:,} more; --full lists all runs"


def _write_index(
    summary: Summary,
    specification: Specification,
    arguments: argparse.Namespace,
    write: Callable[[str, str], None],
) -> None:
    """The page of all runs, and beside it a page for each that is not in order."""
    from possibly.views.cli.files import write_text
    from possibly.views.web.index import RunRow, render_index

    pages = _pages(summary, arguments.html, write)
    runs = [RunRow(path, events, words, pages.get(path)) for path, events, words in sorted(summary.rows)]
    runs.sort(key=lambda run: not run.words)
    write_text(
        arguments.html,
        render_index(" ".join(arguments.traces), summary.sizes(), _properties(summary, specification), runs),
    )
    remark(f"Page: {arguments.html}")


def _properties(summary: Summary, specification: Specification) -> list[PropertyRow]:
    from possibly.views.web.index import PropertyRow

    shortest = {name: (path, length % sys.maxsize) for name, (length, path) in summary.shortest.items()}
    return [
        PropertyRow(
            found.name, f"{found.language} {found.text}", summary.counts[found.name], shortest.get(found.name)
        )
        for found in specification.properties
    ]


def _pages(summary: Summary, index: str, write: Callable[[str, str], None]) -> dict[str, str]:
    """Pages of runs that are not in order, the shortest counterexamples first, by run."""
    folder = f"{os.path.splitext(index)[0]}-runs"
    wanted = dict.fromkeys(path for _, path in summary.shortest.values())
    wanted |= dict.fromkeys(path for path, _, words in sorted(summary.rows) if words and words[0][0] != "bad")
    found = {}
    for number, path in enumerate(list(wanted)[:PAGES], start=1):
        file = f"{number}.html"
        os.makedirs(folder, exist_ok=True)
        write(path, os.path.join(folder, file))
        found[path] = f"{quote(os.path.basename(folder))}/{file}"
    if len(wanted) > PAGES:
        remark(f"pages are written of {PAGES:,} runs; possibly check RUN --html FILE writes one of another")
    return found


def _write_run(
    checked: Checked,
    specification: Specification,
    options: Options,
    arguments: argparse.Namespace,
    path: str,
    file: str,
) -> None:
    from possibly.views.cli.drawing.pages import write_page

    trace, report = checked(path, specification, replace(options, explain=True), whole=True)
    write_page(trace, report, specification, arguments, file)


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
