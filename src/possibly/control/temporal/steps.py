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
from itertools import islice
from typing import Any

from possibly.control.temporal.compiled import breadth_first
from possibly.control.temporal.memoryless import Memoryless
from possibly.control.temporal.options import Options
from possibly.control.temporal.product import Product
from possibly.control.temporal.search import BreadthFirst, DepthFirst, Path, Search
from possibly.control.temporal.system import State, System
from possibly.errors import FormulaError
from possibly.logic.ltl.automaton import Automaton, ReducedAutomaton, TableauAutomaton
from possibly.logic.ltl.progression import TooLargeError
from possibly.logic.ltl.tableau import TableauTooLargeError
from possibly.logic.syntax import Leaf, Node

SHARE = 1_024
"""Classes of executions that are looked at between two pauses of the search by states."""


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
        self.formula = formula
        self._has_none = False
        """Every class of executions was looked at, and none has a step."""
        self._is_doubtful = False
        """A step through some class was none of the system."""
        self._guessed = options.bound is not None or options.memoryless
        """Nothing more is guessed."""
        self._paths = self._filtered()

    def __iter__(self) -> Iterator[Path | None]:
        return self._paths

    def _filtered(self) -> Iterator[Path | None]:
        ends: set[State] = set()
        tree = Tree()
        for path in self._minimal() if self.options.size in ("min", "shortest") else self.search.paths():
            if path is not None:
                if self.options.new_ends and path.states[-1] in ends:
                    continue
                if self.options.new_sequences and not tree.adds(path.states):
                    continue
                ends.add(path.states[-1])
            yield path

    def _minimal(self) -> Iterator[Path | None]:
        """No step goes on past its end.

        Where several states of the automaton read one prefix, the search follows each by itself and may come
        to the end by a longer way than another does; such a path is cut off where it first satisfies the
        formula.
        """
        reported = Tree()
        for path in self._with_guess():
            size = None if path is None else self._least(path.states)
            if path is None or size is None or size == len(path.states):
                is_known = path is not None and not reported.adds(path.states)
                if not (is_known and self._guessed):
                    yield path
            elif reported.adds(path.states[:size]):
                loop = path.loop if path.loop is not None and path.loop < size else None
                yield Path(path.moves[: size - 1], path.states[:size], loop)

    def _with_guess(self) -> Iterator[Path | None]:
        """What the search finds; where that takes long, a step through some class of executions comes first.

        If all classes are looked at and none has a step, there is none.
        """
        sought = None if self._guessed else self._sought()
        for path in self.search.paths():
            if path is None and sought is not None:
                for found in islice(sought, SHARE):
                    yield found
                    if found is not None:
                        self._guessed, sought = True, None
                        break
                if self._has_none:
                    return
            yield path

    def _sought(self) -> Iterator[Path | None]:
        """A step through each class of executions, in a system that has these; None: this one has none."""
        system: Any = self.product.system
        if not hasattr(system, "classes"):
            return
        classes = system.classes(self.product.start, self.formula, self._leaves())
        while True:
            try:
                each = next(classes)
            except StopIteration as end:
                self._has_none = bool(end.value) and not self._is_doubtful
                return
            yield self._through(each)

    def _leaves(self) -> list[Leaf]:
        predicates = self.product.valuations.predicates
        return list(dict.fromkeys([leaf for predicate in predicates for leaf in predicate.leaves]))

    def _through(self, each: Any) -> Path | None:
        """A shortest step through a class, as one of the system."""
        self._is_doubtful |= not each.is_exact
        product = Product(each, self.automaton, each.start)
        for found in BreadthFirst(product, Options()).paths():
            if found is not None:
                system: Any = self.product.system
                path = self._cut(system.way(each.schedule(found.states), self.product.start))
                self._is_doubtful |= path is None
                return path
        return None

    def _cut(self, path: Path) -> Path | None:
        size = self._least(path.states)
        return None if size is None else Path(path.moves[: size - 1], path.states[:size], None, True)

    def _least(self, states: tuple[State, ...]) -> int | None:
        """How many of the states satisfy the formula, at least."""
        automaton, valuations = self.automaton, self.product.valuations
        readers = set(automaton.start(valuations(states[0])))
        for size, state in enumerate(states, start=1):
            if size > 1:
                letter = valuations(state)
                readers = {after for reader in readers for after in automaton.advance(reader, letter)}
            if any(map(automaton.is_accepting, readers)):
                return size
        return None


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
