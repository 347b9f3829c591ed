"""Paths that show an answer: the shortest, and among those the one with the fewest changes of process.

Here belongs the search for paths in the lattice, for engines that can tell what holds at a cut.

Theory of operation. All paths to a cut have the same length, so a shortest path is one to a nearest cut:
`nearest` walks level by level. A change of process is a step that shares no process with the one before.
The fewest changes to a cut, with no condition on the way, is the jump number of its events, hard in
general; the search goes by the number of changes and lets a process run on as far as it can, which never
costs a change later (what it executes early was free to move there). Under a condition on the way a
process may have to stop early, and the search is by single steps. Both give up after `EFFORT` cuts: then
the path is still a shortest one, but perhaps with more changes than needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import chain, pairwise

from possibly.detection.finding import Path
from possibly.detection.limits import Budget
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import Holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Place = TypeVar("Place", bound=Hashable)
    _Key = tuple[Place, tuple[int, ...]]
    """Where a path is, and which processes took its last step."""

EFFORT = 5_000
"""How many cuts the search for the fewest changes looks at before it takes what it has."""


def nearest(lattice: Lattice, allowed: Holds, goal: Holds, budget: Budget) -> set[int]:
    """The nearest cuts where `goal` holds, reached through cuts where `allowed` does; empty if none."""
    level = {lattice.initial}
    while level:
        hits: set[int] = set()
        following: set[int] = set()
        for cut in level:
            budget.visit()
            if goal(cut):
                hits.add(cut)
            elif not hits and allowed(cut):
                following.update(lattice.successors(cut))
        if hits:
            return hits
        level = following
    return set()


def free_path(lattice: Lattice, targets: Iterable[int]) -> Path:
    """A path from the initial cut to one of the targets, which are of one level, with the fewest changes."""
    if lattice.computation.joint or not lattice.is_free:
        return _joint_path(lattice, set(targets))
    best: Path | None = None
    effort = EFFORT
    for target in sorted(targets):
        if effort <= 0 and best is not None:
            break
        found, spent = _fewest(lattice, target, effort, None if best is None else changes(best))
        effort -= spent
        best = found or best or ()
    return best or ()


def changes(path: Path) -> int:
    """How often the path goes from one process to another."""
    return sum(is_change(before.processes, after) for before, after in pairwise(path))


def is_change(before: tuple[int, ...], after: Move) -> bool:
    return bool(before) and not set(before) & set(after.processes)


def _fewest(lattice: Lattice, target: int, effort: int, limit: int | None) -> tuple[Path | None, int]:
    """By the number of changes, each process running on as far as it can inside the target."""
    bounds = lattice.unpack(target)
    came: dict[int, tuple[int, Path]] = {lattice.initial: (lattice.initial, ())}
    fronts = [lattice.initial]
    spent = done = 0
    while target not in came and fronts and (limit is None or done < limit):
        if spent > effort:
            return (_greedy(lattice, came, fronts[0], bounds) if limit is None else None), spent
        following: list[int] = []
        for cut in fronts:
            for move in moves_inside(lattice, cut, bounds):
                spent += 1
                reached, extension = _run_on(lattice, cut, move, bounds)
                if reached not in came:
                    came[reached] = (cut, extension)
                    following.append(reached)
        fronts = following
        done += 1
    return (_back(came, target) if target in came else None), spent


def _back(came: Mapping[int, tuple[int, Path]], cut: int) -> Path:
    parts: list[Path] = []
    while came[cut][0] != cut:
        cut, extension = came[cut]
        parts.append(extension)
    return tuple(chain.from_iterable(reversed(parts)))


def moves_inside(lattice: Lattice, cut: int, bounds: tuple[int, ...]) -> Iterator[Move]:
    """The enabled steps that stay inside a greatest cut."""
    if bounds == lattice.computation.final:
        yield from lattice.moves(cut)
        return
    for move in lattice.moves(cut):
        if all((cut >> lattice.shifts[p] & lattice.masks[p]) < bounds[p] for p in move.processes):
            yield move


def _run_on(lattice: Lattice, cut: int, move: Move, bounds: tuple[int, ...]) -> tuple[int, Path]:
    """Execute the move and whatever of its process can follow without a change."""
    taken: list[Move] = []
    process = move.processes[0]
    bound = bounds[process] << lattice.shifts[process]
    field = lattice.masks[process] << lattice.shifts[process]
    following: Move | None = move
    while following is not None:
        cut += following.delta
        taken.append(following)
        following = lattice.move_at(cut, process) if cut & field < bound else None
    return cut, tuple(taken)


def _greedy(
    lattice: Lattice, came: Mapping[int, tuple[int, Path]], cut: int, bounds: tuple[int, ...]
) -> Path:
    path = list(_back(came, cut))
    while (move := next(moves_inside(lattice, cut, bounds), None)) is not None:
        cut, extension = _run_on(lattice, cut, move, bounds)
        path.extend(extension)
    return tuple(path)


def _joint_path(lattice: Lattice, targets: set[int]) -> Path:
    """With joint events a process that runs on may cost a change, or bar others: search by single steps."""
    bounds = tuple(map(max, *map(lattice.unpack, [*targets, lattice.initial])))

    def successors(cut: int) -> Iterator[tuple[Move, int]]:
        return ((move, cut + move.delta) for move in moves_inside(lattice, cut, bounds))

    found = constrained_path(lattice.initial, successors, targets.__contains__)
    if found is None and not lattice.is_free:
        found = any_path(lattice.initial, successors, targets.__contains__, Budget())
    if found is not None:
        return found
    return _greedy(lattice, {0: (0, ())}, lattice.initial, lattice.unpack(min(targets)))


def constrained_path(
    start: Place,
    successors: Callable[[Place], Iterable[tuple[Move, Place]]],
    is_goal: Callable[[Place], bool],
) -> Path | None:
    """A path with the fewest changes from `start` to a goal, in any graph whose arcs are moves.

    All paths to a goal must have the same length. None if the effort was spent before one was found.
    """
    first: _Key[Place] = (start, ())
    queue: deque[_Key[Place]] = deque([first])
    parents: dict[_Key[Place], tuple[_Key[Place], Move] | None] = {first: None}
    cost: dict[_Key[Place], int] = {first: 0}
    done: set[_Key[Place]] = set()
    while queue and len(done) < EFFORT:
        key = queue.popleft()
        if key in done:
            continue
        done.add(key)
        if is_goal(key[0]):
            return _trace_back(parents, key)
        for move, following in successors(key[0]):
            change = is_change(key[1], move)
            reached = (following, move.processes)
            total = cost[key] + change
            if total < cost.get(reached, total + 1):
                cost[reached] = total
                parents[reached] = (key, move)
                (queue.append if change else queue.appendleft)(reached)
    return None


def _trace_back(parents: Mapping[_Key[Place], tuple[_Key[Place], Move] | None], key: _Key[Place]) -> Path:
    found: list[Move] = []
    while (parent := parents[key]) is not None:
        key, move = parent
        found.append(move)
    return tuple(reversed(found))


def any_path(
    start: Place,
    successors: Callable[[Place], Iterable[tuple[Move, Place]]],
    is_goal: Callable[[Place], bool],
    budget: Budget,
    seen: set[Place] | None = None,
) -> Path | None:
    """Some path from `start` to a goal, depth first; no place is entered twice, nor one that is in `seen`.

    What follows a place is asked for again when the search comes back: a long path keeps its places alone.
    """
    seen = set() if seen is None else seen
    seen.add(start)
    path: list[Move] = []
    places = [start]
    while places:
        if is_goal(places[-1]):
            return tuple(path)
        for move, following in successors(places[-1]):
            if following not in seen:
                seen.add(following)
                budget.visit()
                path.append(move)
                places.append(following)
                break
        else:
            places.pop()
            if path:
                path.pop()
    return None
