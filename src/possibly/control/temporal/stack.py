"""The temporal stack: temporal steps on a stack, each a finite sequence of states that satisfies a formula.

It is section 4 of "Temporal debugging for concurrent systems". The last state of a step is the first of the
next one; the first state of all is an initial one of the system. At each point one may introduce a formula
(`step`), remove the last step (`pop`), backtrack it (`back`: another way to satisfy its formula), execute one
statement of one process (`next`), or remove all (`clear`). Each step keeps its search where it stopped, with
its own automaton and its own copy of the search space, so that it is resumed by the next `back` whatever
was done and undone meanwhile.

Law: after every call, whatever it raises, the steps join: each begins in the state in which the one before
ends (`self_check`). A search that `watch` stops stays open: `resume` goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from possibly.control.temporal.options import Options
from possibly.control.temporal.search import Path, Search
from possibly.control.temporal.steps import StepSearch, known_limits
from possibly.control.temporal.system import (
    ChangedError,
    Move,
    State,
    System,
    followed,
    value_at,
    words_of,
)
from possibly.errors import UsageError
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.source import Source
from possibly.logic.specification import Let
from possibly.logic.syntax import Node

Watch = Callable[[int], bool]
"""Told now and then how many pairs a search has visited; False stops it."""


class Outcome(Enum):
    FOUND = "found"
    NONE = "none"
    """There is no such step, or no other one."""
    CUT = "cut"
    """None within the bound."""
    STOPPED = "stopped"
    """The search was stopped and can be resumed."""


class OneStatement(Search):
    """The trivial temporal steps: one transition of a process."""

    def __init__(self, system: System, process: str, start: State) -> None:
        self.system = system
        self.process = process
        self.start = start

    def paths(self) -> Iterator[Path | None]:
        for move, after in self.system.successors(self.start):
            if self.process in move.processes:
                self.visited += 1
                yield Path((move,), (self.start, after))


@dataclass(slots=True)
class Step:
    """A temporal step on the stack."""

    text: str
    """The formula, or `next P`."""
    formula: Node | None
    """None for `next`."""
    options: Options
    path: Path
    found: int = 1
    """It is the so-many-th step that its search yielded."""
    search: _Running | None = None
    """None after a session was loaded: begun anew when it is needed."""


@dataclass(slots=True)
class _Running:
    """A search with where it stopped."""

    search: Search
    paths: Iterator[Path | None]
    step: StepSearch | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command of the stack came to."""

    outcome: Outcome
    step: Step | None = None
    visited: int = 0
    """Pairs of the search so far."""
    has_loop: bool = False
    faults: tuple[str, ...] = ()


@dataclass(slots=True)
class _Open:
    """A search that was stopped before it answered."""

    text: str
    formula: Node | None
    options: Options
    running: _Running
    replaces: Step | None
    found: int
    skip: int = 0


