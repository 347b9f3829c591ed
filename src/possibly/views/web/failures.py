"""The page of an exploration: the failing execution as a run, with what decides it, and the one that passes.

It is the page of a trace: the diagram, the order step by step, forward and back, the source line and the
values of each event, the missing order. Beside these are who waits for whom, for a deadlock, and the passing
execution that is nearest, side by side with the failing one, turn by turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from possibly.control.execution import Execution
from possibly.control.minimise import decisive
from possibly.order.computation import Computation
from possibly.session.exploring.traces import ExecutionTrace, shown_trace_of
from possibly.session.why.failure import Failure
from possibly.views.export.boxes import Arrow, Box, Picture
from possibly.views.text.exploration import failing_step, failure_lines, waiting_line
from possibly.views.text.schedule import keeping_house, shown_rows
from possibly.views.text.steps import Told, told_steps
from possibly.views.text.why import pair_text, why_lines
from possibly.views.text.words import elided
from possibly.views.web.columns import packed
from possibly.views.web.document import Contents, picture_document
from possibly.views.web.markup import element
from possibly.views.web.models import Tree
from possibly.views.web.page import page_of

MOST_LINES, WIDEST = 12, 60
"""Of a box that stands for a turn."""
BEGINNINGS = frozenset({"begin", "continue", "woken"})
"""Of a turn: why it could go on."""
Quote = Callable[[str | None], str | None]


def failure_page(
    failure: Failure,
    title: str,
    replay: str | None,
    initial: dict[str, Any],
    quote: Quote | None = None,
    trees: Sequence[Tree] = (),
) -> str:
    """The whole page as text."""
    execution = _up_to_failure(failure)
    shown = shown_trace_of(execution, initial, _told_of_turns(execution))
    computation = Computation(shown.trace, "causal")
    contents = Contents(trees=trees, pictures=list(_pictures(failure)), quote=quote)
    document = picture_document(title, computation, None, contents)
    document["properties"] = [_property(failure, shown, replay)]
    without_script = element("pre", "\n".join(failure_lines(failure, full=True)))
    return page_of(document, without_script)


def _told_of_turns(execution: Execution) -> dict[int, str]:
    """What each step did, in a few words: how it began only if there is nothing else."""
    found: dict[int, str] = {}
    for number, rows in groupby(shown_rows(execution), key=lambda row: row.number):
        mine = list(rows)
        told = [(row.kind, row.text) for row in mine if not row.says_little] or [
            (row.kind, row.text) for row in mine[:1]
        ]
        matter = [text for kind, text in told if kind not in BEGINNINGS] or [text for _, text in told]
        found[number - 1] = ", ".join(matter)
    return found


def _up_to_failure(failure: Failure) -> Execution:
    """What came after the failing step does not matter; a property that is marked goes on to its end."""
    execution = failure.execution
    return execution if "specification" in failure.details else replace(execution, steps=decisive(execution))


def _property(failure: Failure, shown: ExecutionTrace, replay: str | None) -> dict[str, Any]:
    """The failure as the page shows a property that is violated."""
    end = failing_step(failure) or failure.details.get("step")
    last = end if isinstance(end, int) else len(failure.execution.steps)
    path = [event for event, step in enumerate(shown.steps) if step < last]
    trace, steps = shown.trace, failure.execution.steps
    house = keeping_house(told_steps(failure.execution))
    while len(path) > 1 and steps[shown.steps[path[-1]]].task in house:  # what decides is not among these
        path.pop()
    processes = [trace.event(event).process for event in path]
    return {
        "name": failure.kind,
        "language": "explore",
        "formula": failure.message,
        "truth": "violated",
        "facts": _cure_first(line.strip() for line in why_lines(failure)),
        "summary": f"execution {failure.number} fails after {len(path)} steps",
        "path": packed(path),
        "cut": [processes.count(process.name) for process in trace.processes],
        "moment": len(path),
        "missing": _missing(failure, shown),
        "atoms": [],
        "state": [],
        "matches": [],
        "notes": [waiting_line(row, failure.execution) for row in failure.details.get("waiting", ())],
        "commands": [] if replay is None else [("Show it again", replay)],
    }


def _cure_first(lines: Iterable[str]) -> list[str]:
    """What a reader is to do stands where it is seen without scrolling."""
    return sorted(lines, key=lambda line: not line.startswith("cure ("))


def _missing(failure: Failure, shown: ExecutionTrace) -> dict[str, Any] | None:
    """The pair that decides, as two events."""
    for pair in failure.cause.pairs if failure.cause is not None else ():
        numbers = [pair.first.number, pair.then.number]
        if None not in numbers and all(number in shown.steps for number in numbers):
            first, second = (shown.steps.index(number) for number in numbers if number is not None)
            text = f"{pair_text(pair, failure.execution)}: the other way round it does not fail"
            return {"first": first, "second": second, "text": text}
    return None


# ---- pictures -----------------------------------------------------------------------------------


def _pictures(failure: Failure) -> Iterator[Picture]:
    if failure.details.get("waiting"):
        yield waits_for(failure)
    if failure.cause is not None and failure.cause.passing is not None:
        yield side_by_side(failure.execution, failure.cause.passing)


def waits_for(failure: Failure) -> Picture:
    """Who waits for whom, and for what."""
    picture = Picture("who waits for whom", direction="LR")
    rows = failure.details["waiting"]
    cycle = failure.details.get("cycle", ())
    names = failure.execution.names
    for number, row in enumerate(rows):
        holds = [f"holds {each['thing']}" for each in row["holds"]]
        picture.boxes[row["task"]] = Box((row["name"], *holds), number, 0, marked=row["task"] in cycle)
    for row in rows:
        is_task = row["thing"] in [names.get(other, other) for other in row["for"]]  # the arrow says it
        label = f"{'' if is_task else row['thing']}  {row['at'].rpartition('/')[2]}".strip()
        for other in row["for"]:
            picture.boxes.setdefault(other, Box((names.get(other, other),), 0, 1))
            picture.arrows.append(Arrow(row["task"], other, label=label))
        if not row["for"]:
            thing = f"thing {row['thing']}"
            picture.boxes.setdefault(thing, Box((row["thing"] or "nobody",), 0, 1, kind="action"))
            picture.arrows.append(Arrow(row["task"], thing, label=label))
    return picture


def side_by_side(failing: Execution, passing: Execution) -> Picture:
    """Two executions turn by turn; the turns that only one of them has are marked."""
    picture = Picture("this execution, and the nearest one that does not fail")
    turns = _turns(failing), _turns(passing)
    for column, name in enumerate(("it fails", "it does not")):
        mine, other = turns[column], turns[1 - column]
        before = f"{column}"
        picture.boxes[before] = Box((name,), column, 0, kind="title")
        for row, lines in enumerate(mine, 1):
            box = f"{column}/{row}"
            is_alike = len(other) >= row and other[row - 1] == lines
            picture.boxes[box] = Box(lines, column, row, marked=not is_alike)
            picture.arrows.append(Arrow(before, box))
            before = box
    return picture


def _turns(execution: Execution) -> list[tuple[str, ...]]:
    rows = [row for row in shown_rows(execution) if not row.says_little]
    return [
        (execution.names.get(task, task), *_lines(list(turn)))
        for task, turn in groupby(rows, key=lambda row: row.task)
    ]


def _lines(turn: list[Told]) -> list[str]:
    lines = [elided(f"{row.text}  {row.shown_at.rpartition('/')[2]}".rstrip(), WIDEST) for row in turn]
    return (
        [*lines[: MOST_LINES - 1], f"… {len(lines) - MOST_LINES + 1} more"]
        if len(lines) > MOST_LINES
        else lines
    )
