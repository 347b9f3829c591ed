"""Actions: what a debugger does when an event or an occurrence is recognised.

Here belongs the meaning of `print`, `break`, `hold`, `unhold`, `wait_for`, `release`, `check_deadlock`,
`check_progress` and `progress` (a state that returns although nothing was achieved since), assignments to
debugger variables, conditions and registered functions (Modeling Concurrency in Parallel Debugging,
sections 2.1 and 5). An action of an event is performed once for that event, when it is recognised as part
of an occurrence under way; the action that ends the expression, once for every occurrence; the one before
the first event, once, before anything happens. A variable that some action assigns is the debugger's, and 0
at first. Program variables have the values of the recorded order just after the event; `$1.pid` is the
process of the event that atom 1 stands for, also `.name .kind .fn .msg .tag .label .at`. What an event is
and which values variables have is asked of a `Scene`: a recorded run, or one that runs now (`online`). On a
recorded run `break` is noted; whoever runs the program stops it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from possibly.errors import FormulaError
from possibly.logic.paths.syntax import (
    Action,
    Assign,
    Control,
    Expression,
    Perform,
    Variable,
    When,
    all_statements,
    values_of,
)
from possibly.logic.predicates.functions import MISSING, CompiledValue, compile_value
from possibly.logic.source import Source
from possibly.logic.specification import near
from possibly.logic.syntax import Name, Node, Shared
from possibly.logic.walk import fold, nodes, with_children
from possibly.order.computation import Computation
from possibly.order.state import RunningState
from possibly.trace.model import Value

Function = Callable[..., object]
FIELDS = {"pid": "process", "name": "name", "kind": "kind", "fn": "fn", "msg": "msg", "tag": "tag",
          "label": "label", "at": "at"}  # fmt: skip
WORDS = {
    "print": None, "break": 0, "hold": 2, "unhold": 2, "wait_for": 2, "release": 2, "check_deadlock": 0,
    "sync_event": 2, "check_progress": None, "progress": 0, "error": None,
}  # fmt: skip
"""The debugger's own functions with the number of their arguments, None for any."""


START = -1
"""Stands for the event of an action that is performed before the first one."""
AT_START = frozenset({"print", "hold", "wait_for"})
"""What may be done then, beside assignments."""


@dataclass(frozen=True, slots=True)
class Said:
    """What an action says, and the name of the event at which it does."""

    where: str
    text: str
    is_break: bool = False
    """There is nothing to say but that the program stops."""

    @property
    def line(self) -> str:
        return f"{self.where}: {self.text}"


@dataclass(slots=True)
class Debugger:
    """Debugger variables, who holds and awaits what, and what was said so far."""

    variables: dict[str, Value] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    held: dict[Any, dict[Any, None]] = field(default_factory=dict)
    """For each resource who holds it."""
    awaited: dict[Any, Any] = field(default_factory=dict)
    """For each thread the resource it waits for."""
    seen: dict[str, str] = field(default_factory=dict)
    """The states that `check_progress` compared since the last `progress`, and where they were seen."""
    output: list[Said] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    """The events at which a `break` stops, or a deadlock."""

    def call(self, name: str, values: list[Value], event: int, where: str) -> None:
        match name, values:
            case "print", _:
                self.output.append(Said(where, " ".join(map(_shown, values))))
            case "break", _:
                self.breaks.append(event)
                self.output.append(Said(where, "break", is_break=True))
            case "error", _:
                self.breaks.append(event)
                self.output.append(Said(where, " ".join(["error:", *map(_shown, values)]).removesuffix(":")))
            case "hold", [thread, resource]:
                self.held.setdefault(resource, {})[thread] = None
            case "unhold", [thread, resource]:
                self.held.get(resource, {}).pop(thread, None)
            case "wait_for", [thread, resource]:
                self.awaited[thread] = resource
            case "release", [thread, _]:
                self.awaited.pop(thread, None)
            case "check_deadlock", _:
                if cycle := self.cycle():
                    self.breaks.append(event)
                    self.output.append(Said(where, f"deadlock: {', '.join(cycle)}"))
            case "check_progress", _:
                self._compare(values, where)
            case "progress", _:
                self.seen.clear()
            case "sync_event", _:
                pass
            case _:
                result = self.functions[name](*values)
                if result is not None:
                    self.output.append(Said(where, str(result)))

    def _compare(self, values: list[Value], where: str) -> None:
        """Section 5.3: an identical state, and no progress since."""
        state = " ".join(map(_shown, values))
        if state in self.seen:
            text = f"no progress since {self.seen[state]}: again in state {state}"
            self.output.append(Said(where, text))
        self.seen.setdefault(state, where)

    def cycle(self) -> list[str]:
        """A circular wait as sentences, empty if there is none."""
        for start in self.awaited:
            way: list[Any] = [start]
            while (following := self._holder(way[-1])) is not None:
                if following in way:
                    return [
                        f"{one} waits for {self.awaited[one]} held by {self._holder(one)}"
                        for one in way[way.index(following) :]
                    ]
                way.append(following)
        return []

    def _holder(self, thread: Any) -> Any | None:
        """Another thread that holds what this one waits for."""
        holders = self.held.get(self.awaited.get(thread), {})
        return next((holder for holder in holders if holder != thread), None)


