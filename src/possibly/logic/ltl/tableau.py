"""Finite LTL to an automaton on finite words: the tableau, built node by node where it is asked for.

It is the construction of "Temporal debugging for concurrent systems" (Gunter and Peled), section 3, with its
fields: id, incoming, new, old, next, strong. A node is split by the table

    formula      left new    left next    strong   right new   right next
    m U n        m           m U n        yes      n
    m R n        n           m R n                 m, n
    m or n       m                                 n
    m and n      m, n
    N m                      m
    X m                      m            yes
    p, !p

in which the paper has lost an overline: the first nexttime row is the weak one. Departures: nodes are merged
only if `strong` agrees too, else `(a U a) & N(a U a)` rejects a word of one state; a node that demands both p
and !p is dropped; and past operators are added. A node decides every formula that stands under Y or Z, by
taking it or its negation into `new`: its `memory` is what it decided, and in the next node Y and Z are
true or false by it. S and T are split by their fixed points, `m S n = n or (m and Y(m S n))`.

Laws. A word is accepted iff the formula holds on it. Nodes are numbered in the order in which they were
completed. `successors` of a node are computed once; nobody computes those of a node that no search enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from possibly.logic.depth import deep
from possibly.logic.ltl.normal import FALSE, TRUE
from possibly.logic.ltl.tableau_normal import TableauForms
from possibly.logic.syntax import Node as Formula

INIT = -1
"""The dummy node before the first ones."""
FIRST = -1
"""The memory before the first state."""
MOST_NODES = 100_000


class TableauTooLargeError(Exception):
    """The tableau has more nodes than can be built."""


class Node:
    """A completed node: its field `new` is empty."""

    __slots__ = ("id", "incoming", "memory", "negative", "next", "old", "positive", "strong")

    def __init__(self, number: int, made: _Made) -> None:
        self.id = number
        self.incoming: set[int] = set()
        """The nodes with an edge to this one, as far as they were expanded; INIT is one of them."""
        self.old, self.next, self.strong, self.memory, self.positive, self.negative = made


class _Made(NamedTuple):
    """What a node is compared by."""

    old: int
    """Bit f: formula f was processed here."""
    next: int
    """Bit f: formula f must hold from every successor on."""
    strong: bool
    memory: int
    """Bit i: the i-th formula under Y or Z holds here."""
    positive: int
    """The label: bit a for atom a."""
    negative: int


class _Growing(NamedTuple):
    """A node in the making."""

    new: tuple[int, ...]
    old: int = 0
    next: int = 0
    strong: bool = False
    positive: int = 0
    negative: int = 0


class Tableau:
    """The automaton of a formula; the fields of the paper are those of its nodes."""

    def __init__(self, formula: Formula) -> None:
        self.forms = TableauForms()
        self.formula = self.forms.of(formula)
        self.nodes: list[Node] = []
        self._past = self._under_past()
        self._known: dict[_Made, Node] = {}
        self._successors: dict[int, tuple[int, ...]] = {}

    @property
    def atoms(self) -> Sequence[Formula]:
        return self.forms.atoms

    @property
    def initial(self) -> tuple[int, ...]:
        """The nodes with an edge from the dummy node."""
        return self._expanded(INIT, (self.formula,), FIRST)

    def successors(self, node: int) -> tuple[int, ...]:
        found = self.nodes[node]
        return self._expanded(node, tuple(_bits(found.next)), found.memory)

    def is_compatible(self, node: int, valuation: int) -> bool:
        """Whether a state with this truth of the atoms satisfies the node's label."""
        found = self.nodes[node]
        return found.positive & ~valuation == 0 and found.negative & valuation == 0

    def is_accepting(self, node: int) -> bool:
        """The two conditions of the paper, literally."""
        found = self.nodes[node]
        return not found.strong and all(self._is_fulfilled(found.old, f) for f in _bits(found.old))

    def _is_fulfilled(self, old: int, formula: int) -> bool:
        kind, parts = self.forms.table[formula]
        return kind != "U" or parts[1] == TRUE or bool(old >> parts[1] & 1)

    def accepts(self, word: Sequence[int]) -> bool:
        """Whether some path of nodes reads the word, which is not empty, and ends in an accepting one."""
        nodes: Sequence[int] = self.initial
        for position, valuation in enumerate(word):
            if position:
                nodes = list(dict.fromkeys([s for node in nodes for s in self.successors(node)]))
            nodes = [node for node in nodes if self.is_compatible(node, valuation)]
        return any(self.is_accepting(node) for node in nodes)

    def complete(self) -> int:
        """Builds every node; how many there are."""
        pending = list(self.initial)
        seen = set(pending)
        while pending:
            for node in self.successors(pending.pop()):
                if node not in seen:
                    seen.add(node)
                    pending.append(node)
        return len(self.nodes)

    def is_empty(self) -> bool:
        """Whether no sequence satisfies the formula."""
        self.complete()
        return not any(self.is_accepting(node.id) for node in self.nodes)

    # ---- construction ---------------------------------------------------------------------------

    def _under_past(self) -> tuple[int, ...]:
        """The formulas whose truth one state must tell the next, each or its negation once."""
        found: list[int] = []
        number = 0
        while number < len(self.forms.table):
            kind, parts = self.forms.table[number]
            formula = parts[0] if kind in ("Y", "Z") else number if kind in ("S", "T") else None
            if formula is not None and formula not in found and self.forms.negated(formula) not in found:
                found.append(formula)
            number += 1
        return tuple(found)

    def _expanded(self, source: int, new: tuple[int, ...], memory: int) -> tuple[int, ...]:
        if source not in self._successors:
            with deep():
                made = dict.fromkeys(self._split(new, memory))
            found = [self._node(each) for each in made]
            for node in found:
                node.incoming.add(source)
            self._successors[source] = tuple([node.id for node in found])
        return self._successors[source]

    def _node(self, made: _Made) -> Node:
        if made not in self._known:
            if len(self.nodes) >= MOST_NODES:
                raise TableauTooLargeError
            self._known[made] = Node(len(self.nodes), made)
            self.nodes.append(self._known[made])
        return self._known[made]

    def _split(self, new: tuple[int, ...], memory: int) -> list[_Made]:
        found: list[_Made] = []
        pending = [(_Growing(new), 0, 0)]
        while pending:
            node, decided, chosen = pending.pop()
            if node.new:
                parts = self._parts(node._replace(new=node.new[1:]), node.new[0], memory)
                pending.extend([(part, decided, chosen) for part in reversed(parts)])
            elif decided < len(self._past):
                formula = self._past[decided]
                against = node._replace(new=(self.forms.negated(formula),))
                pending.append((against, decided + 1, chosen))
                pending.append((node._replace(new=(formula,)), decided + 1, chosen | 1 << decided))
            else:
                _, old, following, strong, positive, negative = node
                found.append(_Made(old, following, strong, chosen, positive, negative))
            if len(pending) + len(found) > MOST_NODES:
                raise TableauTooLargeError
        return found

    def _parts(self, node: _Growing, formula: int, memory: int) -> list[_Growing]:
        """The copies into which processing one formula splits a node."""
        if formula in (TRUE, FALSE):
            return [node] if formula == TRUE else []
        if node.old >> formula & 1:
            return [node]
        node = node._replace(old=node.old | 1 << formula)
        kind, parts = self.forms.table[formula]
        match kind, parts:
            case "atom", (atom,):
                return (
                    [] if node.negative >> atom & 1 else [node._replace(positive=node.positive | 1 << atom)]
                )
            case "not atom", (atom,):
                return (
                    [] if node.positive >> atom & 1 else [node._replace(negative=node.negative | 1 << atom)]
                )
            case "and", _:
                return [node._replace(new=(*parts, *node.new))]
            case "or", _:
                return [node._replace(new=(part, *node.new)) for part in parts]
            case "U", (left, right):
                going = node._replace(new=(left, *node.new), next=node.next | 1 << formula, strong=True)
                return [going, node._replace(new=(right, *node.new))]
            case "R", (left, right):
                going = node._replace(new=(right, *node.new), next=node.next | 1 << formula)
                return [going, node._replace(new=(left, right, *node.new))]
            case "N", (part,):
                return [node._replace(next=node.next | 1 << part)]
            case "X", (part,):
                return [node._replace(next=node.next | 1 << part, strong=True)]
        return self._past_parts(node, formula, kind, parts, memory)

    def _past_parts(
        self, node: _Growing, formula: int, kind: str, parts: tuple[int, ...], memory: int
    ) -> list[_Growing]:
        if kind in ("Y", "Z"):
            return [node] if self._was(parts[0], memory, first=kind == "Z") else []
        left, right = parts
        before = self._was(formula, memory, first=kind == "T")
        if kind == "S":
            going = [node._replace(new=(left, *node.new))] if before else []
            return [*going, node._replace(new=(right, *node.new))]
        rest = node._replace(new=(right, *node.new))
        return [rest] if before else [rest._replace(new=(left, *rest.new))]

    def _was(self, formula: int, memory: int, first: bool) -> bool:
        """Whether the formula held in the previous state; `first` where there is none."""
        if memory == FIRST:
            return first
        if formula in (TRUE, FALSE):
            return formula == TRUE
        if formula in self._past:
            return bool(memory >> self._past.index(formula) & 1)
        return not memory >> self._past.index(self.forms.negated(formula)) & 1


def _bits(number: int) -> list[int]:
    """The places of the ones."""
    found = []
    while number:
        low = number & -number
        found.append(low.bit_length() - 1)
        number ^= low
    return found
