"""Cures where something is used by those, or at a time, that it is not made for."""

from __future__ import annotations

from possibly.control.execution import CALLED_FROM
from possibly.control.minimise import decisive
from possibly.control.why import Moment
from possibly.session.why import sources
from possibly.session.why.case import Case, Remedy
from possibly.trace.place import is_of_library, place_in

AS_THEY_END = frozenset({"as_completed", "imap_unordered"})


def used_from_another_thread(case: Case) -> Remedy | None:
    """Primitives of an event loop do not wake the loop when another thread uses them."""
    for step in decisive(case.execution):
        kind, _, _, at, _ = step.operation
        if kind != "use" or not at or is_of_library(at):
            continue
        called = sorted(sources.methods_at(at))
        what = f"{called[0]}()" if len(called) == 1 else "what is done"
        words = f"{what} at {case.line(at)} is called in {case.name(step.task)}, outside the event loop"
        return Remedy(
            "another thread", f"{words}, and does not wake it: hand it over by loop.call_soon_threadsafe()"
        )
    return None


def used_after_its_end(case: Case) -> Remedy | None:
    """Tasks have one end of a channel together, and the first that is done with it closes it for all."""
    place, task = str(case.details.get("place", "")), case.details.get("task")
    if "ClosedResourceError" not in str(case.details.get("message", "")) or not place:
        return None
    steps = case.execution.steps
    closing = [
        (steps[number].task, moment["at"])
        for number, moment in case.moments()
        if steps[number].task != task and moment["at"] and sources.is_entered_at(moment["at"])
    ]
    same = [(who, at) for who, at in closing if place_in(at).file == place_in(place).file]
    if not same:
        return None
    who, at = same[-1]
    words = f"{case.name(who)} closes at {case.line(at)} what {case.line(place)} still uses"
    return Remedy("use after close", f"{words}: give each task a clone() of its own")


def in_order_of_their_ends(case: Case) -> Remedy | None:
    """What comes in the order in which calls are done is taken for the order in which they began."""
    for pair in case.cause.pairs:
        for moment in (pair.first, pair.then):
            names = sources.names_called_at(case.at(moment)) & AS_THEY_END
            if names:
                words = f"{min(names)}() at {case.line(case.at(moment))} gives first what is done first"
                return Remedy("order of arrival", f"{words}: number the results, or go through the futures")
    return None


def not_made_for_several(case: Case) -> Remedy | None:
    """Both steps that decide are inside one library: its object is not made for several tasks at a time."""
    pair = case.pair
    if pair is None or pair.thing is None:
        return None
    inside = [_in_library(case, each) for each in (pair.first, pair.then)]
    if not all(inside) or len({package for package, _ in inside if package}) != 1:
        return None
    package, lines = inside[0][0], list(dict.fromkeys(line for _, line in inside))
    what = case.name(pair.thing).partition(".")[0].partition("[")[0]
    where = " and ".join(lines)
    words = (
        f"{what} of {package} is not made for several tasks at a time: hold one lock around each use of it"
    )
    return Remedy("not atomic", f"{words} ({where})")


def _in_library(case: Case, moment: Moment) -> tuple[str, str]:
    """The package that a moment is in, and the user's line that called it."""
    at = moment.operation.at
    if moment.number is None or not is_of_library(at):
        return "", ""
    detail = case.execution.steps[moment.number].detail or {}
    package = at.partition("/")[0].removesuffix(".py").partition(".py:")[0]
    return (package, case.line(detail[CALLED_FROM])) if detail.get(CALLED_FROM) else ("", "")


def time_out_first(case: Case) -> Remedy | None:
    """A task stops waiting before what it waits for is there."""
    pair = case.pair
    if (
        pair is None
        or pair.first.operation.kind != "timeout"
        or pair.then.operation.kind not in ("set", "put")
    ):
        return None
    thing = case.name(pair.first.operation.thing)
    words = (
        f"the time of {case.name(pair.first.task)} may be over before {case.name(pair.then.task)} comes to it"
    )
    return Remedy(
        "time-out first", f"{words} ({thing}): what is done then must ask whether it is still wanted"
    )


def in_one_generator(case: Case) -> Remedy | None:
    """The interpreter refuses to go on with a generator that another thread is in."""
    if "generator already executing" not in str(case.details.get("message", "")):
        return None
    at = str(case.details.get(CALLED_FROM) or case.details.get("place", ""))
    words = f"hold one lock, the same for all tasks, around what asks for its next item at {case.line(at)}"
    return Remedy("two in a generator", words)