def _shown(value: Value) -> str:
    return "(no value)" if value is MISSING else value if isinstance(value, str) else json.dumps(value)


class Scene(Protocol):
    """What actions may ask about events, which are numbers, and about the program."""

    def fact(self, event: int, fact: str) -> Value:
        """A field of the event, `name` and `process` among them."""

    def arguments(self, event: int) -> tuple[Value, ...]:
        """What stands in the brackets of `send(M)`."""

    def value(self, event: int, variable: str) -> Value:
        """A variable as the process of the event sees it, just after the event; MISSING if it has none."""


class RecordedScene:
    """A recorded run, gone through once: the events asked about ascend."""

    def __init__(self, computation: Computation) -> None:
        self.trace = computation.trace
        self._state = RunningState(computation)
        self._steps: Iterator[int] = iter(computation.steps)
        self._at = -1

    def fact(self, event: int, fact: str) -> Value:
        return getattr(self.trace.event(event), fact, MISSING)

    def arguments(self, event: int) -> tuple[Value, ...]:
        from possibly.detection.paths.meaning import arguments

        return arguments(self.trace, event)

    def value(self, event: int, variable: str) -> Value:
        while self._at != event:
            self._at = next(self._steps)
            self._state.execute(self._at)
        process = self.trace.processes[self.trace.process[event]].name
        return looked_up(self._state.values, process, variable)


def looked_up(values: Mapping[tuple[str | None, str], Value], process: str, name: str) -> Value:
    """A variable of the process, else a shared one, else `P.x`."""
    head, _, rest = name.partition(".")
    for key in ((process, name), (None, name), (head, rest)):
        if key in values:
            return values[key]
    return MISSING