@dataclass(slots=True)
class TemporalStack:
    """A debugging session on a system: see the head of this file.

    `stack = TemporalStack(system); stack.step('F at(P0, "m8")'); stack.state, stack.path`
    """

    system: System
    watch: Watch = lambda visited: True
    lets: Sequence[Let] = ()
    steps: list[Step] = field(default_factory=list)
    start: State = None
    failed: tuple[Node, Options] | None = None
    """The formula for which no step was found last."""
    _open: _Open | None = None

    def __post_init__(self) -> None:
        if self.start is None:
            self.start = self.system.initial()[0]
        if hasattr(self.system, "changed"):
            self.system.changed = self.clear

    # ---- what is on the stack -------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The current state."""
        return self.steps[-1].path.states[-1] if self.steps else self.start

    @property
    def path(self) -> tuple[State, ...]:
        """All states from the initial one to the current one."""
        found = [self.start]
        for step in self.steps:
            found.extend(step.path.states[1:])
        return tuple(found)

    @property
    def moves(self) -> tuple[Move, ...]:
        return tuple([move for step in self.steps for move in step.path.moves])

    def evaluate(self, expression: str) -> tuple[Any, tuple[str, ...]]:
        """The value of an expression at the current state, and what could not be evaluated."""
        node = bind(parse(expression, "predicate"), words_of(self.system), self.lets, Source(expression))
        return value_at(self.system, node.formula, self.state)

    def bound(self, formula: str) -> Node:
        """A formula of finite LTL about this system."""
        source = Source(formula)
        return bind(parse(formula, "ltl", source=source), words_of(self.system), self.lets, source).formula

    def self_check(self) -> None:
        state = self.start
        for step in self.steps:
            assert step.path.states[0] == state, "a step begins where the one before ends"
            assert len(step.path.states) == len(step.path.moves) + 1
            state = step.path.states[-1]

    # ---- commands -------------------------------------------------------------------------------

    def step(self, formula: str, options: Options | None = None, **choices: Any) -> Answer:
        """Searches a temporal step from the current state, and puts it on the stack."""
        options = options or Options(**choices)
        return self._from_here(lambda: self._search(formula, options))

    def next(self, process: str) -> Answer:
        """One transition of one process; `back` tries its alternatives."""
        if process not in self.system.vocabulary.processes:
            known = ", ".join(self.system.vocabulary.processes)
            raise UsageError(f"there is no process {process}", hint=f"processes are {known}")
        return self._from_here(
            lambda: _Open(f"next {process}", None, Options(), self._one(process, self.state), None, 0)
        )

    def back(self) -> Answer:
        """Another way to satisfy the formula of the last step; if there is none, the step is removed."""
        if not self.steps:
            raise UsageError("the stack is empty: there is no step to backtrack")
        last = self.steps[-1]
        skip = 0
        if last.search is None:
            last.search, skip = self._begun_anew(last), last.found
        found = _Open(last.text, last.formula, last.options, last.search, last, last.found, skip)
        return self._drive(found)

    def resume(self) -> Answer:
        """Goes on with a search that was stopped."""
        if self._open is None:
            raise UsageError("no search was stopped")
        return self._drive(self._open)

    def pop(self) -> Step:
        """Removes the last step."""
        if not self.steps:
            raise UsageError("the stack is empty")
        self._open = None
        return self.steps.pop()

    def clear(self) -> None:
        self._open = None
        self.steps.clear()

    # ---- sessions -------------------------------------------------------------------------------

    def push_recorded(self, text: str, options: Options, names: Sequence[str], found: int) -> Step:
        """A step of an earlier session: its states are regenerated from the names of its transitions."""
        moves, states = followed(self.system, self.state, names)
        formula = None if text.startswith("next ") else self.bound(text)
        self.steps.append(Step(text, formula, options, Path(tuple(moves), tuple(states)), found))
        self._open = None
        return self.steps[-1]

    def _begun_anew(self, step: Step) -> _Running:
        if step.formula is None:
            return self._one(step.text.removeprefix("next "), step.path.states[0])
        search = StepSearch(self.system, step.formula, step.path.states[0], step.options)
        return _Running(search.search, iter(search), search)

    def _one(self, process: str, start: State) -> _Running:
        search = OneStatement(self.system, process, start)
        return _Running(search, search.paths())

    def _search(self, formula: str, options: Options) -> _Open:
        node = self.bound(formula)
        with known_limits():
            search = StepSearch(self.system, node, self.state, options)
        return _Open(formula, node, options, _Running(search.search, iter(search), search), None, 0)

    # ---- driving --------------------------------------------------------------------------------

    def _from_here(self, begun: Callable[[], _Open]) -> Answer:
        """Drives a search from the current state; at the start it is begun again when the system changes."""
        while True:
            is_at_start = not self.steps
            try:
                return self._drive(begun())
            except ChangedError:
                if not is_at_start:
                    raise

    def _drive(self, found: _Open) -> Answer:
        """Drives a search to its next step; the stack changes only after it was found, or there is none."""
        self._open = found
        try:
            return self._driven(found)
        except BaseException:
            # The search is broken off for good, which must not look as if it had found all there is.
            self._open = None
            if found.replaces is not None:
                found.replaces.search = None
            raise

    def _driven(self, found: _Open) -> Answer:
        running = found.running
        with known_limits():
            for path in running.paths:
                if path is None:
                    if not self.watch(running.search.visited):
                        return self._answer(Outcome.STOPPED, running)
                elif found.skip:
                    found.skip -= 1
                else:
                    return self._found(found, path)
        return self._exhausted(found)

    def _found(self, found: _Open, path: Path) -> Answer:
        step = Step(found.text, found.formula, found.options, path, found.found + 1, found.running)
        if found.replaces is not None:
            self.steps.pop()
        self.steps.append(step)
        self._open = self.failed = None
        return self._answer(Outcome.FOUND, found.running, step)

    def _exhausted(self, found: _Open) -> Answer:
        self._open = None
        if found.replaces is not None:
            self.steps.pop()
        elif found.formula is not None:
            self.failed = found.formula, found.options
        outcome = Outcome.CUT if found.running.search.was_cut else Outcome.NONE
        return self._answer(outcome, found.running)

    def _answer(self, outcome: Outcome, running: _Running, step: Step | None = None) -> Answer:
        faults = running.step.product.valuations.faults if running.step is not None else ()
        return Answer(outcome, step, running.search.visited, running.search.has_loop, faults)
