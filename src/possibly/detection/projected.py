"""Any engine, asked about the events that matter to the formula alone.

Here belongs putting a question about the projection of a run (`order.projection`, where the law stands) in
the place of the question about the whole run, and turning what is found there into a finding of the whole
run. The projection is tried for formulas without a next operator; it has fewer events always, and mostly
fewer processes, so that an engine that visits cuts finds few of them.
"""

from __future__ import annotations

from functools import lru_cache

from possibly.detection.finding import Finding, Path
from possibly.detection.slices.extension import extension
from possibly.logic.syntax import Node
from possibly.order.changes import Look
from possibly.order.lattice import steps_of
from possibly.order.predicate import CutPredicates
from possibly.order.projection import Projection, may_be_projected
from possibly.records import replace


def projection_for(predicates: CutPredicates, formula: Node, look: Look) -> Projection | None:
    """The projection to what the formula reads; None if that is not allowed or leaves nothing out."""
    if not may_be_projected(formula):
        return None
    found = Projection(predicates, formula, look)
    if not found.processes or found.events == len(predicates.lattice.computation.trace):
        return None
    return found


def lifted(projection: Projection, finding: Finding, look: Look = lambda: None) -> Finding:
    """What was found in the projection as a finding of the whole run."""
    if finding.path is None:
        return finding
    to_the_end = finding.shows is not None and finding.shows.to_the_end
    path = _path(projection, finding.path, to_the_end, look)
    places = _after_each(projection, finding.path, path)
    moment = None if finding.moment is None else places[finding.moment]
    return replace(finding, path=path, moment=moment, since=places[finding.since])


def _path(projection: Projection, path: Path, to_the_end: bool, look: Look) -> Path:
    """The kept events in the order of the path, and whatever they need of the others before each."""
    computation = projection.whole.computation
    target = computation.final if to_the_end else projection.target(path)
    arcs = projection.arcs(path)
    found = extension(projection.whole, computation.initial, target, arcs, look)
    assert found is not None, "a path of the projection is one of the run"
    return found


def _after_each(projection: Projection, path: Path, whole: Path) -> list[int]:
    """How many steps of the whole path are done after each number of steps of the path in the projection."""
    steps = [projection.step_of(move) for move in path]
    place = dict.fromkeys(steps, 0)
    place.update({step: count for count, step in enumerate(steps_of(whole), start=1) if step in place})
    return [0, *(place[step] for step in steps)]


def told(projection: Projection) -> str:
    """What the projection left out, in a sentence."""
    computation = projection.whole.computation
    events = f"{projection.events:,} of {len(computation.trace):,} events"
    processes = f"{len(projection.processes)} of {len(computation.lengths)} processes"
    cuts = f"{_number(projection.most_cuts)} cuts instead of {_number(_most_cuts(computation.lengths))}"
    return f"projection: {events}, on {processes}, change what the formula reads; at most {cuts}"


@lru_cache(maxsize=4)
def _most_cuts(lengths: tuple[int, ...]) -> int:
    most = 1
    for length in lengths:
        most *= length + 1
    return most


def _number(count: int) -> str:
    """In full, or as a power of ten."""
    if count < 10**9:
        return f"{count:,}"
    return f"10^{int(count.bit_length() * 0.30103)}"
