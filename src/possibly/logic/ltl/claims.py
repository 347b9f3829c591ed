"""Claims: finite LTL with past, watched while a run grows, three-valued.

Here belongs how a claim is judged round after round ("Integrating temporal assertions into a parallel
debugger", sections 4 and 5). After each state the verdict is true if every continuation satisfies the claim,
the empty one among them; false if none does; unknown otherwise. So it comes as early as it can, and once it
is true or false it never changes. At the end of the run `final` is the verdict of finite LTL.

Theory of operation. The claim is split into its conjuncts. Each becomes a deterministic automaton whose
states are sets of states of `progression`, made only where a run leads. The transitions of a state are a
decision tree over the atoms: an atom is asked for only if the tree comes to it, so what is decided already
is not evaluated again, while an atom under a past operator is asked for in each round (the paper calls that
prefetching). A conjunct is true when no rejecting state can be reached any more, false when no accepting
one can; the claim is false also when its conjuncts cannot be fulfilled together. Atoms count as independent
of each other: the claim knows nothing of what the program can do.

Departure from the paper: subformulas are not cached one by one, as the states of the automaton are. A
search for what can be reached is bounded; where the bound is hit the verdict stays unknown, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from possibly.logic.ltl.progression import Progression, State
from possibly.logic.syntax import And, Iff, Implies, Literal, Node, Not, Or
from possibly.logic.walk import children

Truth = bool | None
"""True, False, or None for unknown."""

Tree = int | tuple[int, "Tree", "Tree"]
"""A decision tree: the number of the next state, or (atom, tree if it is false, tree if it is true)."""

Ask = Callable[[int], bool]
"""The truth of an atom, by its number, in the current state of the system."""

MOST_STATES = 20_000
"""States of an automaton, or of several together, that a search for a verdict may visit."""
WIDEST = 16
"""Atoms up to which whole valuations are remembered."""

TRUE, FALSE = 0, 1
"""The two states of a decided conjunct."""
_DECIDED: tuple[Truth, Truth] = (True, False)


class UnaskedError(Exception):
    """An atom is needed that was not given."""

    def __init__(self, atom: int) -> None:
        super().__init__(atom)
        self.atom = atom


class _Partial:
    """A valuation of which only some atoms are known; read as an integer by `Progression`.

    There an atom is a largest part without temporal operators; here that part is a formula over smaller ones.
    """

    def __init__(self, predicates: Sequence[Node], numbers: Mapping[Node, int], known: Mapping[int, bool]):
        self.predicates = predicates
        self.numbers = numbers
        self.known = known

    def __rshift__(self, predicate: int) -> int:
        return int(self._value(self.predicates[predicate]))

    def _value(self, node: Node) -> bool:
        match node:
            case Literal(bool() as value):
                return value
            case Not(operand):
                return not self._value(operand)
            case And(operands):
                return all(self._value(part) for part in operands)
            case Or(operands):
                return any(self._value(part) for part in operands)
            case Implies(left, right):
                return not self._value(left) or self._value(right)
            case Iff(left, right):
                return self._value(left) == self._value(right)
        try:
            return self.known[self.numbers[node]]
        except KeyError:
            raise UnaskedError(self.numbers[node]) from None


class Conjunct:
    """The automaton of one conjunct; states are numbers, 0 and 1 are the decided ones."""

    def __init__(self, formula: Node, number_of: Callable[[Node], int]) -> None:
        self.formula = formula
        self.progression = Progression(formula)
        self._atoms = {atom: number_of(atom) for each in self.progression.atoms for atom in atoms_of(each)}
        self.sets: list[frozenset[State]] = [frozenset(), frozenset()]
        self._numbers: dict[frozenset[State], int] = {}
        self._trees: dict[int, Tree] = {}
        self._truths: dict[int, Truth] = {TRUE: True, FALSE: False}
        self.initial = self._decided(self._number(frozenset([self.progression.initial])), is_initial=True)

    def accepts(self, state: int) -> bool:
        """Whether the run may end here."""
        if state <= FALSE:
            return state == TRUE
        return any(each.may_end for each in self.sets[state])

    def tree(self, state: int) -> Tree:
        """Where the next state of the system leads, by its atoms (numbered as in the claim)."""
        if state <= FALSE:
            return state
        if state not in self._trees:
            self._trees[state] = self._grown(self._raw_tree(state))
        return self._trees[state]

    def _raw_tree(self, state: int) -> Tree:
        return self._branched(self.sets[state], {})

    def _branched(self, states: frozenset[State], known: dict[int, bool]) -> Tree:
        try:
            partial = _Partial(self.progression.atoms, self._atoms, known)
            found = {after for each in states for after in self.progression.following(each, partial)}
        except UnaskedError as missing:
            atom = missing.atom
            low = self._branched(states, {**known, atom: False})
            high = self._branched(states, {**known, atom: True})
            return low if low == high else (atom, low, high)
        return self._number(frozenset(found))

    def _grown(self, tree: Tree) -> Tree:
        """The tree with decided states in place of those that are as good as decided."""
        if isinstance(tree, int):
            return self._decided(tree)
        low, high = self._grown(tree[1]), self._grown(tree[2])
        return low if low == high else (tree[0], low, high)

    def _number(self, states: frozenset[State]) -> int:
        if not states:
            return FALSE
        if any(state.accepts_all for state in states):
            return TRUE
        if states not in self._numbers:
            self._numbers[states] = len(self.sets)
            self.sets.append(states)
        return self._numbers[states]

    def _decided(self, state: int, is_initial: bool = False) -> int:
        if state not in self._truths:
            self._truths[state] = self._reachable_truth(state, is_initial)
        truth = self._truths[state]
        return state if truth is None else (TRUE if truth else FALSE)

    def _reachable_truth(self, state: int, is_initial: bool) -> Truth:
        """True if all states that can be reached accept, False if none does. A run is never empty."""
        seen, pending = {state}, [state]
        found: set[bool] = set()
        while pending:
            current = pending.pop()
            if not (is_initial and current == state):
                found.add(self.accepts(current))
            if len(found) > 1 or len(seen) > MOST_STATES:
                return None
            if current > FALSE:
                following = set(leaves(self._raw_tree(current))) - seen
                seen |= following
                pending.extend(following)
        return found.pop()


def atoms_of(predicate: Node) -> list[Node]:
    """The parts of a state predicate that are no connectives, each once, in the order of the text."""
    found: dict[Node, None] = {}
    pending = [predicate]
    while pending:
        node = pending.pop()
        if isinstance(node, Not | And | Or | Implies | Iff):
            pending.extend(reversed(children(node)))
        elif not (isinstance(node, Literal) and isinstance(node.value, bool)):
            found[node] = None
    return list(found)


def leaves(tree: Tree) -> Iterator[int]:
    """The states that a decision tree leads to."""
    pending = [tree]
    while pending:
        each = pending.pop()
        if isinstance(each, int):
            yield each
        else:
            pending.extend(each[1:])


class ClaimMonitor:
    """The automaton of a whole claim: its states are numbers, 0 before the first round.

    `atoms` are the state predicates of the claim; a valuation has bit i set where atom i is true.
    """

    def __init__(self, formula: Node) -> None:
        self.formula = formula
        self.atoms: list[Node] = []
        self._atom_numbers: dict[Node, int] = {}
        self.conjuncts = [Conjunct(part, self._atom) for part in conjuncts_of(formula)]
        self.states: list[tuple[int, ...]] = []
        self.verdicts: list[Truth] = []
        """By state: true, false or unknown as soon as no continuation leaves a doubt."""
        self._numbers: dict[tuple[int, ...], int] = {}
        self._rows: list[_Row] = []
        self._number(tuple([part.initial for part in self.conjuncts]))

    def _atom(self, node: Node) -> int:
        if node not in self._atom_numbers:
            self._atom_numbers[node] = len(self.atoms)
            self.atoms.append(node)
        return self._atom_numbers[node]

    def step(self, state: int, valuation: int) -> int:
        """The state after a round in which the atoms have these values."""
        return self._rows[state][valuation]

    def run(self, valuations: Iterable[int], state: int = 0) -> int:
        """The state after many rounds."""
        rows = self._rows
        for valuation in valuations:
            state = rows[state][valuation]
        return state

    def ask(self, state: int, ask: Ask) -> tuple[int, dict[int, bool]]:
        """The state after a round, and the atoms that were asked for to find it, each once."""
        known: dict[int, bool] = {}

        def once(atom: int) -> bool:
            if atom not in known:
                known[atom] = ask(atom)
            return known[atom]

        return self._following(state, once), known

    def final(self, state: int) -> bool:
        """Whether the claim holds if the run ends here: finite LTL."""
        decided = self.verdicts[state]
        if decided is not None:
            return decided
        return all(part.accepts(own) for part, own in zip(self.conjuncts, self.states[state], strict=True))

    def _following(self, state: int, ask: Ask) -> int:
        if self.verdicts[state] is not None:
            return state
        found = []
        for part, own in zip(self.conjuncts, self.states[state], strict=True):
            tree = part.tree(own)
            while not isinstance(tree, int):
                tree = tree[2] if ask(tree[0]) else tree[1]
            found.append(tree)
        return self._number(tuple(found))

    def _number(self, states: tuple[int, ...]) -> int:
        if FALSE in states:
            states = (FALSE,) * len(states)
        if states not in self._numbers:
            self._numbers[states] = len(self.states)
            self.states.append(states)
            self._rows.append(_Row(self, len(self._rows), keep=len(self.atoms) <= WIDEST))
            self.verdicts.append(self._verdict(states))
        return self._numbers[states]

    def _verdict(self, states: tuple[int, ...]) -> Truth:
        if FALSE in states:
            return False
        if all(state == TRUE for state in states):
            return True
        undecided = [state for state in states if state != TRUE]
        return None if len(undecided) < 2 or self._can_hold(states) else False

    def _can_hold(self, states: tuple[int, ...]) -> bool:
        """Whether some continuation fulfils all conjuncts; yes where the search is cut short."""
        is_initial = not self._rows[1:]
        seen, pending = {states}, [states]
        while pending and len(seen) <= MOST_STATES:
            current = pending.pop()
            accepted = all(map(Conjunct.accepts, self.conjuncts, current))
            if accepted and not (is_initial and current == states):
                return True
            trees = [part.tree(own) for part, own in zip(self.conjuncts, current, strict=True)]
            for following in together(trees, {}):
                if FALSE not in following and following not in seen:
                    seen.add(following)
                    pending.append(following)
                    if all(map(Conjunct.accepts, self.conjuncts, following)):
                        return True
                    if len(seen) > MOST_STATES:
                        break
        return bool(pending)


class _Row(dict[int, int]):
    """Valuation -> next state, filled in as valuations come."""

    __slots__ = ("keep", "monitor", "state")

    def __init__(self, monitor: ClaimMonitor, state: int, keep: bool) -> None:
        super().__init__()
        self.monitor = monitor
        self.state = state
        self.keep = keep

    def __missing__(self, valuation: int) -> int:
        found = self.monitor._following(self.state, lambda atom: bool(valuation >> atom & 1))
        if self.keep:
            self[valuation] = found
        return found


def conjuncts_of(formula: Node) -> list[Node]:
    """The operands of the outermost conjunction, however it is nested."""
    found: list[Node] = []
    pending = [formula]
    while pending:
        node = pending.pop()
        if isinstance(node, And):
            pending.extend(reversed(node.operands))
        else:
            found.append(node)
    return found


def together(trees: Sequence[Tree], known: dict[int, bool]) -> Iterator[tuple[int, ...]]:
    """Where several decision trees can lead at once; those that ask for the same atom get one answer."""
    trees = [_resolved(tree, known) for tree in trees]
    asked = next((tree[0] for tree in trees if not isinstance(tree, int)), None)
    if asked is None:
        yield tuple([tree for tree in trees if isinstance(tree, int)])
        return
    for value in (True, False):
        yield from together(trees, {**known, asked: value})


def _resolved(tree: Tree, known: Mapping[int, bool]) -> Tree:
    while not isinstance(tree, int) and tree[0] in known:
        tree = tree[2] if known[tree[0]] else tree[1]
    return tree
