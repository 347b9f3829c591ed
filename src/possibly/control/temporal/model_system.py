"""A model file as a system: states are packed integers.

`at(P, "m8")` holds when the node labelled m8, or that of line m8, was the last one that P executed;
`at(P, "failed")` when a statement of P could not be executed; `done(P)` when P has ended; `inside(P, f)` when
that node stands in function f or in one that f calls. A model has no messages in transit: read its channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from possibly.control.temporal.system import Move, Reading, State
from possibly.errors import FormulaError
from possibly.logic.bind import Vocabulary
from possibly.logic.predicates.functions import MISSING
from possibly.logic.printer import unparse
from possibly.logic.syntax import At, Done, Leaf, Literal, Local, Node, Shared, Stack, Subscript, Transit
from possibly.logic.walk import fold, with_children
from possibly.models.model import FAILED, Edge, Model
from possibly.models.model import Reading as ModelReading
from possibly.models.slots import NOTHING


class ModelSystem:
    """Steps through the flow graphs of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name = model.file
        self.vocabulary = Vocabulary(
            processes=tuple([process.name for process in model.processes]),
            locals={process: frozenset(places) for process, places in model.locals.items()},
            shared=frozenset([*model.shared, *model.constants]),
            functions=model.functions,
            labels=model.labels,
        )
        self._elements: dict[Leaf, Reading] = {}
        self.successors: Callable[[State], Iterable[tuple[Move, State]]] = model.successors

    def initial(self) -> Sequence[State]:
        return [self.model.initial]

    def narrowed(self, node: Node) -> Node:
        """The same predicate, with an element of an array read alone where its indices are constant.

        What is read is then a few bits instead of the whole array, and valuations are kept by what is read.
        """
        return fold(node, self._narrow)

    def _narrow(self, node: Node, below: list[Node]) -> Node:
        made = with_children(node, below) if below else node
        indices: list[int] = []
        inner = made
        while isinstance(inner, Subscript) and isinstance(inner.index, Literal):
            if type(inner.index.value) is not int:
                return made
            indices.insert(0, inner.index.value)
            inner = inner.value
        found = self.model.element(inner.variable, indices) if isinstance(inner, Shared) else None
        if found is None:
            return made
        leaf = Shared(f"{unparse(inner)}{''.join(f'[{index}]' for index in indices)}")
        self._elements[leaf] = _with_missing(found)
        return leaf

    def reading(self, leaf: Leaf) -> Reading:
        if leaf in self._elements:
            return self._elements[leaf]
        match leaf:
            case Local(process, variable):
                return self._variable(process, variable)
            case Shared(variable):
                return self._variable(None, variable)
            case At(process, label):
                return self._on_edge(process, lambda edge: _is_at(edge, label))
            case Done(process):
                return self._on_edge(process, lambda edge: edge.next is None and not edge.failed)
            case Stack("inside", process, function):
                return self._on_edge(process, lambda e: e.last is not None and function in e.last.functions)
            case Transit():
                raise FormulaError("a model has no transit(): read its channels", hint="len(channel) == 0")
        raise FormulaError("start and term speak of recorded runs", hint="write inside(P, f) or at(P, label)")

    def _variable(self, process: str | None, name: str) -> Reading:
        return _with_missing(self.model.variable(process, name))

    def _on_edge(self, process: str, holds: Callable[[Edge], bool]) -> Reading:
        mask, value = self.model.on_edge(process, holds)
        return Reading(value, mask)

    def places(self, state: State) -> Mapping[str, str]:
        return {process.name: _place(process.edge(state)) for process in self.model.processes}


def _with_missing(reading: ModelReading) -> Reading:
    mask, value = reading

    def read(state: State) -> object:
        found = value(state)
        return MISSING if found is NOTHING else found

    return Reading(read, mask)


def _is_at(edge: Edge, label: str) -> bool:
    if label == FAILED and edge.failed:
        return True
    return edge.last is not None and label in edge.last.labels


def _place(edge: Edge) -> str:
    last = "at the start" if edge.last is None else f"at {edge.last.name}: {edge.last.text}"
    if edge.failed:
        return f"failed {last}"
    following = "ended" if edge.next is None else f"next {edge.next.name}: {edge.next.text}"
    return f"{last}, {following}"
