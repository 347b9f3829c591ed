"""A search whose branches are explored by the workers of a cluster; the tree of executions stays here.

When the first executions are made, leaves of the tree are handed out, some at a time (see
`control.cluster.branch`). What a worker does not come to within its time comes back, so that others get it.
What a worker that dies was at is explored again by another: it counts only when it is told.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from possibly.control.cluster.branch import Branch, Grown, branches_of, give_back, graft, leaf_at
from possibly.control.execution import Execution
from possibly.control.forking.patience import TimeIsUp
from possibly.control.schedulers.course import Course
from possibly.control.schedulers.dpor import Dpor
from possibly.control.tree import HUNT, Node
from possibly.errors import PossiblyError

if TYPE_CHECKING:
    from possibly.control.cluster.client import Cluster
    from possibly.control.forking.zygote import ControlledProgram

SHORT, LONG = 0.3, 2.0
"""Seconds of a worker's turn: as long as there is little to share, and later."""
AT_ONCE = 32
"""Leaves that are handed out together, at most."""
QUEUED = 2
"""Turns for each thread of the cluster: one is executed, the other waits."""
LOOK = 1.0
"""Seconds after which it is looked whether there is a worker left."""
DEATHS = 20
"""So many turns may be lost one after the other."""


class Search(Protocol):
    """The search that goes on here (`session.explore`)."""

    program: ControlledProgram
    explorer: Any
    worked: float

    def is_over(self) -> bool: ...

    def executions_left(self) -> int | None: ...

    def count(self, executions: int, steps: int) -> None: ...

    def take(self, execution: Execution, plan: Any, leaf: Node | None = None) -> None: ...

    def begin_anew_in_fresh_processes(self, why: str) -> None: ...


def classes_of(explorer: Any) -> Dpor | None:
    """The explorer whose tree can be shared, if no other has a say."""
    if isinstance(explorer, Dpor):
        return explorer
    found = getattr(explorer, "dpor", None)
    return found if isinstance(found, Dpor) and explorer.joining is None else None


def are_due(explorer: Any) -> bool:
    """Whether the first executions, which look for likely failures, are made, and more are left."""
    found = classes_of(explorer)
    return found is not None and found.tree.executions >= HUNT and found.tree.root.todo > 0


class Branches:
    """What is handed out, until nothing is left or the search has to begin anew."""

    def __init__(self, search: Search, cluster: Cluster, explorer: Dpor) -> None:
        self.search = search
        self.cluster = cluster
        self.explorer = explorer
        self.turns: dict[Any, list[Node]] = {}
        """The leaves that each future is about."""
        self.done: SimpleQueue[Any] = SimpleQueue()
        self.lost = 0
        self.threads = cluster.threads

    def run(self) -> None:
        """Explores all that is left, unless something else is to be done first."""
        explorer = self.search.explorer
        try:
            while self.search.explorer is explorer and not self.search.is_over():
                self._hand_out()
                if not self.turns:
                    return
                self._take_next()
        finally:
            for future in self.turns:
                future.cancel()

    def _hand_out(self) -> None:
        while len(self.turns) < QUEUED * self.threads and (leaves := self._leaves()):
            seconds = LONG if self.explorer.tree.root.todo > QUEUED * self.threads else SHORT
            future = self.cluster.submit(self.search.program, self._branches(leaves, seconds))
            self.turns[future] = leaves
            future.add_done_callback(self.done.put)

    def _leaves(self) -> list[Node]:
        """A share of what is left."""
        tree = self.explorer.tree
        share = min(AT_ONCE, -(-tree.root.todo // (QUEUED * self.threads)))
        found = (tree.next_leaf() for _ in range(share))
        return [leaf for leaf in found if leaf is not None]

    def _branches(self, leaves: list[Node], seconds: float) -> tuple[Branch, ...]:
        left = self.search.executions_left()
        fresh = self.search.program.is_distrusted
        return tuple(branches_of(leaves, self.explorer, seconds, left, fresh))

    def _take_next(self) -> None:
        try:
            future = self.done.get(timeout=LOOK)
        except Empty:
            self.threads = self.cluster.threads or self.cluster.missing()
            return
        leaves = self.turns.pop(future)
        for leaf, grown in zip(leaves, self._answer(future, len(leaves)), strict=True):
            if grown is None:
                give_back(self.explorer.tree, leaf)
            elif not self._take(leaf, grown):
                return

    def _answer(self, future: Any, wanted: int) -> list[Grown | None]:
        """What a worker found for each leaf; nothing if it died."""
        try:
            found: list[Grown | None] | TimeIsUp = self.cluster.answer(future)
        except Exception as error:  # noqa: BLE001 - whatever ended the worker
            self.lost += 1
            if self.lost > DEATHS:
                raise PossiblyError(f"the workers of the cluster die: {error}") from None
            return [None] * wanted
        if isinstance(found, TimeIsUp):
            raise found
        self.lost = 0
        return found

    def _take(self, leaf: Node, grown: Grown) -> bool:
        """Whether the search goes on as it is."""
        search = self.search
        search.program.add(grown.knowledge)
        search.worked += grown.seconds
        if not grown.is_repeatable:
            search.begin_anew_in_fresh_processes("a fresh process of a worker differs")
            return False
        graft(self.explorer, leaf, grown)
        search.count(grown.executions, grown.steps)
        explorer = search.explorer
        if grown.odd is not None:
            self._take_odd(*grown.odd)
        return search.explorer is explorer and not search.is_over()

    def _take_odd(self, prefix: tuple[str, ...], execution: Execution, extra: dict[str, Any]) -> None:
        """An execution of a worker, as if it had been made here."""
        tree = self.explorer.tree
        leaf = tree.hand_out(leaf_at(tree, prefix))
        self.search.take(self.search.program.learnt(execution, extra), Course(prefix), leaf)
