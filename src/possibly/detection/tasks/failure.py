"""Where and why a task formula fails: its parts at the failing slice, and the subnet that matters.

Here belongs the end of Frey, "Debugging parallel programs using temporal logic specifications", section 5.5:
"the formulas which are not satisfied and a subnet of the state action net can be obtained to locate the
error". Each sub-formula is evaluated at the slice by the engine at hand; the subnet is what happened before
the local states of the assigned tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from possibly.detection.tasks.cuts import Assignment, Cuts, Evaluation, NotCoveredError
from possibly.logic.predicates.functions import MISSING
from possibly.logic.syntax import Local, Node, Shared
from possibly.logic.tasks.bind import SHARED
from possibly.logic.tasks.formulas import ForTask, Provided, Says, parts, task_text
from possibly.logic.tasks.tree import TreeNode, formula_tree, negated, transformed
from possibly.logic.walk import nodes
from possibly.order.nets.net import Net, stack_text
from possibly.trace.model import Value
from possibly.verdict.tasks import StateFact, TaskFailure, TaskPart

Contains = Callable[[Cuts, Sequence[int]], bool]


class Diagnosis:
    """Looks at one failing slice with the evaluation that found it."""

    def __init__(self, net: Net, evaluation: Evaluation, contains: Contains, cut: Sequence[int]) -> None:
        self.net = net
        self.evaluation = evaluation
        self.contains = contains
        self.cut = cut

    def failure(self, formula: Node, root: TreeNode, assignment: Assignment) -> TaskFailure:
        outer = len(assignment)
        assignment = self._completed(root, assignment)
        shown = list(_shown(formula, len(assignment) - outer))
        names = {variable: self.net.tasks[task] for variable, task in assignment.items()}
        tasks = sorted(set(assignment.values()))
        read = {name for part in shown for name in _names(part)}
        return TaskFailure(
            tasks=names,
            parts=tuple(self._parts(shown, assignment)),
            states=tuple(self._state(task, read) for task in tasks if self._exists(task)),
            subnet=self._past([task for task in tasks if self._exists(task)]),
        )

    def _exists(self, task: int) -> bool:
        return self.cut[task] >= self.net.first(task)

    def _completed(self, node: TreeNode, assignment: Assignment) -> Assignment:
        """With the tasks that make the quantified formulas fail: those that the negation says to exist."""
        while True:
            match node.formula:
                case Provided():
                    node = node.successors[0]
                case ForTask("exists", tvar, _) if tvar not in assignment:
                    node = node.successors[0]
                    tasks = range(len(self.net.tasks))
                    found = next((t for t in tasks if self._is_in(node, {**assignment, tvar: t})), None)
                    if found is None:
                        return assignment
                    assignment = {**assignment, tvar: found}
                case _:
                    return assignment

    def _is_in(self, node: TreeNode, assignment: Assignment) -> bool:
        return self.contains(self.evaluation.cuts(node, assignment), self.cut)

    def _parts(self, shown: list[Node], assignment: Assignment) -> Iterator[TaskPart]:
        for part in dict.fromkeys(shown):
            value = self._value(part, assignment)
            if value is not None:
                is_local = isinstance(part, Says)
                yield TaskPart(task_text(part), value, self._reads(part, assignment), is_local)

    def _value(self, part: Node, assignment: Assignment) -> str | None:
        try:
            if self._is_in(formula_tree(transformed(part)), assignment):
                return "satisfied"
            return "unsatisfied" if self._is_in(formula_tree(negated(part)), assignment) else "undefined"
        except NotCoveredError:
            return None

    def _reads(self, part: Node, assignment: Assignment) -> dict[str, tuple[Value, ...]]:
        if not isinstance(part, Says) or not self._exists(assignment[part.tvar]):
            return {}
        return self._visible(assignment[part.tvar], _names(part))

    def _visible(self, task: int, names: set[str]) -> dict[str, tuple[Value, ...]]:
        found = {name: self.net.values(task, self.cut[task], name) for name in sorted(names)}
        shown = {
            name: tuple(v for v in values if v is not MISSING) for name, values in found.items() if values
        }
        return {name: values for name, values in shown.items() if values}

    def _state(self, task: int, read: set[str]) -> StateFact:
        count = self.cut[task]
        stack = stack_text(self.net.stacks(task)[count])
        return StateFact(self.net.tasks[task], count, stack, self._visible(task, read))

    def _past(self, tasks: list[int]) -> tuple[str, ...]:
        computation = self.net.computation
        past = computation.closure({task: self.cut[task] for task in tasks})
        events = [e for task, count in enumerate(past) for e in self.net.trace.events_of[task][:count]]
        return tuple(self.net.trace.name(event) for event in sorted(events))


def _shown(formula: Node, quantifiers: int) -> Iterator[Node]:
    """The sub-formulas, the whole first; below a quantifier only if it is one of the outermost so many.

    For these the failing task is known, and the assignment has it.
    """
    pending = [formula]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, ForTask):
            quantifiers -= 1
            if quantifiers < 0:
                continue
        pending.extend(reversed(parts(part)))


def _names(part: Node) -> set[str]:
    """The variables that a local state formula reads."""
    if not isinstance(part, Says):
        return set()
    leaves = [leaf for leaf in nodes(part.formula) if isinstance(leaf, Shared | Local)]
    assert all(isinstance(leaf, Shared) or leaf.process == SHARED for leaf in leaves)
    return {leaf.variable for leaf in leaves}
