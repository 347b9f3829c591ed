"""Names in a task logic formula, compared with what a run has.

Here belongs: which names are known at all. What a name means is decided by the local state (a bare name is
the task's local, else the shared variable), so a known name becomes the leaf `Shared(name)` whatever it is,
and `shared("N")` the leaf `Local("shared", "N")`, which means the shared variable alone. A `let` is put in
as a tree. `b.data[1]` is an entry of `b.data`, unless the run has a variable of just that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from possibly.logic.bind import Vocabulary
from possibly.logic.depth import deep
from possibly.logic.source import Source
from possibly.logic.specification import Let
from possibly.logic.syntax import Literal, Local, Name, Node, Quantified, Shared, Subscript
from possibly.logic.tasks.formulas import ForTask, Point, Provided, Says
from possibly.logic.walk import children, nodes, with_children

SHARED = "shared"
"""The owner of the leaf that means the shared variable, whatever locals there are."""


@dataclass(frozen=True, slots=True)
class BoundTasks:
    formula: Node
    warnings: tuple[str, ...] = ()


def bind_tasks(
    formula: Node, vocabulary: Vocabulary, lets: Sequence[Let] = (), source: Source | None = None
) -> BoundTasks:
    """The formula with known names alone; `source` gives errors their file and line."""
    binder = _Binder(vocabulary, lets, source or Source(""))
    with deep():
        bound = binder.temporal(formula)
    return BoundTasks(bound, tuple(binder.warnings))


class _Binder:
    def __init__(self, vocabulary: Vocabulary, lets: Sequence[Let], source: Source) -> None:
        self.functions = vocabulary.functions
        self.shared = vocabulary.shared
        self.vocabulary = vocabulary
        self.known = frozenset(vocabulary.shared).union(*vocabulary.locals.values())
        self.lets = {let.name: number for number, let in enumerate(lets)}
        self.let_list = lets
        self.visible = len(lets)
        self.source = source
        self.warnings: dict[str, None] = {}

    def fail(self, message: str, node: Node, hint: str | None) -> NoReturn:
        self.source.fail(message, node.span[0] if node.span else 0, hint)

    def temporal(self, node: Node) -> Node:
        match node:
            case Says(_, formula):
                return node.changed(formula=self.local(formula))
            case ForTask(_, _, body) | Provided(body, _):
                return node.changed(body=self.temporal(body))
        return with_children(node, [self.temporal(part) for part in children(node)])

    def local(self, node: Node) -> Node:
        match node:
            case Point(_, function):
                if function not in self.functions:
                    self.warn_unknown(function)
                return node
            case Name():
                return self.name(node)
            case Shared(variable):
                if variable not in self.shared:
                    self.fail(f"no event ever sets {variable}", node, self.near(variable, self.shared))
                return Local(SHARED, variable, span=node.span)
            case Subscript(Name(parts), Literal(int() as index)) if self.is_entry(parts, index):
                return Shared(f"{'.'.join(parts)}[{index}]", span=node.span)
        below = [self.local(part) for part in children(node)]
        return with_children(node, below) if below else node

    def is_entry(self, name: tuple[str, ...], index: int) -> bool:
        return self.is_known(f"{'.'.join(name)}[{index}]")

    def is_known(self, variable: str) -> bool:
        """Some vocabularies know more names than they list."""
        names = self.vocabulary
        return variable in self.known or any(
            variable in each for each in (names.shared, *names.locals.values())
        )

    def name(self, node: Name) -> Node:
        variable = ".".join(node.parts)
        if variable in self.lets:
            return self.let(node, variable)
        if not self.is_known(variable):
            self.fail(f"no event ever sets {variable}", node, self.near(variable, self.known))
        return Shared(variable, span=node.span)

    def let(self, node: Name, name: str) -> Node:
        number = self.lets[name]
        if number >= self.visible:
            self.fail(f"`{name}` is not defined above", node, "a let may use those above it")
        if name in self.shared:
            text = f'let {name} hides the shared variable of that name: write shared("{name}") for it'
            self.warnings[text] = None
        let = self.let_list[number]
        saved = self.visible, self.source
        self.visible, self.source = number, let.source
        for part in nodes(let.formula):
            if isinstance(part, Quantified):
                self.fail("a let with a quantifier cannot be used in a task formula", part, None)
        found = self.local(let.formula)
        self.visible, self.source = saved
        return found

    def warn_unknown(self, function: str) -> None:
        near = self.near(function, self.functions)
        self.warnings[f"no event has the function {function}" + (f" ({near})" if near else "")] = None

    def near(self, word: str, known: Iterable[str]) -> str | None:
        import difflib  # only needed on the way to a message

        close = difflib.get_close_matches(word[:100], sorted(known)[:5000], n=3, cutoff=0.6)
        if close:
            return f"did you mean {' or '.join(close)}?"
        shown = sorted(known)[:8]
        return f"known are {', '.join(shown)}" if shown else None
