"""Macro-steps under the temporal debugger: states are collective breakpoints, transitions macro-steps.

A tree that was saved, or a program with `--macro` or `--mpi N`, is opened as a system like any other, so that
a step is a formula over collective breakpoints; the macro-step commands speak of the same tree. A breakpoint
that nobody has been to is found by executing the program once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from possibly.control.macro.claims import Collective, in_transit
from possibly.control.macro.tree import Tree, TreeNode
from possibly.control.temporal.search import Path
from possibly.control.temporal.stack import GOTO, TemporalStack
from possibly.control.temporal.system import Move, Reading, State
from possibly.errors import PossiblyError
from possibly.logic.bind import Vocabulary
from possibly.logic.predicates.functions import MISSING
from possibly.logic.specification import Let
from possibly.logic.syntax import At, Done, Leaf, Local, Shared, Transit
from possibly.session.debugging.temporal import Debugger, Opener, Opening
from possibly.session.macro_steps.tree import (
    MacroProgram,
    MacroSession,
    checked_program,
    node_words,
    program_of,
)

SUFFIX = ".tree.json"


class MacroStep(NamedTuple):
    """A macro-step as a transition."""

    name: str
    processes: tuple[str, ...]
    text: str


class MacroSystem:
    """The tree of a program, elaborated where a search leads; states are the numbers of its nodes."""

    def __init__(self, program: MacroProgram, tree: Tree | None = None) -> None:
        self.session = MacroSession(program, tree)
        self.name = " ".join(program.words)
        self._states: dict[int, Collective] = {}
        self.vocabulary = self._learnt()
        self.session.goto(0)  # whoever begins stands at the beginning

    def _learnt(self) -> Vocabulary:
        """The names that are there on the first path: the search may speak of them."""
        node: int | None = 0
        self._at(0)
        while node is not None:
            node = next((after for _, after in self.successors(node)), None)
        variables: dict[str, set[str]] = {}
        shared: set[str] = set()
        labels: set[str] = set()
        for state in self._states.values():
            for process, seen in state.seen.items():
                variables.setdefault(process, set()).update(seen.variables, seen.globals)
                shared.update(seen.globals)
                labels.add(seen.label)
        known = {process: frozenset(names) for process, names in variables.items()}
        return Vocabulary(tuple(sorted(known)), known, frozenset(shared), frozenset(), frozenset(labels))

    def _at(self, node: int) -> Collective:
        if node not in self._states:
            self._states[node] = self.session.goto(node).state
        return self._states[node]

    def initial(self) -> Sequence[State]:
        return [0]

    def successors(self, state: State) -> Iterator[tuple[Move, State]]:
        self._at(state)
        node = self.session.tree.nodes[state]
        self.session.tree.unfold(node)
        for number, arc in enumerate(node.arcs, start=1):
            if arc.child is None and not arc.repeated:
                self._take(state, number)
            if arc.child is not None:
                yield self._move(state, number, arc.child), arc.child

    def _take(self, state: int, number: int) -> None:
        session = self.session
        if session.node != state or session.point is None:
            session.goto(state)
        arc = session.tree.nodes[state].arcs[number - 1]
        try:
            point = session.step(number)
        except PossiblyError:
            if not arc.repeated:
                raise
            return
        self._states[session.node] = point.state

    def _move(self, state: int, number: int, child: int) -> MacroStep:
        node = self.session.tree.nodes[child]
        chosen = ", ".join(map(str, self.session.tree.arc_to(node).selection))
        who = tuple(dict.fromkeys(each["process"] for each in node.done))
        return MacroStep(chosen or f"{state}.{number}", who, node_words(node))

    def reading(self, leaf: Leaf) -> Reading:
        match leaf:
            case Local(process, variable):
                return Reading(lambda state: self._at(state).value(process, variable))
            case Shared(name):
                return Reading(lambda state: self._shared(state, name))
            case Transit(sender, receiver, tag):
                return Reading(lambda state: len(list(in_transit(self._at(state), sender, receiver, tag))))
            case At(process, label):
                return Reading(lambda state: self._labelled(state, process) == label)
            case Done(process):
                return Reading(lambda state: self._is_done(state, process))
        raise PossiblyError("a breakpoint of macro-steps has no such fact")

    def _shared(self, state: int, name: str) -> object:
        seen = self._at(state).seen.values()
        return next((each.globals[name] for each in seen if name in each.globals), MISSING)

    def _labelled(self, state: int, process: str) -> str:
        seen = self._at(state).seen.get(process)
        return seen.label if seen is not None else ""

    def _is_done(self, state: int, process: str) -> bool:
        seen = self._at(state).seen.get(process)
        return seen is not None and seen.ended

    def places(self, state: State) -> Mapping[str, str]:
        seen = self._at(state).seen
        return {name: "ended" if each.ended else each.at for name, each in sorted(seen.items())}

    def place(self, state: State, process: str) -> str:
        """The source place of the last operation of a process, or of that in which it waits."""
        seen = self._at(state).seen.get(process)
        return "" if seen is None or seen.ended else seen.at

    def way_to(self, node: int) -> Path:
        """The macro-steps from the root to a node."""
        nodes = self.session.tree.path(node)
        moves = [
            self._move(above.number, _branch(above, each), each.number) for above, each in pairwise(nodes)
        ]
        return Path(tuple(moves), tuple([each.number for each in nodes]))

    def close(self) -> None:
        self.session.close()


def _branch(node: TreeNode, child: TreeNode) -> int:
    return next(number for number, arc in enumerate(node.arcs, start=1) if arc.child == child.number)


def stand_at(debugger: Debugger, node: int) -> None:
    """Temporal steps begin at the breakpoint from now on, if it is of the system that is stepped through."""
    system = debugger.system
    if isinstance(system, MacroSystem) and debugger.kept.get("macro", system.session) is system.session:
        debugger.stack.go_along(f"{GOTO}{node}", system.way_to(node))


def opened_macro(words: Sequence[str], ranks: int | None, lets: Sequence[Let] = ()) -> Debugger:
    """A session on a program, by macro-steps."""
    return _debugger(MacroSystem(checked_program(words, ranks)), words[0], lets)


def _debugger(system: MacroSystem, path: str, lets: Sequence[Let]) -> Debugger:
    return Debugger(path, TemporalStack(system, lets=lets), "program", {"macro": system.session})


def _opened_tree(opening: Opening) -> MacroSystem:
    tree = Tree.load(opening.path)
    return MacroSystem(program_of(tree), tree)


def _is_tree(opening: Opening) -> bool:
    """By its name, or by its first words."""
    if opening.path.endswith(SUFFIX) or not opening.path.endswith(".json"):
        return opening.path.endswith(SUFFIX)
    with open(opening.path, "rb") as opened:
        return b'"possibly-tree"' in opened.read(200)


OPENERS = (Opener("tree of macro-steps", _is_tree, _opened_tree),)
