"""A schedule as text: turn by turn, folded to what the failure depends on.

What happened after the failing step is left out, and so is how event loops keep house. Steps that are not in
the causal past of the failing one do not matter, and are told as one line. If the rest is still longer than
a screen, what is nearest to the pair that decides is kept, and the number of the others is told. What
libraries do with memory of their own belongs to the user's call, and is told as a number too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from possibly.control.causality import Causality
from possibly.control.execution import Execution
from possibly.control.naming import Sort, sort_of
from possibly.trace.place import is_of_library, place_in
from possibly.views.text.phrases import is_of_barrier
from possibly.views.text.steps import Told, source_of, told_steps
from possibly.views.text.words import count_text

if TYPE_CHECKING:
    from possibly.control.why import Cause

HIDDEN = frozenset({"end", "exit", "leave_loop", "fork"})
OF_LOOP = frozenset(
    {
        "BaseEventLoop.shutdown_asyncgens",
        "BaseEventLoop.shutdown_default_executor",
        "Runner.init",
        "EntryQueue.task",
    }
)
"""What runners do before the program begins and when it is over."""
OF_GENERATORS = ("async_generator_athrow", "async_generator_aclose")
TOUCHING = frozenset({"read", "write", "use"})
CHANGES = frozenset({"write", "assign", "enter", "leave"})
LONGEST = 26
"""Lines of a schedule that are shown unless everything is asked for."""
MOST_ASKED = 30
"""Lines of steps that change what a property reads: these are shown even if they are more than that."""
LONGEST_ROUND, FEWEST_ROUNDS = 4, 3
"""Lines of a round that may be told once, and how often it has to be there for that."""
WIDEST = 100


class Marks(NamedTuple):
    """What of a schedule matters; steps by their numbers from 1."""

    failing: tuple[int, ...] = ()
    """Steps that are marked: there a property is violated."""
    asked: frozenset[int] = frozenset()
    """Steps that change what a property reads: they are always shown."""
    cause: Cause | None = None
    read: frozenset[str] = frozenset()
    """What the property speaks of, where that is known."""

    @property
    def end(self) -> int | None:
        return max(self.failing, default=None)


def schedule_lines(
    execution: Execution,
    full: bool = False,
    marks: Marks = Marks(),  # noqa: B008 - it is immutable
    longest: int = LONGEST,
) -> list[str]:
    """The steps, a heading for each turn; of more than `longest` lines what matters most."""
    found = shown_rows(execution, full, marks.end)
    rows = found if full else _outer(found, marks)
    cause = marks.cause
    kept = {row.number for row in rows} if full else _kept(execution, rows, marks, longest)
    marked = dict.fromkeys(deciding_rows(rows, cause) if cause is not None else (), "*")
    marked |= dict.fromkeys(failing_rows(rows, marks), ">")
    shorter = _short_names({row.shown_at for row in rows})
    lines: list[str] = []
    before, left = "", list[Told]()
    last: Told | None = None
    for row in rows:
        if row.number not in kept:
            left.append(row)
            continue
        if left:
            lines.append(_left_out(left, execution, marks))
            before, left = "", []
        if row.task != before:
            before = row.task
            lines.append(f"  {execution.names.get(row.task, row.task)}")
        line = _line(row, marked.get(row, " "), shorter)
        if not _is_told(row, last, lines[-1] == line):
            lines.append(line)
        last = row
    lines += [_left_out(left, execution, marks)] if left else []
    lines = lines if full else rounds_folded(lines)
    return lines + _folded_line({row.number for row in found} - {row.number for row in rows})


def rounds_folded(lines: Sequence[str]) -> list[str]:
    """The lines with a round of a loop told once that is there three times or more, and how often it is."""
    found: list[str] = []
    at = 0
    while at < len(lines):
        size, count = _rounds_at(lines, at)
        found += lines[at : at + size]
        if count > 1:
            found.append(f"    ... the same {count - 1} more times (--full shows them)")
        at += size * count
    return found


def _rounds_at(lines: Sequence[str], at: int) -> tuple[int, int]:
    """Of how many lines a round is that begins here, and how often it comes; no line of it is marked."""
    for size in range(1, LONGEST_ROUND + 1):
        block = lines[at : at + size]
        if not all(line.startswith("    ") for line in block):
            break
        count = 1
        while lines[at + size * count : at + size * (count + 1)] == block:
            count += 1
        if count >= FEWEST_ROUNDS:
            return size, count
    return 1, 1


def _is_told(row: Told, last: Told | None, is_same_line: bool) -> bool:
    """Whether the line before says the same, or more: a line may read a thing twice."""
    if last is None or is_same_line:
        return is_same_line
    are_reads = row.kind == last.kind == "read" and (row.task, row.thing) == (last.task, last.thing)
    return are_reads and row.shown_at == last.shown_at and last.text.startswith(f"{row.text}: ")


def _outer(rows: Sequence[Told], marks: Marks) -> list[Told]:
    """The rows that are not about what a library does for itself, and that say something to a reader."""
    pairs = marks.cause.pairs[:1] if marks.cause is not None else ()
    known = {row.thing for row in rows if not row.is_in_library} | {pair.thing for pair in pairs}
    always = {*marks.failing, *marks.asked}
    inside = _inside_libraries(rows, marks)
    doors = _doors(rows)
    return [
        row
        for row in rows
        if row.number in always or not (row.task in inside or row.number in doors or _is_inner(row, known))
    ]


def _doors(rows: Sequence[Told]) -> set[int]:
    """Steps inside barriers that say nothing to a reader: who goes on lets the next ones through."""
    found: set[int] = set()
    last: dict[str, Told] = {}
    for row in rows:
        if not is_of_barrier(row.thing):
            last.pop(row.task, None)
            continue
        before = last.get(row.task)
        is_through = before is not None and before.kind in ("wake", "notify") and before.at == row.at
        if is_through and row.kind in ("notify", "release"):
            found.add(row.number)
        else:
            last[row.task] = row
    return found


def _inside_libraries(rows: Sequence[Told], marks: Marks) -> set[str]:
    """The tasks of which nothing happens in a line of the user's, where something of others does."""
    users = {row.task for row in rows if row.shown_at and not is_of_library(row.shown_at)}
    pairs = marks.cause.pairs[:1] if marks.cause is not None else ()
    deciding = {moment.task for pair in pairs for moment in (pair.first, pair.then)}
    telling = {row.task for row in rows if not row.shown_at} - {row.task for row in rows if row.shown_at}
    return {row.task for row in rows} - users - deciding - telling if users else set()


