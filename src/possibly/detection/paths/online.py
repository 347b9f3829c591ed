"""Path expressions on a program that runs: each step is recognised when it is taken in.

Here belongs the on-line form of `expect`, `never` and `watch` over a growing computation (Modeling
Concurrency in Parallel Debugging, section 4.2: stabiliser and recogniser; `Growing` holds messages back
until what they need has come). The parts are those of the off-line form, fed one step at a time: the meaning
of an event, its predecessors among the events of the expression, the rules of synchronisation, and the
machine.

Departures from the off-line form. Whether some later event will carry a label is not known, so a bare name is
whatever an event makes of it: its label, the function it enters, or its kind. A shared variable that is
written before there is a second process has that value from the start, as in a recorded trace.

Memory: where every process begins after an event of an earlier one, as in a recorded program, the order is
kept as far as somebody may still need it. What lies before an event is forgotten when every process that can
act knows as much; an event is forgotten when no set under way and nobody's past mentions it. So a program
whose processes keep talking is followed in constant memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from possibly.detection.paths.expected import Expectation, expectations
from possibly.detection.paths.meaning import (
    Guard,
    Touch,
    argument_count,
    constants,
    hashable,
)
from possibly.detection.paths.occurrences import Growth, Partial
from possibly.detection.paths.online_order import OnlinePasts, Past
from possibly.detection.paths.perform import looked_up
from possibly.detection.paths.projection import Projected
from possibly.detection.paths.synchronise import Tokens
from possibly.detection.paths.turns import Over, whole_calls
from possibly.logic.paths.compiled import Compiled, compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.rules import Rule
from possibly.logic.paths.run import Run
from possibly.logic.paths.syntax import Atom, Control
from possibly.logic.predicates.functions import MISSING
from possibly.order.computation import Place
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Line, Step
from possibly.trace.model import Value
from possibly.trace.turns import TURN

MOST_OPEN = 20_000
"""Sets under way that are kept while a program runs; the check of the whole run knows them all."""

Values = dict[tuple[str | None, str], Value]


# ---- what an event is -----------------------------------------------------------------------------


def given_arguments(fields: Mapping[str, Value]) -> tuple[Value, ...]:
    """What stands in the brackets of `send(M)`: as `meaning.arguments`, of a line's fields."""
    if "msg" in fields:
        return (fields["msg"],)
    if isinstance(fields.get("args"), list):
        return tuple(fields["args"])
    if "tag" in fields:
        return (fields["tag"],)
    return tuple(dict.fromkeys([*fields.get("read", ()), *fields.get("write", ())]))


class OnlineMeaning:
    """Which symbols of an expression a step plays."""

    def __init__(self, expression: Compiled, growing: Growing) -> None:
        def is_process(name: str) -> bool:
            return name in growing.processes

        self.atoms = expression.symbols
        self._constants = [constants(atom) for atom in self.atoms]
        self._counts = [argument_count(atom) for atom in self.atoms]
        self._guards = [Guard(atom, is_process) for atom in self.atoms]
        self.has_arguments = any(count is not None for count in self._counts)
        self.has_guards = any(guard.reads for guard in self._guards)
        self._known: dict[tuple[Value, Value, Value], tuple[int, ...]] = {}

    def allowed(self, step: Step, before: Values) -> tuple[int, ...]:
        """By name, arguments and condition, just before the step."""
        found = self.named(step[0].fields)
        if len(step) > 1:
            found = tuple(sorted({symbol for line in step for symbol in self.named(line.fields)}))
        if self.has_arguments and found:
            found = tuple([s for s in found if any(self._takes(s, line) for line in step)])
        if not self.has_guards or not found:
            return found
        touches = [touch_of(line) for line in step]
        return tuple([symbol for symbol in found if self._guards[symbol].allows(touches, before)])

    def happening(self, allowed: Sequence[int], step: Step, old: Values, now: Values) -> tuple[int, ...]:
        """Of these, the ones whose data event occurs with the step."""
        if not self.has_guards or not allowed:
            return tuple(allowed)
        touches = [touch_of(line) for line in step]
        return tuple([symbol for symbol in allowed if self._guards[symbol].happens(touches, old, now)])

    def named(self, fields: Mapping[str, Value]) -> tuple[int, ...]:
        """The symbols that the event is called by."""
        key = fields.get("kind"), fields.get("fn"), fields.get("label")
        found = self._known.get(key)
        if found is None:
            called = [symbol for symbol, atom in enumerate(self.atoms) if _is_called(atom, fields)]
            found = self._known[key] = tuple(called)
        return found

    def _takes(self, symbol: int, line: Line) -> bool:
        """Whether the event carries as many arguments as are written, and the constants among them."""
        count = self._counts[symbol]
        if count is None:
            return True
        if not _is_called(self.atoms[symbol], line.fields):
            return False
        given = given_arguments(line.fields)
        return count == len(given) and all(given[at] == value for at, value in self._constants[symbol])

    def values(self, step: Step) -> tuple[Hashable, ...]:
        return tuple([hashable(value) for value in given_arguments(step[0].fields)])


