"""Breadth-first search of a model in C: the compiled twin of `search.BreadthFirst`.

Here belongs the calling of the kernel in `_pairs.c`, which is built when a compiler is there and otherwise
left out. It has keys of 64 bits, or of 128 where states are wider, takes models whose states leave
`READER_BITS` of these for the automaton, and searches that enter each pair once. It discovers the same
pairs in the same order, in 12 bytes a pair (20 with wide keys) and its share of a hash table. What it does
not know yet it asks here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from possibly.compiled import built
from possibly.control.temporal.model_system import ModelSystem
from possibly.control.temporal.options import Options
from possibly.control.temporal.product import Product
from possibly.control.temporal.search import BreadthFirst, Path, Search, moves_between
from possibly.models.model import Model

READER_BITS = 6
PAUSE_EVERY = 1 << 15
"""Pairs that the kernel expands between two pauses."""


def kernel(bits: int = 0) -> Any:
    """The compiled module for states of so many bits, if there is one and it was built."""
    for name, room in (("_pairs", 64), ("_pairs_wide", 128)):
        if bits + READER_BITS <= room:
            found = built(f"possibly.control.temporal.{name}")
            if found is not None:
                return found
    return None


def breadth_first(product: Product, options: Options) -> Search:
    """The fastest search that can take the product."""
    if options.all_paths or not isinstance(product.system, ModelSystem) or product.valuations.mask is None:
        return BreadthFirst(product, options)
    found = kernel(product.system.model.bits)
    if found is None:
        return BreadthFirst(product, options)
    return CompiledBreadthFirst(product, options, product.system.model, found)


class _Answers:
    """What the kernel asks for."""

    def __init__(self, product: Product, model: Model) -> None:
        self.model = model
        self.automaton = product.automaton
        self.valuations = product.valuations
        self.is_accepting = product.automaton.is_accepting
        self._numbers: dict[int, int] = {}
        self._known: list[int] = []

    def effects(self, process: int, edge: int, state: int) -> list[tuple[int, int]]:
        found = self.model.processes[process]
        known = found.edges[edge].known.get(state & found.edges[edge].mask)
        if known is None:
            known = self.model.effects(found, found.edges[edge], state)
        return [(keep, put) for _, keep, put in known]

    def valuation(self, state: int) -> int:
        """Valuations by number: they may have more bits than the kernel takes."""
        valuation = self.valuations(state)
        if valuation not in self._numbers:
            self._numbers[valuation] = len(self._known)
            self._known.append(valuation)
        return self._numbers[valuation]

    def advance(self, reader: int, valuation: int) -> Any:
        return self.automaton.advance(reader, self._known[valuation])


class CompiledBreadthFirst(Search):
    """Shortest steps first."""

    def __init__(self, product: Product, options: Options, model: Model, module: Any) -> None:
        self.product = product
        self.options = options
        self.model = model
        self.pairs: Any = None
        self._module = module

    def paths(self) -> Iterator[Path | None]:
        reported = 0
        try:
            for path in self._paths():
                reported += path is not None
                yield path
        except OverflowError:
            # More automaton states than a key has room for: the plain twin finds the same steps again.
            plain = BreadthFirst(self.product, self.options)
            found = plain.paths()
            for _ in islice((path for path in found if path is not None), reported):
                pass
            for path in found:
                self.visited, self.was_cut = plain.visited, plain.was_cut
                yield path
            self.visited, self.was_cut = plain.visited, plain.was_cut

    def _paths(self) -> Iterator[Path | None]:
        self.pairs = self._made()
        while (found := self.pairs.run(PAUSE_EVERY)) != -2:
            self.visited = self.pairs.count
            yield None if found == -1 else self._report(found)
        self.visited, self.was_cut = self.pairs.count, self.pairs.was_cut

    def _made(self) -> Any:
        model = self.model
        return self._module.Pairs(
            ask=_Answers(self.product, model),
            bits=model.bits,
            processes=[(p.shift, p.mask, [edge.mask for edge in p.edges]) for p in model.processes],
            atoms_mask=self.product.valuations.mask,
            roots=self.product.roots(),
            bound=self.options.bound or 0,
            goes_on=self.options.size == "each",
        )

    def _report(self, number: int) -> Path:
        states = self.pairs.way(number)
        return Path(tuple(moves_between(self.product, states)), tuple(states))