def _is_inner(row: Told, known: set[str | None]) -> bool:
    if row.says_little:
        return True
    is_touched = row.kind in TOUCHING and (row.kind == "use" or sort_of(row.thing) is Sort.MEMORY)
    return row.is_in_library and is_touched and row.thing not in known


def _folded_line(steps: set[int]) -> list[str]:
    count = len(steps)
    return [f"  ... {count_text(count, 'step')} inside libraries {_shown_by(count)}"] if steps else []


def failing_rows(rows: Sequence[Told], marks: Marks) -> list[Told]:
    """What is told of the steps that violate a property: in a turn, what it changes of what is spoken of."""
    found = [row for row in rows if row.number in marks.failing]
    changing = _those(found, [row for row in found if row.kind in CHANGES])
    return _those(changing, [row for row in changing if row.name in marks.read])


def _those(rows: list[Told], better: list[Told]) -> list[Told]:
    """Of each step the better rows if it has any."""
    numbers = {row.number for row in better}
    return [row for row in rows if row in better or row.number not in numbers]


def deciding_rows(rows: Sequence[Told], cause: Cause) -> list[Told]:
    """What is told of the pair that decides: in a turn, where it touches the thing that both touch."""
    found: list[Told] = []
    for pair in cause.pairs[:1]:
        for moment in (pair.first, pair.then):
            mine = [row for row in rows if moment.number is not None and row.number == moment.number + 1]
            touching = [row for row in mine if row.kind in TOUCHING]
            same = [row for row in mine if row.thing == pair.thing]
            done = [row for row in same if row in touching]
            found += (done or same or touching or mine)[:1]
    return found


def _line(row: Told, mark: str, shorter: dict[str, str]) -> str:
    text = f"  {mark} {'  ' if row.is_inside else ''}{row.text}"
    if not row.shown_at:
        return text
    file, line = place_in(row.shown_at)
    source = source_of(row.shown_at)
    found = f"{text:<40} {shorter.get(file, file)}:{line}"
    return f"{found}  {source}"[: max(WIDEST, len(found))] if source else found


def _short_names(places: Iterable[str]) -> dict[str, str]:
    """The user's files by their last names, where these tell them apart."""
    files = {place_in(place).file for place in places if place and not is_of_library(place)}
    names = [file.rpartition("/")[2] for file in files]
    return {file: name for file, name in zip(files, names, strict=True) if names.count(name) == 1}


