"""Pictures of the task logic: the state action net, the slice graph and the formula tree.

They follow figures 6, 7 and 8 of Frey, "Debugging parallel programs using temporal logic specifications". In
the net a column is a task, a local state shows its stack and the value sets that are new in it, and an action
its statements; a dashed arrow is an order between actions without a local state between. Of a net in
which a formula fails, the part that matters is drawn, with the failing local states marked. What is too large
to draw is drawn around the place where the formula fails.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping

from possibly.errors import UsageError
from possibly.logic.predicates.functions import MISSING
from possibly.logic.tasks.tree import TreeNode
from possibly.order.lattice import Lattice
from possibly.order.nets.net import BEGINNING, Net, stack_text
from possibly.verdict.tasks import TaskFailure
from possibly.views.export.boxes import Arrow, Box, Picture
from possibly.views.text.words import value_text

MOST_ACTIONS = 500
MOST_SLICES = 400
MOST_AROUND = 120
"""Slices that are drawn around a failing one."""
AROUND = "with a tl property that fails, the part around the failure is drawn"


def net_picture(net: Net, failure: TaskFailure | None = None) -> Picture:
    """The net, or the part of it that leads to the failing local states."""
    steps = _steps(net, failure)
    if len(steps) > MOST_ACTIONS and (failure is None or not failure.states):
        raise UsageError(f"the net has more than {MOST_ACTIONS} actions: too many to draw", hint=AROUND)
    # The last ones are nearest to where it fails.
    picture = _NetPicture(net, failure).drawn(steps[-MOST_ACTIONS:], is_whole=len(steps) <= MOST_ACTIONS)
    boxes = picture.boxes
    picture.arrows = [each for each in picture.arrows if each.first in boxes and each.second in boxes]
    return picture


def _steps(net: Net, failure: TaskFailure | None) -> list[int]:
    computation = net.computation
    if failure is None or not failure.states:
        return list(computation.steps)
    wanted = set(failure.subnet)
    return [s for s in computation.steps if any(net.trace.name(e) in wanted for e in computation.events(s))]


class _NetPicture:
    def __init__(self, net: Net, failure: TaskFailure | None) -> None:
        self.net = net
        self.picture = Picture(net.trace.file or "net")
        states = failure.states if failure is not None else ()
        self.marked = {(net.tasks.index(state.task), state.count) for state in states}
        self.rows: dict[str, int] = {}

    def drawn(self, steps: list[int], is_whole: bool) -> Picture:
        for task, name in enumerate(self.net.tasks):
            self.picture.boxes[f"t{task}"] = Box((f"task {name}",), task, 0, "title")
        begins = is_whole and any(process.declared for process in self.net.trace.processes)
        for action in [*([BEGINNING] if begins else []), *steps]:
            self._action(action)
        return self.picture

    def _action(self, action: int) -> None:
        net, picture = self.net, self.picture
        before = [_state_name(*state) for state in net.preset(action)]
        order = [_action_name(other) for other in net.dependencies(action)]
        row = 1 + max((self.rows.get(name, 0) for name in (*before, *order)), default=0)
        name = _action_name(action)
        columns = [task for task, _ in net.postset(action)]
        self.rows[name] = row
        spread = max(columns) - min(columns) + 1
        picture.boxes[name] = Box(self._statements(action), min(columns), row, "action", columns=spread)
        picture.arrows += [Arrow(state, name) for state in before]
        picture.arrows += [Arrow(other, name, "order") for other in order]
        for task, count in net.postset(action):
            state = _state_name(task, count)
            self.rows[state] = row + 1
            marked = (task, count) in self.marked
            picture.boxes[state] = Box(tuple(self._facts(task, count)), task, row + 1, marked=marked)
            picture.arrows.append(Arrow(name, state))

    def _statements(self, action: int) -> tuple[str, ...]:
        if action == BEGINNING:
            return ("begin",)
        found = self.net.action(action)
        pairs = zip(found.events, found.places, strict=True)
        return tuple(f"{event}: {place}" if place else event for event, place in pairs)

    def _facts(self, task: int, count: int) -> Iterator[str]:
        yield f"pc={stack_text(self.net.stacks(task)[count])}"
        before = self.net.visible(task, count - 1) if count > self.net.first(task) else {}
        for name, values in self.net.visible(task, count).items():
            if before.get(name) != values:
                texts = [value_text(value, 20) for value in values if value is not MISSING]
                yield f"{name}={{{', '.join(texts)}}}"


def _action_name(action: int) -> str:
    return "begin" if action == BEGINNING else f"a{action}"


def _state_name(task: int, count: int) -> str:
    return f"s{task}_{count}"


def slice_picture(lattice: Lattice, marked: Collection[int] = ()) -> Picture:
    """The slice graph, or the part of it around the first marked slice.

    A slice shows how many events each task has executed.
    """
    levels = _all_levels(lattice) or _levels_around(lattice, marked)
    picture = Picture("slices")
    for row, level in enumerate(levels):
        for column, cut in enumerate(sorted(level)):
            counts = " ".join(map(str, lattice.unpack(cut)))
            picture.boxes[f"c{cut}"] = Box((counts,), column, row, marked=cut in marked)
    for cut in (cut for level in levels for cut in sorted(level)):
        following = (f"c{later}" for later in lattice.successors(cut))
        picture.arrows += [Arrow(f"c{cut}", later) for later in following if later in picture.boxes]
    return picture


def _all_levels(lattice: Lattice) -> list[set[int]] | None:
    """The slices by the number of their steps; None if there are too many."""
    found: list[set[int]] = []
    for level in lattice.levels():
        if sum(map(len, found)) + len(level) > MOST_SLICES:
            return None
        found.append(level)
    return found


def _levels_around(lattice: Lattice, marked: Collection[int]) -> list[set[int]]:
    """The slices nearest to the marked one, by the number of their steps from the first of them."""
    if not marked:
        raise UsageError(f"the net has more than {MOST_SLICES} slices: too many to draw", hint=AROUND)
    start = next(iter(marked))
    row = {start: 0}
    pending = deque([start])
    while pending and len(row) < MOST_AROUND:
        cut = pending.popleft()
        near = [(later, row[cut] + 1) for later in lattice.successors(cut)]
        near += [(earlier, row[cut] - 1) for _, earlier in lattice.predecessors(cut)]
        for other, level in near:
            if other not in row and len(row) < MOST_AROUND:
                row[other] = level
                pending.append(other)
    return [{cut for cut, at in row.items() if at == level} for level in sorted(set(row.values()))]


def tree_picture(tree: TreeNode) -> Picture:
    """The formula tree, the root at the top; a node that stands in several places is drawn once."""
    picture = Picture("formula tree")
    rows: dict[TreeNode, int] = {}
    _place(tree, 0, rows)
    columns: dict[int, int] = {}
    names: Mapping[TreeNode, str] = {node: f"n{number}" for number, node in enumerate(rows)}
    for node, row in rows.items():
        columns[row] = columns.get(row, -1) + 1
        kind = "state" if node.kind == "s" else "action"
        picture.boxes[names[node]] = Box((node.text,), columns[row], row, kind)
        picture.arrows += [Arrow(names[node], names[below]) for below in node.successors]
    return picture


def _place(node: TreeNode, row: int, rows: dict[TreeNode, int]) -> None:
    """Each node below everything that leads to it."""
    pending = [(node, row)]
    while pending:
        found, depth = pending.pop()
        if rows.get(found, -1) < depth:
            rows[found] = depth
            pending.extend((below, depth + 1) for below in reversed(found.successors))
