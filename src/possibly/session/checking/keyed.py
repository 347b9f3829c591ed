"""Checking `forall key`: all instances in one pass where that is possible, one after the other where not.

The verdict is that of the conjunction: violated if one instance is, with the witness of the first that is;
unknown if none is violated and one is unknown, or if there are more instances than may be tried one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from time import perf_counter
from typing import Protocol

from possibly.detection.keyed import ChainKeys
from possibly.detection.online.keyed import KeyedMonitor
from possibly.errors import FormulaError
from possibly.logic.bind import Bound, Vocabulary, bind
from possibly.logic.keyed import KEY, instance, with_leaf, with_value
from possibly.logic.predicates.functions import MISSING
from possibly.logic.specification import Let, Property, Specification
from possibly.logic.syntax import Keyed, Local, Shared
from possibly.order.computation import Computation
from possibly.order.state import Readings, Timeline
from possibly.records import replace
from possibly.trace.model import Value
from possibly.verdict.model import Keys, Truth, Verdict

ENGINE = "keyed"
MOST = 10_000
"""Instances that are checked one by one."""
SHOWN = 20
"""Values that are listed."""
LEAF = Shared("the key")


class Checker(Protocol):
    """Whoever can answer one instance."""

    @property
    def computation(self) -> Computation: ...

    @property
    def readings(self) -> Readings: ...

    @property
    def names(self) -> Vocabulary: ...

    @property
    def needs_each(self) -> bool:
        """Whether every instance has to be looked at by itself."""

    def verdict(self, found: Property, bound: Bound) -> Verdict: ...


def bound_keys(found: Property, keyed: Keyed, checker: Checker, specification: Specification) -> Bound:
    """The body bound once, with KEY in the place of the value: errors are those of every instance."""
    if not _owners(keyed, checker):
        source = found.source
        source.fail(f"no process is called {keyed.owner}", keyed.span[0] if keyed.span else 0)
    return bind(instance(keyed, KEY), checker.names, specification.lets, found.source)


def chain_keys(found: Property, keyed: Keyed, names: Vocabulary, lets: Sequence[Let]) -> ChainKeys | None:
    """The property as one that is about the process of its key alone; None if it is another."""
    if keyed.owner not in names.processes:
        return None
    bound = bind(instance(keyed, KEY), names, lets, found.source)
    return ChainKeys.of(with_leaf(bound.formula, LEAF), Local(keyed.owner, keyed.variable), LEAF)


def followed_keys(found: Property, monitor: object) -> Keys | None:
    """For which values a property that was followed is violated, as far as that is known."""
    if not isinstance(found.formula, Keyed) or not isinstance(monitor, KeyedMonitor):
        return None
    violated = monitor.violated or list(monitor.unmet())
    return Keys(found.formula.key, None, len(violated), tuple(violated[:SHOWN]))


def keyed_verdict(found: Property, keyed: Keyed, bound: Bound, checker: Checker) -> Verdict:
    started = perf_counter()
    owners = _owners(keyed, checker)
    variables = [Local(owner, keyed.variable) for owner in owners]
    fast = ChainKeys.of(with_leaf(bound.formula, LEAF), variables[0], LEAF) if len(owners) == 1 else None
    values = _values(variables, checker)
    if fast is not None and not checker.needs_each:
        verdict = _at_once(found, keyed, bound, fast, checker)
    else:
        verdict = _one_by_one(found, keyed, bound, values, checker)
    return replace(verdict, formula=found.text, seconds=perf_counter() - started)


def _owners(keyed: Keyed, checker: Checker) -> list[str]:
    names = [process.name for process in checker.computation.trace.processes]
    if keyed.owner in names:
        return [keyed.owner]
    return [name for name in names if fnmatchcase(name, keyed.owner)]


def _column(variable: Local, checker: Checker) -> Sequence[Value]:
    reading = checker.readings(variable)
    assert isinstance(reading, Timeline)
    return reading.values


def _values(variables: list[Local], checker: Checker) -> list[Value]:
    found: dict[Value, None] = {}
    for variable in variables:
        for value in _column(variable, checker):
            if isinstance(value, list | dict):
                name = f"{variable.process}.{variable.variable}"
                raise FormulaError(f"{name} has values that are lists or objects, which are no keys")
            if value is not MISSING:
                found[value] = None
    return list(found)


def _at_once(found: Property, keyed: Keyed, bound: Bound, fast: ChainKeys, checker: Checker) -> Verdict:
    violated, count, faults = fast.violated(lambda leaf: _column(leaf, checker))
    keys = Keys(keyed.key, count, len(violated), tuple(violated[:SHOWN]))
    if violated:
        shown = _instance(found, keyed, bound, violated[0], checker)
        if shown.truth is Truth.VIOLATED:
            return replace(shown, keys=keys, engine=ENGINE)
    truth = Truth.VIOLATED if violated else Truth.HOLDS
    return Verdict(
        found.name,
        found.language,
        found.text,
        truth,
        predicate_class="local",
        engine=ENGINE,
        observed=truth is Truth.HOLDS,
        faults=faults,
        keys=keys,
    )


def _one_by_one(
    found: Property, keyed: Keyed, bound: Bound, values: list[Value], checker: Checker
) -> Verdict:
    violated: list[tuple[Value, Verdict]] = []
    unknown: Verdict | None = None
    last: Verdict | None = None
    for value in values[:MOST]:
        last = _instance(found, keyed, bound, value, checker)
        if last.truth is Truth.VIOLATED:
            violated.append((value, last))
        elif last.truth is Truth.UNKNOWN:
            unknown = unknown or last
    keys = Keys(keyed.key, len(values), len(violated), tuple(value for value, _ in violated[:SHOWN]))
    if violated:
        return replace(violated[0][1], keys=keys)
    if unknown is None and len(values) > MOST:
        reason = f"there are {len(values):,} keys, and {MOST:,} may be checked one by one"
        return replace(_nothing(found, Truth.UNKNOWN), keys=keys, reason=reason)
    decided = unknown or last
    if decided is None:
        return Verdict(
            found.name, found.language, found.text, Truth.HOLDS, engine=ENGINE, observed=True, keys=keys
        )
    return replace(decided, keys=keys, witness=None, explanation=None, example=None)


def _nothing(found: Property, truth: Truth) -> Verdict:
    return Verdict(found.name, found.language, found.text, truth, engine=ENGINE)


def _instance(found: Property, keyed: Keyed, bound: Bound, value: Value, checker: Checker) -> Verdict:
    formula = with_value(bound.formula, value)
    plain = replace(found, formula=formula)
    return checker.verdict(plain, replace(bound, formula=formula))
