"""The lasso that breaks a linear formula: a way to a state, and a loop that leads back to it.

Here belongs the search, and which loops are fair. A lasso is an order of the run up to a cut C, and from
there on to a cut D with the same state (`states`): as far as the trace shows, the program can do the same
again and again. Sen's thesis (section 9.2.2) asks for it, since a finite order never shows that something
does not happen at all.

Theory of operation. First cuts of one state are taken for one, and the strongly connected components of
states and guesses (`infinite`) are found: where none has everything fulfilled there is no lasso, and that
is all that has to be done. Only inside the others a real stretch of the lattice from C to D is looked for,
shortest ways first.

Fairness (of a process that does not move on the loop): its next step, once enabled, stays so until it is
executed. So it is enabled all the time iff it is at C, and now and then iff it is at D. A loop is weakly
fair if nobody is passed over who can go on all the time, strongly fair if nobody is who can now and then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from possibly.detection.finding import Path
from possibly.detection.lassos.infinite import Guess, Infinite, Truths
from possibly.detection.lassos.states import States
from possibly.detection.limits import Budget
from possibly.logic.syntax import Node
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import CutPredicates
from possibly.records import dataclass

FAIRNESS = ("any", "weak", "strong")
Key = tuple[int, Truths]
"""A state, and what is true of the formula's predicates there."""
Pair = tuple[Key, Guess]
Point = tuple[int, Guess]
Moves = Callable[[int], Iterable[Move]]
Place = TypeVar("Place")


@dataclass(frozen=True, slots=True)
class Lasso:
    """An order that can go on for ever: after `start` steps comes what is repeated."""

    path: tuple[Move, ...]
    start: int


class Lassos:
    """Looks for lassos in a lattice, or along the orders that `moves` allows."""

    def __init__(
        self,
        lattice: Lattice,
        predicates: CutPredicates,
        budget: Budget,
        fairness: str = "weak",
        moves: Moves | None = None,
    ) -> None:
        self.lattice = lattice
        self.predicates = predicates
        self.budget = budget
        self.fairness = fairness
        self.moves: Moves = moves or lattice.moves
        self.states = States(lattice)

    def breaking(self, formula: Node) -> Lasso | None:
        """A lasso on which the formula is false."""
        return _Search(self, formula).lasso()

    def repeating(self, avoided: Container[int], wanted: Container[int]) -> Lasso | None:
        """A lasso whose loop has a wanted step and none that is to be avoided."""
        initial = self.lattice.initial
        came: dict[int, tuple[int, Move] | None] = {initial: None}
        todo = deque([initial])
        while todo:
            cut = todo.popleft()
            loop = self._repeated(cut, avoided, wanted)
            if loop is not None:
                stem = _way(came, cut)
                return Lasso((*stem, *loop), len(stem))
            for move in self.moves(cut):
                if cut + move.delta not in came:
                    came[cut + move.delta] = cut, move
                    todo.append(cut + move.delta)
        return None

    def _repeated(self, start: int, avoided: Container[int], wanted: Container[int]) -> Path | None:
        """The shortest such way from a cut to one of the same state."""
        first = start, False
        came: dict[tuple[int, bool], tuple[tuple[int, bool], Move] | None] = {first: None}
        todo = deque([first])
        while todo:
            place = todo.popleft()
            self.budget.visit()
            for move in self.moves(place[0]):
                after = place[0] + move.delta, place[1] or move.step in wanted
                if move.step in avoided or after in came:
                    continue
                came[after] = place, move
                if after[1] and self.states(after[0]) == self.states(start) and self.is_fair(start, after[0]):
                    return _way(came, after)
                todo.append(after)
        return None

    def is_fair(self, start: int, end: int) -> bool:
        return self.fairness == "any" or not passed_over(self.lattice, start, end, self.fairness)


def passed_over(lattice: Lattice, start: int, end: int, fairness: str = "weak") -> tuple[int, ...]:
    """The processes to which the loop between two cuts is not fair."""
    before, after = lattice.unpack(start), lattice.unpack(end)
    moves = lattice.moves(end if fairness == "strong" else start)
    able = sorted({process for move in moves for process in move.processes})
    return tuple(process for process in able if before[process] == after[process])


