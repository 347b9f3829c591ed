"""Checking `expect`, `never` and `watch`: from the text of an expression to a verdict.

Here belongs the sequence that all three share: read the expression with the compound events of the
specification, establish the order of the `sync` rules, classify, recognise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.paths.expected import fitting
from possibly.detection.paths.meaning import Meaning, check_variables
from possibly.detection.paths.occurrences import Occurrences
from possibly.detection.paths.perform import Debugger, Function, Performer, check_actions
from possibly.detection.paths.synchronise import synchronised
from possibly.errors import UsageError
from possibly.logic.bind import Vocabulary
from possibly.logic.paths.automaton import picture_notes
from possibly.logic.paths.classes import ENGINES, Subclass, subclass
from possibly.logic.paths.compiled import Compiled, compiled
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.rules import parse_rule
from possibly.logic.specification import Property, Specification
from possibly.trace.model import Trace
from possibly.verdict.model import Truth, Verdict
from possibly.verdict.paths import Expected, PathResult

LANGUAGES = ("expect", "never", "watch")
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
    ) -> None:
        self.names = names
        self.definitions = {each.name: each for each in specification.definitions}
        self.functions = functions or {}
        rules = [parse_rule(sync.source, self.definitions) for sync in specification.syncs]
        self.computation = synchronised(trace, order, rules)

    def warnings(self, found: Property, engine: str) -> tuple[str, ...]:
        """Checks the property before anything runs; what looks like a slip is a warning."""
        if engine not in ("auto", *ENGINES.values()):
            raise UsageError(f"no engine is called {engine!r} for {found.language}: use auto")
        expression = self._compiled(found)
        check_actions(expression.expression, found.source, self.functions)
        meaning = Meaning(expression, self.computation)
        strangers = dict.fromkeys(meaning.unmatched())
        return tuple([f"{found.name}: no event of the trace is called {name}" for name in strangers])

    def _compiled(self, found: Property) -> Compiled:
        expression = compiled(parse_path(found.source, self.definitions))
        check_variables(expression, self.names, found.source)
        return expression

    def verdict(self, found: Property, budget: Budget) -> Verdict:
        started = perf_counter()
        expression = self._compiled(found)
        meaning = Meaning(expression, self.computation)
        machine = Machine(expression)
        kind = subclass(expression.expression)
        if found.language == "expect":
            answer = self._expected(meaning, machine, budget)
        else:
            answer = self._occurring(found.language, meaning, machine, budget)
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
            notes=_notes(kind, machine),
            path=answer.result,
            seconds=perf_counter() - started,
        )

    def _expected(self, meaning: Meaning, machine: Machine, budget: Budget) -> Found:
        try:
            found = fitting(meaning, machine, budget)
        except LimitReachedError as limit:
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

    def _occurring(self, language: str, meaning: Meaning, machine: Machine, budget: Budget) -> Found:
        debugger = Debugger(functions=self.functions)
        performer = Performer(machine.expression.expression, self.computation, debugger)
        acts = language == "watch" and machine.expression.expression.has_actions
        matches: list[tuple[int, ...]] = []
        reason = None
        try:
            for event, partial in Occurrences(meaning, machine, budget):
                played = dict(partial.played[0])
                if acts:
                    atoms = tuple([atom for atom, step in partial.played[0] if step == event.step])
                    performer.recognised(event.step, atoms, played)
                if partial.is_complete:
                    matches.append(tuple(sorted(partial.events)))
                    if acts:
                        performer.completed(event.step, played)
                    if len(matches) >= MOST_MATCHES:
                        reason = f"more than {MOST_MATCHES:,} occurrences"
                        break
        except LimitReachedError as limit:
            reason = str(limit)
        name = self.computation.trace.name
        result = PathResult(
            matches=tuple([tuple(map(name, events)) for events in sorted(matches)]),
            is_complete=reason is None,
            output=tuple(debugger.output),
        )
        return Found(_truth(language, bool(matches), reason), result, None if matches else reason)


def _truth(language: str, occurs: bool, reason: str | None) -> Truth:
    if occurs:
        return Truth.VIOLATED if language == "never" else Truth.MATCHED
    if reason is not None:
        return Truth.UNKNOWN
    return Truth.HOLDS if language == "never" else Truth.ABSENT


def _notes(kind: Subclass, machine: Machine) -> tuple[str, ...]:
    return (
        f"the expression is {kind.name}: {kind.why}",
        f"its semantic model is a {kind.model}",
        *picture_notes(machine, kind.name),
    )
