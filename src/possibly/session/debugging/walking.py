"""A walk through a system, forward and back: what an editor's debugger steps along.

A walk is the states that were passed so far. It goes on along the order it was given (of the recorded run,
or of the one that violates a property) as long as nobody chooses otherwise; by a task that is chosen; or to
where a formula is satisfied, by a temporal step. Going back forgets nothing: the way ahead is kept until
another one is chosen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from possibly.control.temporal.lattice_system import LatticeSystem
from possibly.control.temporal.model_system import ModelSystem
from possibly.control.temporal.stack import Outcome, TemporalStack
from possibly.control.temporal.system import Move, State, System
from possibly.errors import PossiblyError, UsageError
from possibly.order.computation import Computation
from possibly.session.debugging.live import LiveSystem
from possibly.session.debugging.temporal import Debugger, Opening, opened, variables
from possibly.trace.model import Trace

LONGEST = 1_000_000
"""Steps of a walk."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a process stands."""

    name: str
    at: str = ""
    """As a trace writes it: `bank.py:12`."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is wrong, and after how many steps of the given order that is decided."""

    kind: str
    message: str
    moment: int


@dataclass(frozen=True, slots=True)
class Stepped:
    """A temporal step that was taken: its formula, and the positions where it begins and ends."""

    formula: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Assigned:
    """A move that the user made: a variable got another value."""

    variable: str
    value: str
    processes: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"set {self.variable}"

    @property
    def text(self) -> str:
        return f"{self.variable} = {self.value}"


@dataclass(slots=True)
class Walk:
    """Where we are."""

    system: System
    order: Sequence[str] = ()
    """Names of the moves to take if nobody chooses."""
    ending: Ending | None = None
    folder: str = ""
    """Where source files are looked for."""
    trace: Trace | None = None
    states: list[State] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    position: int = 0
    lets: Sequence[Any] = ()
    steps: list[Stepped] = field(default_factory=list)
    """The temporal stack, as far as the way that is known goes."""

    def __post_init__(self) -> None:
        self.states = [self.system.initial()[0]]

    @property
    def state(self) -> State:
        return self.states[self.position]

    @property
    def last(self) -> Move | None:
        """The move that led here."""
        return self.moves[self.position - 1] if self.position else None

    @property
    def processes(self) -> tuple[str, ...]:
        return tuple(self.system.vocabulary.processes)

    def able(self) -> dict[str, Move]:
        """Who can go on, and with what."""
        return {name: move for move, _ in self.system.successors(self.state) for name in move.processes}

    def forward(self, process: str | None = None) -> bool:
        """One step, of that process if one is named; False if there is none."""
        if self.position < len(self.moves):
            ahead = self.moves[self.position]
            if process is None or process in ahead.processes:
                self.position += 1
                return True
        found = self._chosen(process)
        if found is None or self.position >= LONGEST:
            return False
        self._go(*found)
        return True

    def back(self) -> bool:
        if not self.position:
            return False
        self.position -= 1
        return True

    def to_start(self) -> None:
        self.position = 0

    def to(self, moment: int) -> None:
        """To a moment, by the way that is known, and beyond that by the given order."""
        self.position = min(moment, self.position)
        while self.position < moment and self.forward():
            pass

    def satisfy(self, formula: str) -> bool:
        """Goes on by a shortest temporal step that satisfies the formula; False if there is none."""
        stack = TemporalStack(self.system, lets=self.lets, start=self.state)
        answer = stack.step(formula, size="shortest")
        if answer.outcome is not Outcome.FOUND or answer.step is None:
            return False
        start = self.position
        for move, state in zip(answer.step.path.moves, answer.step.path.states[1:], strict=True):
            self._go(move, state)
        self.steps.append(Stepped(formula, start, self.position))
        return True

    def stack(self) -> list[Stepped]:
        """The temporal steps that lie behind us, the last one at the end."""
        return [step for step in self.steps if step.end <= self.position]

    def pop(self) -> bool:
        """Back to where the last temporal step began, and forgets it; False if there is none."""
        if not (behind := self.stack()):
            return False
        self.steps.remove(behind[-1])
        self.position = behind[-1].start
        return True

    def evaluate(self, expression: str) -> Any:
        """The value of an expression here."""
        return TemporalStack(self.system, lets=self.lets, start=self.state).evaluate(expression)[0]

    def assign(self, process: str | None, name: str, value: Any) -> None:
        """Goes on with another value of a variable, which is possible in a model alone."""
        if not isinstance(self.system, ModelSystem):
            raise UsageError(
                "what was recorded, and what the same choices must give again, cannot be changed",
                hint="the variables of a model can",
            )
        state = self.system.model.changed(self.state, process, name, value)
        whole = name if process is None else f"{process}.{name}"
        if state is None:
            raise UsageError(f"{whole} cannot become {json.dumps(value)}")
        self._go(Assigned(whole, json.dumps(value), (process or self.processes[0],)), state)

    def variables(self) -> dict[str, Any]:
        return variables(self.system, self.state)

    def frames(self, process: str) -> list[Frame]:
        """The functions that a process is in, the innermost first."""
        if isinstance(self.system, LatticeSystem):
            return _frames_of_trace(self.system, self.state, process)
        if isinstance(self.system, LiveSystem):
            return [
                Frame(self.system.places(self.state).get(process, ""), self.system.place(self.state, process))
            ]
        return [Frame(self.system.places(self.state).get(process, process))]

    def place(self) -> str:
        """Where the last step happened."""
        last = self.last
        if last is None:
            return ""
        for process in last.processes:
            for frame in self.frames(process)[:1]:
                return frame.at
        return ""

    def close(self) -> None:
        if isinstance(self.system, LiveSystem):
            self.system.close()

    def _chosen(self, process: str | None) -> tuple[Move, State] | None:
        found = list(self.system.successors(self.state))
        if process is not None:
            return next((pair for pair in found if process in pair[0].processes), None)
        done = {move.name for move in self.moves[: self.position]}
        waiting = next((name for name in self.order if name not in done), None)
        return next((pair for pair in found if pair[0].name == waiting), found[0] if found else None)

    def _go(self, move: Move, state: State) -> None:
        if self.position < len(self.moves):
            del self.moves[self.position :], self.states[self.position + 1 :]
            self.steps = self.stack()
        self.moves.append(move)
        self.states.append(state)
        self.position += 1


