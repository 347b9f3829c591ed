"""Which instances of a quantifier can matter in a run: those that nothing in them rules out.

Here belongs leaving out instances before they are written out. "Some pair is in office" has an instance for
each two of a thousand processes, and a run in which seven of them ever were primary. In

    exists i, j in "Node*" if i != j: i.isPrimary & j.isSecondary & i.secondary == index(j)

an i that is never primary has no instance that is ever true, nor has a j that i never names. For `forall`
all is the other way round: an instance that is true in every state of the run is left out.

Law: what is left out is false (`exists`) or true (`forall`) at every cut, so the quantifier keeps its truth
at each of them. A part rules out by the states of one process alone; what it means there is asked of `Facts`.
Names are looked up for every process all the same, so that no error depends on what a run does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from possibly.logic.pairs import asks_for_different, mentioned
from possibly.logic.predicates.functions import is_state
from possibly.logic.scope import Match, Scope
from possibly.logic.syntax import (
    And,
    Compare,
    Implies,
    Index,
    Name,
    Node,
    Not,
    Or,
    Quantified,
    Temporal,
)
from possibly.logic.walk import nodes
from possibly.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Facts(Protocol):
        """What is known of a run."""

        def never(self, predicate: Node) -> bool:
            """Whether a bound predicate is false in every state of the one process that it reads."""

        def values(self, process: str, variable: str) -> Iterable[Any]:
            """All values that a local variable ever has."""


_ONE_STATE = frozenset(("EF", "AF", "EG", "AG", "F", "G"))
"""Operators of which the truth of the operand at every cut is the truth."""


Bind = Callable[[Node, Scope], Node]


@dataclass(frozen=True, slots=True)
class _Naming:
    """`i.x == index(j)` or `i.x == j`: an i that never has such a value rules j out."""

    owner: str
    local: str
    named: str
    by: str
    """What of the named one: `number` or `process`."""


class Sieve:
    """The instances of the quantifiers of one formula that can matter."""

    def __init__(self, facts: Facts, bind: Bind) -> None:
        self.facts = facts
        self._bind = bind
        self._possible: dict[tuple[int, str], list[Match]] = {}
        """By quantifier and variable: a quantifier inside another one is met many times."""
        self._values: dict[tuple[str, str], frozenset[object]] = {}

    def applies(self, node: Quantified, scope: Scope) -> bool:
        """Whether it speaks of pairs at least, and all errors of its names can be told without instances."""
        if len(node.variables) + len(scope) < 2 or any(isinstance(n, Quantified) for n in nodes(node.body)):
            return False
        return node.condition is None or asks_for_different(node)

    def chosen(self, node: Quantified, matches: Sequence[Match], scope: Scope) -> list[tuple[Match, ...]]:
        """The choices for its variables that no part rules out, in the order of the processes."""
        parts = list(_deciding(node))
        known = {*scope, *node.variables}
        spoken = [(part, mentioned(part) & known) for part in parts]
        possible = {}
        for variable in node.variables:
            own = [part for part, of in spoken if of == {variable}]
            possible[variable] = self._possible_for(node, variable, own, matches, scope)
        outer = [part for part, of in spoken if len(of) == 1 and of <= scope.keys()]
        if any(self._rules_out(part, scope) for part in outer):
            return []
        return list(self._extended(node.variables, possible, list(_namings(parts)), {**scope}))

    def _possible_for(
        self, node: Quantified, variable: str, parts: list[Node], matches: Sequence[Match], scope: Scope
    ) -> list[Match]:
        """The processes that the parts which speak of this variable alone do not rule out."""
        key = id(node), variable
        if key not in self._possible:
            for match in matches:
                self._bind(node.body, {**scope, **dict.fromkeys(node.variables, match)})
            scopes = [(match, {variable: match}) for match in matches]
            self._possible[key] = [
                match for match, own in scopes if not any(self._rules_out(part, own) for part in parts)
            ]
        return self._possible[key]

    def _rules_out(self, part: Node, scope: Scope) -> bool:
        return self.facts.never(self._bind(part, scope))

    def _extended(
        self,
        variables: tuple[str, ...],
        possible: Mapping[str, list[Match]],
        namings: list[_Naming],
        chosen: dict[str, Match],
    ) -> Iterator[tuple[Match, ...]]:
        if not variables:
            yield ()
            return
        first, rest = variables[0], variables[1:]
        for match in self._named(first, possible[first], namings, chosen):
            chosen[first] = match
            for others in self._extended(rest, possible, namings, chosen):
                yield match, *others
        chosen.pop(first, None)

    def _named(
        self, variable: str, matches: list[Match], namings: list[_Naming], chosen: Scope
    ) -> list[Match]:
        """Those that fit what is chosen already."""
        for naming in namings:
            if naming.named == variable and naming.owner in chosen:
                values = self._values_of(chosen[naming.owner], naming)
                matches = [match for match in matches if getattr(match, naming.by) in values]
        for naming in namings:
            if naming.owner == variable and naming.named in chosen:
                wanted = getattr(chosen[naming.named], naming.by)
                matches = [match for match in matches if wanted in self._values_of(match, naming)]
        return matches

    def _values_of(self, match: Match, naming: _Naming) -> frozenset[object]:
        key = match.process, naming.local
        if key not in self._values:
            values = self.facts.values(*key)
            self._values[key] = frozenset(each for each in values if isinstance(each, int | float | str))
        return self._values[key]


def _deciding(node: Quantified) -> Iterator[Node]:
    """Predicates of which an instance without effect has one that is never true."""
    body = node.body
    while isinstance(body, Temporal) and body.operator in _ONE_STATE:
        (body,) = body.operands
    pending = [body if node.quantifier == "exists" else _denied(body)]
    while pending:
        part = pending.pop()
        if isinstance(part, And):
            pending += part.operands
        elif isinstance(part, Not) and isinstance(part.operand, Or | Implies | Not):
            pending.append(_denied(part.operand))
        elif is_state(part):
            yield part


def _denied(node: Node) -> Node:
    match node:
        case Not(operand):
            return operand
        case Or(operands):
            return And(tuple(map(_denied, operands)))
        case Implies(left, right):
            return And((left, _denied(right)))
    return Not(node)


def _namings(parts: Iterable[Node]) -> Iterator[_Naming]:
    for part in parts:
        match part:
            case Compare((left, right), ("==",)):
                for value, named in ((left, right), (right, left)):
                    match value, named:
                        case Name((owner, *local)), Index(variable) if local:
                            yield _Naming(owner, ".".join(local), variable, "number")
                        case Name((owner, *local)), Name((variable,)) if local:
                            yield _Naming(owner, ".".join(local), variable, "process")
