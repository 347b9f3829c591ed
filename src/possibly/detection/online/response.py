"""AG(p -> AF q) on-line, p and q predicates on the same process: every p is answered by a q there.

Every observation passes every state of a process, so it holds on the run so far iff its last p is not after
its last q. The next event may change that either way: nothing is final. Memory: one truth value.
"""

from __future__ import annotations

from possibly.detection.online.follow import LocalTruth
from possibly.detection.online.standing import Standing
from possibly.errors import FormulaError
from possibly.logic.predicates.functions import is_state, leaves
from possibly.logic.syntax import At, Implies, Local, Node, Not, Or, Stack, Temporal
from possibly.order.growing.batches import Batch
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step


def response_of(growing: Growing, operand: Node) -> Response | None:
    """The operand of AG as a response; None: it is none."""
    match operand:
        case Implies(first, Temporal("AF", (second,))):
            pass
        case Or((*parts, Temporal("AF", (second,)))):
            first = Not(parts[0] if len(parts) == 1 else Or(tuple(parts)))
        case _:
            return None
    if not is_state(first) or not is_state(second):
        return None
    read = [*leaves(first), *leaves(second)]
    owners = {leaf.process if isinstance(leaf, Local | At | Stack) else None for leaf in read}
    owner = owners.pop() if len(owners) == 1 else None
    return None if owner is None else Response(growing, owner, first, second)


class Response:
    """Whether the process has answered all that it was asked."""

    wants_steps = False
    size = 0

    def __init__(self, growing: Growing, process: str, first: Node, second: Node) -> None:
        if process not in growing.processes:
            raise FormulaError(f"there is no process {process} yet")
        self._number = growing.number(process)
        self._first, self._second = LocalTruth(growing, process, first), LocalTruth(growing, process, second)
        for truth in (self._first, self._second):
            growing.watched.add(self._number, truth.variables)
        self._is_open = self._first.now and not self._second.now

    def take(self, step: Step) -> None:
        for line in step:
            if line.process == self._number:
                self._first.after(line)
                self._second.after(line)
                self._look()

    def take_batch(self, batch: Batch) -> None:
        for _, process, fields in batch.relevant:
            if process == self._number:
                self._first.after_fields(fields)
                self._second.after_fields(fields)
                self._look()

    def _look(self) -> None:
        if self._second.now:
            self._is_open = False
        elif self._first.now:
            self._is_open = True

    @property
    def standing(self) -> Standing:
        return Standing(not self._is_open, False)

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._first.predicate.faults, *self._second.predicate.faults]))