def _frames_of_trace(system: LatticeSystem, state: State, process: str) -> list[Frame]:
    computation = system.lattice.computation
    trace = computation.trace
    number = system.vocabulary.processes.index(process)
    stack: list[Frame] = [Frame(process)]
    for position in range(1, system.lattice.unpack(state)[number] + 1):
        event = trace.event(computation.at(number, position))
        if event.kind == "enter" and event.fn:
            stack.append(Frame(event.fn, event.at or ""))
        elif event.kind == "exit" and len(stack) > 1:
            stack.pop()
        elif event.at:
            stack[-1] = Frame(stack[-1].name, event.at)
    return stack[::-1]


# ---- opening ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be walked through."""

    path: str
    order: str = "causal"
    arguments: tuple[str, ...] = ()
    spec: str | None = None
    formulas: tuple[tuple[str, str], ...] = ()
    """Language and text."""


def walk_of(asked: Asked) -> Walk:
    """A schedule, a trace, a model or a program, ready to be stepped through."""
    if not os.path.isfile(asked.path):
        raise PossiblyError("no such file", file=asked.path)
    if asked.path.endswith(".schedule"):
        return _walk_of_schedule(asked)
    debugger = _opened(asked)
    if isinstance(debugger.system, LatticeSystem):
        return _walk_of_trace(debugger.system, asked)
    return Walk(debugger.system, folder=os.path.dirname(asked.path))


def _opened(asked: Asked) -> Debugger:
    head = ""
    if asked.path.endswith(".py"):
        with open(asked.path, encoding="utf-8") as file:
            head = file.read()
    return opened(Opening(asked.path, head, asked.order, asked.arguments))


def _walk_of_trace(system: LatticeSystem, asked: Asked) -> Walk:
    from possibly.session.checking.check import Options, check_trace

    trace = system.lattice.computation.trace
    names = [trace.name(number) for number in range(len(trace))]
    walk = Walk(system, names, folder=os.path.dirname(asked.path), trace=trace)
    specification = _specification(asked)
    if specification is None:
        return walk
    walk.lets = specification.lets
    report = check_trace(trace, specification, Options(order=asked.order))
    for verdict in report.verdicts:
        if verdict.holds is False and verdict.witness is not None:
            path, why = list(verdict.witness.path), verdict.explanation
            decided = len(path) if why is None or why.moment is None else why.moment
            inside = set(path)
            walk.order = path + [name for name in names if name not in inside]
            walk.ending = Ending(verdict.name, f"{verdict.name} is violated: {verdict.formula}", decided)
            break
    return walk


def _specification(asked: Asked) -> Any:
    from possibly.logic.specification import Specification, property_from_text, read_specification
    from possibly.records import replace

    if asked.spec is None and not asked.formulas:
        return None
    found = Specification()
    if asked.spec is not None:
        if not os.path.isfile(asked.spec):
            raise PossiblyError("no such file", file=asked.spec)
        with open(asked.spec, encoding="utf-8") as file:
            found = read_specification(file.read(), asked.spec)
    more = tuple(property_from_text(language, text, language) for language, text in asked.formulas)
    return replace(found, properties=(*found.properties, *more))


def _walk_of_schedule(asked: Asked) -> Walk:
    """The execution of a schedule, step by step; it is executed once."""
    from possibly.session.exploring.replay import replay
    from possibly.session.exploring.traces import trace_of

    found = replay(asked.path)
    if not found.execution.steps:
        raise UsageError(f"{asked.path} has no steps to walk through")
    trace = trace_of(found.execution, {}, asked.path)
    names = [trace.name(number) for number in range(len(trace))]
    walk = Walk(LatticeSystem(Computation(trace)), names, folder="", trace=trace)
    if found.failure is not None:
        step = int(found.failure.details.get("step", len(names)))
        moment = min(max(step, 1), len(names))
        walk.ending = Ending(found.failure.kind, found.failure.message, moment)
    return walk
