"""Checking `expect`, `never` and `watch`: from the text of an expression to a verdict.

Here belongs the sequence that all three share: read the expression with the compound events of the
specification, establish the order of the `sync` rules, classify, recognise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import islice
from time import perf_counter

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.paths.by_value import all_occurrences
from possibly.detection.paths.expected import fitting
from possibly.detection.paths.meaning import Meaning, check_variables, variable_names
from possibly.detection.paths.occurrences import Occurrences, Partial
from possibly.detection.paths.perform import (
    Debugger,
    Function,
    Performer,
    RecordedScene,
    check_actions,
    unknown_names,
)
from possibly.detection.paths.synchronise import synchronised
from possibly.detection.paths.turns import with_turns
from possibly.detection.prediction.deadlocks import DeadlockFinder
from possibly.errors import UsageError
from possibly.logic.bind import Vocabulary
from possibly.logic.paths.automaton import picture_notes
from possibly.logic.paths.classes import ENGINES, Subclass, subclass
from possibly.logic.paths.compiled import Compiled, compiled, occurring
from possibly.logic.paths.machine import Machine, TooMuchError
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.rules import parse_rule
from possibly.logic.paths.syntax import Expression
from possibly.logic.specification import Property, Specification
from possibly.session.checking.starving import CHECKS, performs, starving
from possibly.trace.model import Trace
from possibly.trace.recorded import recorded_of
from possibly.verdict.deadlocks import ASSUMED
from possibly.verdict.model import Truth, Verdict
from possibly.verdict.paths import Expected, PathResult

LIMITS = (LimitReachedError, TooMuchError)
CHECK = "check_deadlock"
MOST_LOOKED_AT, MOST_TOLD = 20_000, 3
"""Steps of the search for deadlocks of other orders, and how many of them are told beside a rule."""
MOST_MATCHES = 10_000
"""Occurrences that are listed."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an engine says of one property."""

    truth: Truth
    result: PathResult
    reason: str | None = None