def _is_called(atom: Atom, fields: Mapping[str, Value]) -> bool:
    if not isinstance(atom.event, Control):
        return True
    name, phase = atom.event.name, atom.event.phase
    if phase:
        return bool(fields.get("kind") == phase and fields.get("fn") == name)
    if fields.get("label") == name or fields.get("kind", "internal") == name:
        return True
    return bool(fields.get("kind") == "enter" and fields.get("fn") == name)


def touch_of(line: Line) -> Touch:
    fields = line.fields
    return Touch(fields["p"], fields.get("read", ()), fields.get("set", ()), fields.get("write", ()))


# ---- the state of the program ---------------------------------------------------------------------


class OnlineState:
    """The values of all variables, and what the present step replaced."""

    def __init__(self, growing: Growing) -> None:
        self.growing = growing
        self.values: Values = {(None, name): value for name, value in growing.shared.items()}
        for process, init in growing.initial.items():
            self.values.update({(process, name): value for name, value in init.items()})
        self.old: Values = {}
        self.has_spawned = bool(growing.initial)
        """A second process exists, or is about to."""

    def execute(self, step: Step) -> None:
        assigned: Values = {}
        for line in step:
            fields = line.fields
            if not self.has_spawned:
                self.has_spawned = fields.get("kind") == "spawn" or len(self.growing.processes) > 1
            if "set" not in fields and "write" not in fields:
                continue
            assigned.update({(fields["p"], name): value for name, value in fields.get("set", {}).items()})
            assigned.update({(None, name): value for name, value in fields.get("write", {}).items()})
        self.old = {key: self._before(key, value) for key, value in assigned.items()}
        self.values.update(assigned)

    def _before(self, key: tuple[str | None, str], value: Value) -> Value:
        if key[0] is None and key not in self.values and not self.has_spawned:
            return value
        return self.values.get(key, MISSING)


class OnlineRule:
    """A `sync` rule while events arrive: which earlier event a step synchronises with."""

    def __init__(self, rule: Rule, growing: Growing) -> None:
        expression = compiled(rule.expression)
        self.meaning = OnlineMeaning(expression, growing)
        self.tokens: Tokens[Place] = Tokens(rule, len(expression.symbols))

    def partners(self, step: Step, symbols: tuple[int, ...]) -> Iterator[Place]:
        if symbols:
            yield from self.tokens.taken(symbols, self.meaning.values(step), step[0].place)


