"""Where and how the moments of a failing execution touch what they touch: for the patterns of remedies."""

from __future__ import annotations

from typing import Any

from possibly.control.naming import Sort, parent_of, sort_of
from possibly.control.why import Moment, Pair
from possibly.session.why import sources
from possibly.session.why.case import Case
from possibly.trace.place import is_of_library, place_in


def is_ancestor(one: str, other: str) -> bool:
    while other := parent_of(other):
        if one == other:
            return True
    return False


def passed_on(pair: Pair) -> str | None:
    """The memory that the first reads and the other writes; or wrote, where it came first and was done."""
    read = {a.thing for a in pair.first.operation.footprint if not a.writes}
    done = (step.operation.footprint for step in pair.other.steps if step.task == pair.then.task)
    is_known = any(sort_of(a.thing) is Sort.MEMORY for a in pair.then.operation.footprint)
    accesses = pair.then.operation.footprint if is_known else (a for footprint in done for a in footprint)
    written = (a.thing for a in accesses if a.writes and sort_of(a.thing) is Sort.MEMORY)
    return next((thing for thing in written if thing in read), None)


def place_on(case: Case, moment: Moment, thing: str | None, last: bool = False) -> str:
    """Where a moment touches a thing: in the middle of a turn, if it is one."""
    number = moment.number
    found = [m["at"] for n, m in case.moments() if n == number and m["thing"] == thing and m["at"]]
    if not found:
        return case.at(moment)
    return str(found[-1 if last else 0])


def lines_around(case: Case, first: str, last: str) -> str:
    one, other = place_in(first), place_in(last)
    if is_of_library(first) and is_of_library(last):
        places = case.line(first) if one == other else f"{case.line(first)} and {case.line(last)}"
        return f"around the call of yours that leads to {places}"
    if one == other:
        return f"around {case.line(first)}"
    here, there = sources.function_of(first), sources.function_of(last)
    if here != there and (call := sources.called_after(first, there)):
        return lines_around(case, first, call)
    if here and there and here != there:
        return f"around what calls {here}() ({case.line(first)}) and then {there}() ({case.line(last)})"
    if one.file != other.file or one.line > other.line:
        return f"from {first} to {last}"
    return f"from line {one.line} to {case.line(last)}"


def writes(moment: Moment, thing: str | None) -> bool:
    return any(access.writes and access.thing == thing for access in moment.operation.footprint)


def does(moment: dict[str, Any]) -> str:
    return str(moment.get("method", moment["kind"]))
