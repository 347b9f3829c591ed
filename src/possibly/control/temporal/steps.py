"""The search for one temporal step: the automaton, the product and the search that the options ask for.

Here also belong the filters of section 5: a step that ends where an earlier one did, and one with the same
sequence of system states. The second keeps the tree T of the steps reported so far; "each node in the tree
consists of a system state and a repetition counter". Departure: a sequence that ends before a reported one
does is another sequence, so an end is marked in T and only the same end counts as the same step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from possibly.control.temporal.compiled import breadth_first
from possibly.control.temporal.memoryless import Memoryless
from possibly.control.temporal.options import Options
from possibly.control.temporal.product import Product
from possibly.control.temporal.search import DepthFirst, Path, Search
from possibly.control.temporal.system import State, System
from possibly.errors import FormulaError
from possibly.logic.automaton import Automaton, ReducedAutomaton, TableauAutomaton
from possibly.logic.progression import TooLargeError
from possibly.logic.syntax import Node
from possibly.logic.tableau import TableauTooLargeError


@dataclass(slots=True)
class Tree:
    """The tree T: the sequences reported so far."""

    below: dict[tuple[State, int], Tree] = field(default_factory=dict)
    """By system state and how often it stood on the path before."""
    ends: bool = False

    def adds(self, states: tuple[State, ...]) -> bool:
        """Whether the sequence is new; it is in the tree from now on."""
        node, repeated = self, dict[State, int]()
        for state in states:
            repeated[state] = repeated.get(state, -1) + 1
            node = node.below.setdefault((state, repeated[state]), Tree())
        new, node.ends = not node.ends, True
        return new


class StepSearch:
    """Yields the steps that satisfy a formula from a state, one after the other."""

    def __init__(self, system: System, formula: Node, start: State, options: Options) -> None:
        self.automaton = automaton_of(formula, options)
        self.product = Product(system, self.automaton, start)
        self.search = _search(self.product, options)
        self.options = options
        self._paths = self._filtered()

    def __iter__(self) -> Iterator[Path | None]:
        return self._paths

    def _filtered(self) -> Iterator[Path | None]:
        ends: set[State] = set()
        tree = Tree()
        for path in self.search.paths():
            if path is not None:
                if self.options.new_ends and path.states[-1] in ends:
                    continue
                if self.options.new_sequences and not tree.adds(path.states):
                    continue
                ends.add(path.states[-1])
            yield path


@contextmanager
def known_limits() -> Iterator[None]:
    """An automaton that cannot be built inside is an error of the formula."""
    try:
        yield
    except (TooLargeError, TableauTooLargeError):
        raise FormulaError("the automaton of the formula is too large", hint="split it into steps") from None


def automaton_of(formula: Node, options: Options) -> Automaton:
    return TableauAutomaton(formula) if options.printed else ReducedAutomaton(formula)


def _search(product: Product, options: Options) -> Search:
    if options.memoryless:
        return Memoryless(product, options)
    if options.size in ("min", "max"):
        return DepthFirst(product, options)
    return breadth_first(product, options)