# ---- recognition ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Occurred:
    """A set of events that the newest event begins or joins; `events` are numbers."""

    event: int
    atoms: tuple[int, ...]
    """Which atoms the event plays."""
    played: Mapping[int, int]
    events: tuple[int, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Misfit:
    """The event does not fit an `expect`: what came before it, and what was expected."""

    event: int
    predecessors: tuple[int, ...]
    expected: tuple[Expectation, ...]


class PathMonitor:
    """Recognises one expression while a computation grows. It is a `Scene` for actions."""

    def __init__(
        self,
        growing: Growing,
        language: str,
        machine: Machine,
        rules: Iterable[Rule] = (),
        told: Callable[[Occurred | Misfit], None] = lambda found: None,
        are_all_spawned: bool = False,
    ) -> None:
        self.language = language
        self.machine = machine
        self.told = told
        self.are_all_spawned = are_all_spawned
        """Every process begins after an event of an earlier one: then what all know is forgotten."""
        self.growing = growing
        self.state = OnlineState(growing)
        self.meaning = OnlineMeaning(machine.expression, growing)
        self.rules = [OnlineRule(rule, growing) for rule in rules]
        self._meanings = [self.meaning, *(rule.meaning for rule in self.rules)]
        self._turns: Over[Place] | None = None
        """From the first turn on."""
        self._is_simple = not (self.rules or self.meaning.has_guards or self.meaning.has_arguments)
        self.pasts = OnlinePasts()
        most = MOST_OPEN if are_all_spawned else None
        self.growth = Growth(machine, self.pasts.owner, most=most)
        self.run = Run(machine)
        self.lines: dict[int, Line] = {}
        """The events of the expression that may still be spoken of."""
        self.count = 0
        self._counted, self._acting = (0, 0), 0
        growing.follow(self.take)

    @property
    def is_complete(self) -> bool:
        """Of an `expect`: whether the run so far is in the language."""
        return self.run.is_complete

    def take(self, step: Step) -> None:
        if self._is_simple and len(step) == 1:
            self._take_simply(step)
        else:
            self._take(step)

    def _take_simply(self, step: Step) -> None:
        """The same for an expression of names alone: most lines are none of its events and teach nothing."""
        line = step[0]
        fields = line.fields
        if "set" in fields or "write" in fields or not self.state.has_spawned:
            self.state.execute(step)
        symbols, more = self.meaning.named(fields), self._turned(step)
        if symbols:
            self._note(step, symbols, self.pasts.before(step, more))
        elif line.needs or more or not self.pasts.knows(line):
            self.pasts.after(step, self.pasts.before(step, more))
        else:
            return
        self._forget()

    def _take(self, step: Step) -> None:
        allowed = [meaning.allowed(step, self.state.values) for meaning in self._meanings]
        self.state.execute(step)
        old, now = self.state.old, self.state.values
        symbols = self.meaning.happening(allowed[0], step, old, now)
        more = [*self._turned(step)]
        for rule, each in zip(self.rules, allowed[1:], strict=True):
            more.extend(rule.partners(step, rule.meaning.happening(each, step, old, now)))
        past = self.pasts.before(step, more)
        if symbols:
            self._note(step, symbols, past)
        else:
            self.pasts.after(step, past)
        self._forget()

    def _turned(self, step: Step) -> tuple[Place, ...]:
        """The end of the turn that one which begins with this step comes after."""
        line, fields = step[0], step[0].fields
        kind = fields.get("kind", "internal")
        if self._turns is None:
            if kind != TURN:
                return ()
            self._turns = Over(whole_calls(self.machine.expression))
        earlier = self._turns.before(line.process, line.place, kind, fields.get("tag"), fields.get("fn"))
        return () if earlier is None else (earlier,)

    def _note(self, step: Step, symbols: tuple[int, ...], past: Past) -> None:
        """An event of the expression."""
        number = self.count
        self.count += 1
        self.lines[number] = step[0]
        self.pasts.after(step, self.pasts.with_event(number, step, past))
        values = self.meaning.values(step) if self.meaning.has_arguments else ()
        self._recognise(Projected(number, symbols, past.frontier, values), step)

    def _recognise(self, event: Projected, step: Step) -> None:
        if self.language == "expect":
            self._expect(event)
            return
        if self.are_all_spawned:
            self.growth.only(self._able())
        for partial in self.growth.feed(event, tuple([line.process for line in step])):
            self.told(_occurred(event.step, partial))

    def _able(self) -> int:
        """A bit for each process that may still act."""
        counts = len(self.growing.processes), len(self.pasts.ended)
        if counts != self._counted:
            self._counted = counts
            self._acting = ((1 << counts[0]) - 1) & ~_bits(self.pasts.ended)
        return self._acting

    def _expect(self, event: Projected) -> None:
        state, slots = self.run.state, self.run.slots
        if state is None or self.run.feed(event.step, event.symbols, event.predecessors, event.values):
            return
        expected = expectations(self.machine, state, slots)
        self.told(Misfit(event.step, event.predecessors, expected))

    def _forget(self) -> None:
        spoken = self.pasts.sweep(self._mentioned) if self.are_all_spawned else None
        if spoken is not None:
            self.lines = {number: line for number, line in self.lines.items() if number in spoken}

    def _mentioned(self) -> set[int]:
        found = set(self.run.slots)
        for partial in self.growth.open:
            found.update(partial.events)
        return found

    # ---- the scene ----------------------------------------------------------------------------------

    def fact(self, event: int, fact: str) -> Value:
        line = self.lines[event]
        if fact == "name":
            return line.name
        return line.fields.get("p" if fact == "process" else fact, "internal" if fact == "kind" else MISSING)

    def arguments(self, event: int) -> tuple[Value, ...]:
        return given_arguments(self.lines[event].fields)

    def value(self, event: int, variable: str) -> Value:
        return looked_up(self.state.values, self.lines[event].fields["p"], variable)


def _occurred(event: int, partial: Partial) -> Occurred:
    played = partial.played[0]
    atoms = tuple([atom for atom, step in played if step == event])
    return Occurred(event, atoms, dict(played), tuple(sorted(partial.events)), partial.is_complete)


def _bits(processes: Iterable[int]) -> int:
    found = 0
    for process in processes:
        found |= 1 << process
    return found