class PathChecker:
    """Answers path expressions on one trace; the order of the rules is established once."""

    def __init__(
        self,
        trace: Trace,
        order: str,
        names: Vocabulary,
        specification: Specification,
        functions: Mapping[str, Function] | None = None,
        has_notes: bool = True,
    ) -> None:
        self.names = names
        self.has_notes = has_notes
        self.definitions = {each.name: each for each in specification.definitions}
        self.functions = functions or {}
        self.properties = specification.properties
        self._acted: dict[str, Found] = {}
        rules = [parse_rule(sync.source, self.definitions) for sync in specification.syncs]
        self.computation = synchronised(trace, order, rules)

    def warnings(self, found: Property, engine: str) -> tuple[str, ...]:
        """Checks the property before anything runs; what looks like a slip is a warning."""
        if engine not in ("auto", *ENGINES.values()):
            raise UsageError(f"no engine is called {engine!r} for {found.language}: use auto")
        expression = self._compiled(found)
        check_actions(expression.expression, found.source, self.functions)
        said = [f"{found.name}: no event of the trace is called {name}" for name in self.strangers(found)]
        doubts = self._doubts_of_actions(found, expression.expression)
        starved = starving(found.name, self._debugging) if performs(expression.expression, CHECKS) else ()
        return (*said, *doubts, *self._predicted(found, expression.expression), *starved)

    @cached_property
    def _debugging(self) -> list[Meaning]:
        """All rules that act, as all of them act on one debugger."""
        acting = [each for each in self.properties if self._acts(each)]
        return [self._meaning(self._compiled(each)) for each in acting]

    def _predicted(self, found: Property, expression: Expression) -> Iterator[str]:
        """A rule that looks for circular waits in this order is told of those that other orders reach."""
        if not performs(expression, CHECK):
            return
        trace = self.computation.trace
        finder = DeadlockFinder(trace, Budget(MOST_LOOKED_AT))
        recorded = recorded_of(trace.header)
        assumed = "" if recorded is None or recorded.accesses else f", if {ASSUMED}"
        try:
            for deadlock in islice(finder.found(), MOST_TOLD):
                names = [trace.processes[each.process].name for each in deadlock.requests]
                yield (
                    f"{found.name}: in another order of this run {' and '.join(names)} wait for each other "
                    f"for ever{assumed}; --deadlocks tells all of it"
                )
        except LimitReachedError:
            return

    def _doubts_of_actions(self, found: Property, expression: Expression) -> Iterator[str]:
        own = {name for each in self.properties if self._acts(each) for name in self._assigned(each)}
        own |= expression.assigned
        known = variable_names(self.names)
        for name in dict.fromkeys(unknown_names(expression, known | own)):
            yield f"{found.name}: no event and no action ever sets {name}, so it has no value in the action"
        for name in sorted(expression.assigned & known):
            yield (
                f"{found.name}: {name} is a variable of the program too; "
                "in actions it is the debugger's, which is 0 at first"
            )

    def _assigned(self, found: Property) -> frozenset[str]:
        return self._compiled(found).expression.assigned

    def strangers(self, found: Property) -> tuple[str, ...]:
        """Names of the expression that no event bears."""
        meaning = Meaning(self._compiled(found), self.computation)
        return tuple(dict.fromkeys(meaning.unmatched()))

    def _compiled(self, found: Property) -> Compiled:
        expression = compiled(parse_path(found.source, self.definitions))
        check_variables(expression, self.names, found.source)
        return expression

    def _meaning(self, expression: Compiled) -> Meaning:
        return Meaning(expression, with_turns(self.computation, expression))

    def verdict(self, found: Property, budget: Budget) -> Verdict:
        started = perf_counter()
        expression = self._compiled(found)
        meaning = self._meaning(expression)
        machine = Machine(expression)
        machine.look = budget.look
        kind = subclass(expression.expression)
        if found.language == "expect":
            answer = self._expected(meaning, machine, budget)
        elif found.language == "watch" and expression.expression.has_actions:
            answer = self._acting(found, budget)
        else:
            answer = self._occurring(found, meaning, machine, budget)
        return Verdict(
            name=found.name,
            language=found.language,
            formula=found.text,
            truth=answer.truth,
            predicate_class=kind.name,
            engine=kind.engine,
            cuts=0,
            faults=meaning.faults,
            reason=answer.reason,
            notes=_notes(kind, machine if self.has_notes else None),
            path=answer.result,
            seconds=perf_counter() - started,
        )

    def _expected(self, meaning: Meaning, machine: Machine, budget: Budget) -> Found:
        try:
            found = fitting(meaning, machine, budget)
        except LIMITS as limit:
            return Found(Truth.UNKNOWN, PathResult(), str(limit))
        name = self.computation.trace.name
        result = PathResult(
            event=None if found.misfit is None else name(found.misfit.step),
            after=() if found.misfit is None else tuple(map(name, found.misfit.predecessors)),
            expected=tuple([Expected(each.symbol, tuple(map(name, each.after))) for each in found.expected]),
            fitted=found.fitted,
            latest=tuple(
                [Expected(name(each.step), tuple(map(name, each.predecessors))) for each in found.latest]
            ),
        )
        return Found(Truth.HOLDS if found.fits else Truth.VIOLATED, result)

    def _occurring(self, found: Property, meaning: Meaning, machine: Machine, budget: Budget) -> Found:
        """`never`, and a `watch` that does nothing."""
        symbols = {symbol for played in meaning.all_symbols for symbol in played}
        looked_for = Machine(occurring(machine.expression, symbols))
        looked_for.look = budget.look
        search = _Search(found, meaning, looked_for, budget, tells=False)
        search.collect(all_occurrences(meaning, looked_for, budget))
        return search.found()

    # ---- watches that act -----------------------------------------------------------------------

    def _acting(self, found: Property, budget: Budget) -> Found:
        """All watches with actions work on one debugger, so they are followed together, event by event."""
        if found.name not in self._acted:
            together = [each for each in self.properties if self._acts(each)]
            self._act_together(together if found in together else [found], budget)
        return self._acted[found.name]

    def _when(self, found: tuple[int, int, Partial]) -> tuple[int, int]:
        """The place of an event in the recorded order; of two properties the earlier one comes first."""
        number, step, _ = found
        return (self._places[step] if self.computation.joint else step), number

    @cached_property
    def _places(self) -> Mapping[int, int]:
        return {step: place for place, step in enumerate(self.computation.steps)}

    def _acts(self, found: Property) -> bool:
        return found.language == "watch" and self._compiled(found).expression.has_actions

    def _act_together(self, together: list[Property], budget: Budget) -> None:
        debugger = Debugger(functions=self.functions)
        scene = RecordedScene(self.computation)
        searches = []
        for each in together:
            expression = self._compiled(each)
            meaning, machine = self._meaning(expression), Machine(expression, tells=True)
            machine.look = budget.look
            searches.append(_Search(each, meaning, machine, budget, tells=True))
        performers = [Performer(s.machine.expression.expression, scene, debugger) for s in searches]
        streams = [_numbered(number, search.sets()) for number, search in enumerate(searches)]
        for performer, search in zip(performers, searches, strict=True):
            performer.begin()
            search.output += _taken_lines(debugger)
        for number, step, partial in merge(*streams, key=self._when):
            _perform(performers[number], step, partial)
            searches[number].output += _taken_lines(debugger)
        self._acted.update({search.property.name: search.found() for search in searches})


