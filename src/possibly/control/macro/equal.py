"""Breakpoints that are equal join: what comes after one of them comes after the other, and is executed once.

Law: what can happen from a breakpoint on is a function of the states of the interpreters (`remembered`) and
of that of the communication: who waits for what, which messages are under way, and what is known of the order
of those events that may still be compared: before what a message that is under way, or what a process does
next, must have been. `communication` is the latter. Two breakpoints where both are equal have the same ways
on under the same names. The tree keeps one of them; the other says which (`TreeNode.joins`). The same ways on
must sleep at both, or some would be lost, or be there twice.

In equal breakpoints each process has done equally many operations, so joining makes no circles. Claims and
properties are judged on the orders of each path, by what came before the breakpoint too: where there are any,
nothing is joined.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from possibly.control.macro.before import Before
from possibly.control.macro.matching import Board
from possibly.control.macro.model import Message, Operation
from possibly.control.macro.remembered import Remembered
from possibly.control.macro.run import Run
from possibly.control.macro.tree import TreeNode

Role = tuple[str, ...]
MOST_IN_VAIN = 500
"""Breakpoints that are remembered though none was equal to another yet."""


class Joins:
    """The breakpoints with a choice, by their states."""

    def __init__(self) -> None:
        self._known: dict[Hashable, list[TreeNode]] = {}
        self._has_joined = False

    def equal_to(self, run: Run, node: TreeNode, above: TreeNode) -> TreeNode | None:
        """A breakpoint whose ways on are all that this one has; else it is remembered itself.

        Where there was no choice before it, nor is one now, it is not worth looking: to look takes time that
        grows with the path.
        """
        is_in_vain = len(self._known) > MOST_IN_VAIN and not self._has_joined
        if is_in_vain or (len(node.arcs) < 2 and len(above.arcs) < 2):
            return None
        state = _state(run)
        if state is None or node.space is None:
            return None
        known = self._known.setdefault(state, [])
        for other in known:
            assert other.space is not None
            if other.space == node.space:
                self._has_joined = True
                return other
        known.append(node)
        return None


def _state(run: Run) -> Hashable | None:
    """None: it cannot be told."""
    if not isinstance(run.system, Remembered) or run.is_turning:
        return None
    board = communication(run.board)
    under_way = [each.name for each in run.board.under_way()]
    programs = run.system.state(under_way) if board is not None else None
    return None if programs is None else (board, programs, run.unsaid)


def communication(board: Board) -> Hashable | None:
    """All of a board that decides what can happen; None if that is not told of these operations."""
    if board.loops or board.uncontrolled:
        return None
    board.touches.settle([event for (kind, *_), event in board.sources() if kind != "until"])
    order = _order(board.before, dict(board.sources()), dict(board.targets()))
    if order is None:
        return None
    return (
        tuple([(p, _operation(o)) for p, o in sorted(board.pending.items())]),
        frozenset(board.ended),
        frozenset(board.daemons),
        _channels(board.messages),
        _channels(board.outside),
        tuple([(p, tuple(posted)) for p, posted in sorted(board.posted.items()) if posted]),
        board.left(),
        order,
    )


def _operation(operation: Operation) -> Hashable:
    """Without what was told with it on the way to it."""
    return operation._replace(posts=(), sends=(), seen=None, value=(), touched=())


def _channels(channels: dict[str, list[Message]]) -> Hashable:
    return tuple([(channel, _line(there)) for channel, there in sorted(channels.items()) if there])


def _line(messages: Sequence[Message]) -> tuple[Hashable, ...]:
    """The messages of a channel; which sender's came up first says nothing, unless they stand in a line."""
    found = [each._replace(entry=0, value=()) for each in messages]
    is_line = any(each.order == "line" for each in messages)
    return tuple(found if is_line else sorted(found, key=lambda each: (each.sender, each.number)))


def _order(before: Before, sources: dict[Role, int], targets: dict[Role, int]) -> Hashable | None:
    """Which of the sources come before which of all these; None if the order contradicts itself."""
    roles = sorted({*sources, *targets})
    bits: dict[int, int] = {}
    for number, role in enumerate(roles):
        event = sources[role] if role in sources else targets[role]
        bits[event] = bits.get(event, 0) | 1 << number
    reached = _reached(before, bits, sources.values())
    if reached is None:
        return None
    return tuple(roles), tuple([reached[sources[role]] for role in roles if role in sources])


def _reached(before: Before, bits: dict[int, int], sources: Iterable[int]) -> dict[int, int] | None:
    """Of each event that comes after one of the sources: which of all these come after it, as bits."""
    found: dict[int, int] = {}
    on_the_way: set[int] = set()
    for start in sources:
        pending = [start]
        while pending:
            event = pending[-1]
            if event in found:
                pending.pop()
            elif event in on_the_way:
                found[event] = _joined(bits.get(event, 0), (found[each] for each in before.after(event)))
                on_the_way.discard(event)
                pending.pop()
            else:
                on_the_way.add(event)
                following = [each for each in before.after(event) if each not in found]
                if on_the_way.intersection(following):
                    return None
                pending += following
    return found


def _joined(own: int, others: Iterable[int]) -> int:
    for each in others:
        own |= each
    return own