def _left_out(rows: Sequence[Told], execution: Execution, marks: Marks) -> str:
    numbers = {row.number for row in rows}
    count, asked = len(numbers), len(numbers & marks.asked)
    which = f", {asked:,} of them change what the property reads" if asked else ""
    names = list(dict.fromkeys(execution.names.get(row.task, row.task) for row in rows))
    whose = names[0] if len(names) == 1 else f"{len(names)} tasks"
    return f"  ... {count_text(count, 'step')} of {whose}{which} {_shown_by(count)}"


def _shown_by(count: int) -> str:
    return f"(--full shows {'them' if count > 1 else 'it'})"


def shown_rows(execution: Execution, full: bool = False, end: int | None = None) -> list[Told]:
    """What is told of the execution, up to its failure, or to the step that is its `end`."""
    rows = told_steps(execution)
    hidden = HIDDEN if not full else HIDDEN - {"leave_loop"}
    rows = [row for row in rows if row.kind not in hidden]
    if full:
        return rows
    house = keeping_house(rows) | _closing_generators(execution)
    end = (execution.failure or {}).get("step") if end is None else end
    last = end if isinstance(end, int) else len(execution.steps)
    return [row for row in rows if row.task not in house and row.number <= max(last, 1)]


def _closing_generators(execution: Execution) -> set[str]:
    """Tasks that a loop makes to close asynchronous generators which the program has left."""
    return {task for task, name in execution.names.items() if name.startswith(OF_GENERATORS)}


def keeping_house(rows: Sequence[Told]) -> set[str]:
    """Tasks of an event loop's own."""
    begun = {row.task for row in rows if row.kind == "begin" and row.thing in OF_LOOP}
    return begun | {row.task for row in rows if row.kind == "callback" and not row.at}


def _kept(execution: Execution, rows: Sequence[Told], marks: Marks, longest: int) -> set[int]:
    """The numbers of the steps that are shown."""
    end = marks.end or (execution.failure or {}).get("step")
    order = Causality(execution.steps)
    past = order.past[end - 1] if isinstance(end, int) and 0 < end <= order.size else -1
    heights: dict[int, int] = {}
    for row in rows:
        heights[row.number] = heights.get(row.number, 0) + 1
    ranks = _ranks(execution, marks, end if isinstance(end, int) else order.size)
    matter = [number for number in heights if past >> number - 1 & 1 or ranks.get(number, 9) == 0]
    if sum(heights.values()) <= longest:
        return set(heights) if past == -1 else set(matter) | _between_short(heights, matter)
    kept = _latest({number: heights[number] for number in heights if number in marks.asked})
    room = longest - sum(heights[number] for number in kept)
    for number in sorted(set(matter) - kept, key=lambda each: (ranks.get(each, 4), -each)):
        room -= heights[number]
        if room < 0 and kept:
            break
        kept.add(number)
    return kept


def _latest(heights: dict[int, int]) -> set[int]:
    """Steps that are always shown; of more than a screen has room for, the last."""
    kept: set[int] = set()
    room = MOST_ASKED
    for number in sorted(heights, reverse=True):
        room -= heights[number]
        if room < 0:
            break
        kept.add(number)
    return kept


def _between_short(heights: dict[int, int], matter: Sequence[int]) -> set[int]:
    """Single steps that do not matter are told: a line in their place would be no shorter."""
    numbers = sorted(heights)
    unimportant = [number for number in numbers if number not in matter]
    places = {number: place for place, number in enumerate(numbers)}
    return {
        number
        for number in unimportant
        if heights[number] == 1 and not any(abs(places[number] - places[other]) == 1 for other in unimportant)
    }


def _ranks(execution: Execution, marks: Marks, end: int) -> dict[int, int]:
    """How near a step is to what decides: 0 is the nearest."""
    cause = marks.cause
    ranks: dict[int, int] = {end: 0} | dict.fromkeys((*marks.failing, *marks.asked), 0)
    for number, step in enumerate(execution.steps, 1):
        if step.operation.kind == "start":
            ranks[number] = 3
    if cause is None:
        return ranks
    moments = [each for pair in cause.pairs[:1] for each in (pair.first, pair.then)]
    if cause.atomic is not None:
        moments += [cause.atomic.first, cause.atomic.last]
    things = {access.thing for each in moments for access in each.operation.footprint}
    tasks = {each.task for each in moments}
    numbers = [each.number + 1 for each in moments if each.number is not None]
    for number, step in enumerate(execution.steps, 1):
        if any(access.thing in things for access in step.operation.footprint):
            ranks[number] = min(ranks.get(number, 9), 1)
        elif step.task in tasks and numbers and min(numbers) <= number <= max(numbers):
            ranks[number] = min(ranks.get(number, 9), 2)
    return ranks | dict.fromkeys((*numbers, *marks.asked, *marks.failing, end), 0)