def _taken_lines(debugger: Debugger) -> list[str]:
    said, debugger.output[:] = [said.line for said in debugger.output], []
    return said


def _numbered(number: int, sets: Iterator[tuple[int, Partial]]) -> Iterator[tuple[int, int, Partial]]:
    return ((number, step, partial) for step, partial in sets)


def _perform(performer: Performer, step: int, partial: Partial) -> None:
    played = dict(partial.played[0])
    atoms = tuple([atom for atom, event in partial.played[0] if event == step])
    performer.recognised(step, atoms, played)
    if partial.is_complete:
        performer.completed(step, played)


class _Search:
    """The occurrences of one property, collected as they are found."""

    def __init__(
        self, found: Property, meaning: Meaning, machine: Machine, budget: Budget, *, tells: bool
    ) -> None:
        self.property = found
        self.machine = machine
        self.trace = meaning.trace
        self.output: list[str] = []
        self._all = Occurrences(meaning, machine, budget, tells)
        self._matches: list[tuple[int, ...]] = []
        self._reason: str | None = None

    def sets(self) -> Iterator[tuple[int, Partial]]:
        """Every set under way with its newest event, up to a limit."""
        try:
            for event, partial in self._all:
                if partial.is_complete:
                    self._matches.append(tuple(sorted(partial.events)))
                yield event.step, partial
                if len(self._matches) >= MOST_MATCHES:
                    self._reason = f"more than {MOST_MATCHES:,} occurrences"
                    return
        except LIMITS as limit:
            self._reason = str(limit)

    def collect(self, occurring: Iterator[tuple[int, ...]]) -> None:
        """The occurrences alone, up to a limit."""
        try:
            for events in occurring:
                self._matches.append(events)
                if len(self._matches) >= MOST_MATCHES:
                    self._reason = f"more than {MOST_MATCHES:,} occurrences"
                    return
        except LIMITS as limit:
            self._reason = str(limit)

    def found(self) -> Found:
        name = self.trace.name
        result = PathResult(
            matches=tuple([tuple(map(name, events)) for events in sorted(self._matches)]),
            is_complete=self._reason is None,
            output=tuple(self.output),
        )
        truth = _truth(self.property.language, bool(self._matches), self._reason)
        return Found(truth, result, None if self._matches else self._reason)


def _truth(language: str, occurs: bool, reason: str | None) -> Truth:
    if occurs:
        return Truth.VIOLATED if language == "never" else Truth.MATCHED
    if reason is not None:
        return Truth.UNKNOWN
    return Truth.HOLDS if language == "never" else Truth.ABSENT


def _notes(kind: Subclass, machine: Machine | None) -> tuple[str, ...]:
    """The class and why, and with a machine all of the model, as far as there is time."""
    found = (f"the expression is {kind.name}: {kind.why}", f"its semantic model is a {kind.model}")
    if machine is None:
        return found
    try:
        return (*found, *picture_notes(machine, kind.name))
    except LIMITS as limit:
        return (*found, f"the model is not listed: {limit}")