class _Search:
    """Looks for one lasso on which a formula is false."""

    def __init__(self, lassos: Lassos, formula: Node) -> None:
        self.lassos = lassos
        self.budget = lassos.budget
        self.words = Infinite(formula)
        self._holds = [lassos.predicates(atom) for atom in self.words.atoms]
        self._keys: dict[int, Key] = {}

    def lasso(self) -> Lasso | None:
        following, first = self._merged(), self._key(self.lassos.lattice.initial)
        starts = [(first, guess) for guess in self.words.first(first[1], False)]
        inside = dict[Pair, int]()
        for number, component in enumerate(_components(starts, lambda pair: self._after(following, pair))):
            self.budget.look()
            if self._is_accepting(component, following):
                inside.update(dict.fromkeys(component, number))
        return self._real(inside) if inside else None

    def _key(self, cut: int) -> Key:
        if cut not in self._keys:
            self._keys[cut] = self.lassos.states(cut), tuple(holds(cut) for holds in self._holds)
        return self._keys[cut]

    def _merged(self) -> dict[Key, set[Key]]:
        """The states that follow each state, cuts of one state taken for one."""
        found: dict[Key, set[Key]] = {}
        todo, seen = [self.lassos.lattice.initial], {self.lassos.lattice.initial}
        while todo:
            cut = todo.pop()
            self.budget.visit()
            nexts = found.setdefault(self._key(cut), set())
            for move in self.lassos.moves(cut):
                after = cut + move.delta
                nexts.add(self._key(after))
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return found

    def _after(self, following: dict[Key, set[Key]], pair: Pair) -> Iterator[Pair]:
        key, guess = pair
        for after in following[key]:
            for next_guess in self.words.following(after[1], guess.following):
                yield after, next_guess

    def _is_accepting(self, component: Sequence[Pair], following: dict[Key, set[Key]]) -> bool:
        fulfilled = 0
        for _, guess in component:
            fulfilled |= guess.fulfilled
        if fulfilled != self.words.all_fulfilled:
            return False
        return len(component) > 1 or component[0] in self._after(following, component[0])

    def _real(self, inside: dict[Pair, int]) -> Lasso | None:
        """A stretch of the lattice that leads from a state back to it."""
        initial = self.lassos.lattice.initial
        starts = [(initial, guess) for guess in self.words.first(self._key(initial)[1], False)]
        came: dict[Point, tuple[Point, Move] | None] = dict.fromkeys(starts)
        todo = deque(starts)
        while todo:
            node = todo.popleft()
            component = inside.get((self._key(node[0]), node[1]))
            if component is not None and (loop := self._loop(node, inside, component)) is not None:
                stem = _way(came, node)
                return Lasso((*stem, *loop), len(stem))
            for move, after in self._steps(node):
                if after not in came:
                    came[after] = node, move
                    todo.append(after)
        return None

    def _steps(self, node: Point) -> Iterator[tuple[Move, Point]]:
        self.budget.visit()
        cut, guess = node
        for move in self.lassos.moves(cut):
            after = cut + move.delta
            for next_guess in self.words.following(self._key(after)[1], guess.following):
                yield move, (after, next_guess)

    def _loop(self, start: Point, inside: dict[Pair, int], component: int) -> tuple[Move, ...] | None:
        """The shortest way from a node to one of the same state and guess with everything fulfilled."""
        first = start, start[1].fulfilled
        key, complete = self._key(start[0]), self.words.all_fulfilled
        came: dict[tuple[Point, int], tuple[tuple[Point, int], Move] | None] = {first: None}
        todo = deque([first])
        while todo:
            node, fulfilled = todo.popleft()
            for move, after in self._steps(node):
                if inside.get((self._key(after[0]), after[1])) != component:
                    continue
                now = after, fulfilled | after[1].fulfilled
                if now in came:
                    continue
                came[now] = (node, fulfilled), move
                is_back = after[1] == start[1] and self._key(after[0]) == key
                if is_back and now[1] == complete and self.lassos.is_fair(start[0], after[0]):
                    return _way(came, now)
                todo.append(now)
        return None


def _way(came: Mapping[Place, tuple[Place, Move] | None], end: Place) -> tuple[Move, ...]:
    found = []
    while (step := came[end]) is not None:
        end, move = step
        found.append(move)
    return tuple(reversed(found))


def _components(starts: Iterable[Pair], after: Callable[[Pair], Iterator[Pair]]) -> Iterator[list[Pair]]:
    """The strongly connected components (Tarjan), without recursion."""
    number: dict[Pair, int] = {}
    low: dict[Pair, int] = {}
    stack: list[Pair] = []
    held: set[Pair] = set()
    for start in starts:
        if start in number:
            continue
        work = [(start, after(start))]
        number[start] = low[start] = len(number)
        stack.append(start)
        held.add(start)
        while work:
            pair, nexts = work[-1]
            for following in nexts:
                if following not in number:
                    number[following] = low[following] = len(number)
                    stack.append(following)
                    held.add(following)
                    work.append((following, after(following)))
                    break
                if following in held:
                    low[pair] = min(low[pair], number[following])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[pair])
                if low[pair] == number[pair]:
                    component: list[Pair] = []
                    while not component or component[-1] != pair:
                        component.append(stack.pop())
                        held.discard(component[-1])
                    yield component
