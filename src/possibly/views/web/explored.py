"""The tree of a search's executions for the page: as a picture, and live, where nodes are run again.

A node of the picture is a state in which there was a choice, or an end; a branch says who ran, and its
details all steps up to the next choice. A claim is false at a node if an execution through it fails, true
if the search covers everything and none does, else not decided; what is covered elsewhere counts as that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from possibly.errors import PossiblyError, UsageError
from possibly.views.text.words import count_text
from possibly.views.web.executions import ASKED, CUT_OFF, Executions, Place
from possibly.views.web.models import Action, Fact, Node, Tree

if TYPE_CHECKING:
    from possibly.control.execution import Execution
    from possibly.session.exploring.programs import ControlledProgram

UNCHECKED = "not looked at"
LONGEST = 44
MOST_STEPS = 200
MOST_LETTERS = 500
"""Of what a program printed, the end."""
TITLE = "Execution tree"


def picture(tree: Executions, current: int | None = None, *, live: bool = False, note: str = "") -> Tree:
    verdicts = _verdicts(tree)
    kept = list(_kept(tree))
    places = {place: number for number, place in enumerate(kept)}
    nodes = [_node(tree, place, places, verdicts[place], live) for place in kept]
    return Tree(
        TITLE,
        (tree.asked,),
        tuple(nodes),
        None if current is None else str(_shown_at(tree, current, places)),
        (*_notes(tree), *([note] if note else ())),
    )


def _notes(tree: Executions) -> Iterator[str]:
    covered = "every schedule is covered" if tree.complete else "not every schedule is covered"
    failing = sum(_fails(tree.places[leaf]) for leaf in tree.leaves)
    yield f"{count_text(tree.count, 'execution')}, {covered}, {failing} failing: {tree.verdict}"
    for reason in tree.open:
        yield f"left open by {reason}"


def _fails(place: Place) -> bool:
    return place.end is not None and place.end["verdict"] == "false"


def _kept(tree: Executions) -> Iterator[int]:
    """The root, the states with a choice, and the ends."""
    for number, place in enumerate(tree.places):
        if place.parent is None or len(place.children) != 1 or place.end is not None:
            yield number


def _verdicts(tree: Executions) -> list[str]:
    """Of each node, from what lies below it."""
    covered = "true" if tree.complete and tree.verdict == "holds" else "unknown"
    found = [covered] * len(tree.places)
    for number, place in enumerate(tree.places):
        if place.end is not None and place.end["outcome"] != CUT_OFF:
            found[number] = place.end["verdict"]
    for number in range(len(tree.places) - 1, -1, -1):
        place = tree.places[number]
        if _fails(place) or any(found[child] == "false" for child in place.children.values()):
            found[number] = "false"
    return found


def _node(tree: Executions, place: int, places: Mapping[int, int], verdict: str, live: bool) -> Node:
    here = tree.places[place]
    way = _way(tree, place, places)
    parent = tree.places[way[0]].parent if way else None
    branch = ""
    if way:
        first = tree.steps[tree.places[way[0]].step]
        found = _short(f"{first.name} {first.text}")
        branch = found if len(found) <= LONGEST else f"{found[: LONGEST - 1]}…"
    actions = (Action("replay", "run it again up to here", None, {"node": str(places[place])}),)
    return Node(
        str(places[place]),
        None if parent is None else str(places[parent]),
        branch,
        _text(tree, place, here),
        (verdict,),
        facts=(*_end_facts(here), *_steps(tree, way)),
        actions=actions if live else (),
    )


def _short(text: str) -> str:
    """Places without their folders."""
    return re.sub(r"[^\s:(]*/", "", text)


def _way(tree: Executions, place: int, places: Mapping[int, int]) -> list[int]:
    """The nodes since the last choice, this one included."""
    found: list[int] = []
    at = place
    while (parent := tree.places[at].parent) is not None:
        found.append(at)
        if parent in places:
            break
        at = parent
    found.reverse()
    return found


def _text(tree: Executions, place: int, here: Place) -> str:
    if here.end is not None:
        outcome = here.end["outcome"].replace(CUT_OFF, "covered elsewhere")
        return f"✗ {outcome}" if _fails(here) else outcome
    return f"step {len(tree.schedule(place))}" if here.parent is not None else "start"


def _end_facts(place: Place) -> Iterator[Fact]:
    """What failed, and the command that shows it again first."""
    end = place.end or {}
    if "replay" in end:
        yield "again", end["replay"]
    for name in ("outcome", "kind", "message", "place", "number"):
        if name in end and not (name == "kind" and end[name] == end["outcome"]):
            yield name, _short(end[name]) if name == "message" else end[name]


def _steps(tree: Executions, way: list[int]) -> Iterator[Fact]:
    before = None
    for place in way[:MOST_STEPS]:
        row = tree.steps[tree.places[place].step]
        yield row.name if row.task != before else "", _short(f"{row.text}  {row.at}".rstrip())
        before = row.task
    if len(way) > MOST_STEPS:
        yield "…", f"{len(way) - MOST_STEPS} steps more"


def _shown_at(tree: Executions, place: int, places: Mapping[int, int]) -> int:
    """The node of the picture that a place belongs to: the next one on the way."""
    while place not in places:
        (place,) = tree.places[place].children.values()
    return places[place]


class LiveExecutions:
    """Behind a tree of executions in the live page: the program is run again along a way."""

    def __init__(self, tree: Executions) -> None:
        self.tree = tree
        self.note = ""
        self.current: int | None = None
        self.program = _program(tree)
        # Its process is made now, while there are no other threads.
        self.program.zygote()

    def picture(self) -> Tree:
        return picture(self.tree, self.current, live=True, note=self.note)

    def operate(self, action: str, values: Mapping[str, str]) -> None:
        kept = list(_kept(self.tree))
        number = values.get("node", "")
        if action != "replay" or not number.isdigit() or int(number) >= len(kept):
            raise UsageError("no such node, or no such button")
        self._replay(kept[int(number)])

    def _replay(self, place: int) -> None:
        from possibly.control.schedulers.course import Course

        wanted = self.tree.schedule(place)
        found = self.program.execute(Course(wanted))
        if found.schedule[: len(wanted)] != wanted:
            self.note = "The program went another way: something outside control decides."
            return
        known = self.tree.find(found.schedule)
        self.current = known if known is not None else self._add(found)
        same = "as it was met before" if known is not None else "on a way that is new here"
        said = found.output.decode("utf-8", "replace").strip()
        printed = f" It printed: {said[-MOST_LETTERS:]}" if said else ""
        self.note = f"Run again: {self.tree.outcome(self.current)}, {same}.{printed}"

    def _add(self, execution: Execution) -> int:
        """Properties are not looked at again: an end without a failure is then none with a verdict."""
        from possibly.session.exploring.exploration import BAD

        is_bad = execution.outcome in BAD
        place = self.tree.add(execution, (execution.failure or {}) if is_bad else None)
        end = self.tree.places[place].end
        if end is not None and not is_bad and self.tree.asked != ASKED:
            end.update(outcome=UNCHECKED, verdict="unknown")
        return place

    def close(self) -> None:
        self.program.close()


def _program(tree: Executions) -> ControlledProgram:
    from possibly.session.exploring.replay import program_of
    from possibly.trace.schedule import Schedule

    words = tree.program
    if words and words[0] != "-m" and not os.path.exists(words[0]):
        hint = "serve it in the folder in which it was explored, or draw it without --serve"
        raise PossiblyError("the program is not here", file=words[0], hint=hint)
    return program_of(Schedule((), tree.header), "the tree", words[0] if words else None)