class Performer:
    """Performs the actions of one expression along one run."""

    def __init__(self, expression: Expression, scene: Scene, debugger: Debugger) -> None:
        self.expression = expression
        self.scene = scene
        self.debugger = debugger
        self.actions = {atom.number: atom.action for atom in expression.atoms if atom.action}
        self._now = -1
        self._done: set[int] = set()
        """Atoms whose action the present event has seen performed."""
        self._values: dict[int, tuple[Node, CompiledValue]] = {}

    def begin(self) -> None:
        """Before the first event; the variables of other expressions keep what they have."""
        for name in self.expression.assigned:
            self.debugger.variables.setdefault(name, 0)
        self._perform(self.expression.start, START, {})

    def recognised(self, event: int, atoms: tuple[int, ...], played: Mapping[int, int]) -> None:
        """The event plays these atoms in an occurrence under way."""
        if event != self._now:
            self._now = event
            self._done.clear()
        for atom in atoms:
            if atom in self.actions and atom not in self._done:
                self._done.add(atom)
                self._perform(self.actions[atom], event, played)

    def completed(self, event: int, played: Mapping[int, int]) -> None:
        """The event completes an occurrence."""
        if self.expression.action and any(atom >= self.expression.action_from for atom in played):
            self._perform(self.expression.action, event, played)

    def _perform(self, action: Action, event: int, played: Mapping[int, int]) -> None:
        for statement in action:
            match statement:
                case Assign(name, value):
                    self.debugger.variables[name] = self._value(value, event, played)
                case Perform(function, arguments):
                    values = [self._value(argument, event, played) for argument in arguments]
                    where = "start" if event == START else str(self.scene.fact(event, "name"))
                    self.debugger.call(function, values, event, where)
                case When(condition, then):
                    value = self._value(condition, event, played)
                    if value is not MISSING and value:
                        self._perform(then, event, played)

    def _value(self, node: Node, event: int, played: Mapping[int, int]) -> Value:
        compiled = self._compiled(node)
        values = [self._look(getattr(leaf, "variable", ""), event, played) for leaf in compiled.leaves]
        return compiled.evaluate(values)

    def _compiled(self, node: Node) -> CompiledValue:
        def named(part: Node, below: list[Node]) -> Node:
            return Shared(".".join(part.parts)) if isinstance(part, Name) else with_children(part, below)

        if id(node) not in self._values:
            self._values[id(node)] = node, compile_value(fold(node, named))
        return self._values[id(node)][1]

    def _look(self, name: str, event: int, played: Mapping[int, int]) -> Value:
        head, _, rest = name.partition(".")
        if _is_event(head):
            atom = played.get(int(head[1:]))
            return MISSING if atom is None else self.scene.fact(atom, FIELDS.get(rest, rest) or "name")
        if name in self.debugger.variables:
            return self.debugger.variables[name]
        bound = self._argument(name, played)
        if event == START:
            return MISSING
        return self.scene.value(event, name) if bound is MISSING else bound

    def _argument(self, name: str, played: Mapping[int, int]) -> Value:
        """The value of a variable of the expression, from an event that carries it."""
        for atom in self.expression.atoms:
            given = atom.event.arguments if isinstance(atom.event, Control) else None
            for place, argument in enumerate(given or ()):
                if argument == Variable(name) and atom.number in played:
                    return self.scene.arguments(played[atom.number])[place]
        return MISSING


def check_actions(expression: Expression, source: Source, functions: Mapping[str, Function]) -> None:
    """An unknown function, or a wrong number of arguments, is an error before anything runs."""
    for statement in expression.statements():
        if isinstance(statement, Perform) and statement.function not in functions:
            _check_call(statement, source, functions)
    for statement in all_statements(expression.start):
        if isinstance(statement, Perform) and statement.function not in AT_START:
            message = f"{statement.function} needs an event, and there is none before the first one"
            raise FormulaError(message, file=source.file, line=source.line)


def _check_call(statement: Perform, source: Source, functions: Mapping[str, Function]) -> None:
    name, count = statement.function, len(statement.arguments)
    if name not in WORDS:
        hint = near(name, (*WORDS, *functions)) or f"there are {', '.join((*WORDS, *functions))}"
        raise FormulaError(
            f"unknown function `{name}` in an action", file=source.file, line=source.line, hint=hint
        )
    if WORDS[name] is not None and WORDS[name] != count:
        raise FormulaError(
            f"{name} takes {WORDS[name]} values, not {count}", file=source.file, line=source.line
        )


def unknown_names(expression: Expression, known: Collection[str]) -> Iterator[str]:
    """The variables of actions that nobody gives a value: neither the program nor an event nor an action."""
    arguments = {
        argument.name
        for atom in expression.atoms
        for argument in (atom.event.arguments if isinstance(atom.event, Control) else None) or ()
        if isinstance(argument, Variable)
    }
    for statement in expression.statements():
        for node in (part for value in values_of(statement) for part in nodes(value)):
            if isinstance(node, Name) and not _is_event(node.parts[0]):
                name = ".".join(node.parts)
                if name not in known and name not in arguments:
                    yield name


def _is_event(word: str) -> bool:
    """`$1`, which stands in a formula as `_1`."""
    return word.startswith("_") and word[1:].isdecimal()
