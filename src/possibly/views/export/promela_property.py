"""A computation and one property as a model for SPIN, in the form in which SPIN has the least to do.

Here belongs the encoding that keeps what the property reads and nothing else. A part of the property that
reads one process is a bit that our own evaluation sets, a value inside a comparison an `int`; an event that
changes none of them and orders nothing is left out. What one process must wait for from another is a token
in a channel of these two alone (`xs`, `xr`), so that SPIN's partial order reduction knows the steps of
different processes to be independent; the order of the tokens is that of the events, since an edge that
would overtake another is implied by it. The states of the model are the cuts up to stuttering, so the
property must be free of next.

Formulas of CTL become formulas of LTL where both say the same (`logic.ltl.from_branching`); of one about
some path the negation is the claim. For others (`AG(EF p)`) SPIN has no form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from possibly.errors import UsageError
from possibly.logic.ltl.from_branching import of_every_path, of_some_path
from possibly.logic.predicates.functions import MISSING, compile_predicate, compile_value, is_state, leaves
from possibly.logic.printer import unparse
from possibly.logic.syntax import (
    And,
    Apart,
    Arithmetic,
    AtLeast,
    Compare,
    Iff,
    Implies,
    Literal,
    Node,
    Not,
    Or,
    Shared,
    Temporal,
    Transit,
)
from possibly.order.state import Chain, Readings, Sum, Timeline
from possibly.views.export.promela import LARGEST, NONE, SMALLEST

if TYPE_CHECKING:
    from possibly.order.computation import Computation, Place

MOST_CHANNELS = 255
"""SPIN knows no more channels, and none of them longer."""

LINEAR = {"F": "<>", "G": "[]", "U": "U", "R": "V", "W": "W"}


def render_promela_with(computation: Computation, formula: Node, language: str) -> str:
    """The model with the claim `property`, or `property_1` and so on: one a conjunct, for `pan -N NAME`.

    An error of one of them is an order that violates the formula, or satisfies it, as the head says.
    """
    return _Encoding(computation).text(formula, language)


class _Encoding:
    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.readings = Readings(computation)
        self.known: dict[object, str] = {}
        self.declared: list[str] = []
        self.changes: dict[Place, list[str]] = {}
        """What each event assigns."""

    def text(self, formula: Node, language: str) -> str:
        parts = list(_conjuncts(formula)) if language == "ctl" else [formula]
        claims = [self._claim(part, language) for part in parts]
        refutes = claims[0][1]
        if len(claims) > 1 and not all(universal for _, universal in claims):
            raise UsageError(f"SPIN is asked for one property: {unparse(formula)} is several")
        end = "violated" if refutes else "satisfied"
        head = [
            "/* Written by possibly: the states are the cuts of a run, as the property reads them. */",
            f"/* An error is an order in which this is {end}: {_comment(unparse(formula))} */",
            f"#define NONE ({NONE})",
            *self.declared,
        ]
        names = ["property"] if len(claims) == 1 else [f"property_{k + 1}" for k in range(len(claims))]
        told = [f"ltl {name} {{ {claim} }}" for name, (claim, _) in zip(names, claims, strict=True)]
        return "\n".join([*head, *self._processes(), *told, ""])

    # ---- the property ---------------------------------------------------------------------------

    def _claim(self, formula: Node, language: str) -> tuple[str, bool]:
        if language == "ltl":
            return self._linear(formula), True
        if is_state(formula):
            return self._truth(formula), True
        if (found := of_every_path(formula)) is not None:
            return self._linear(found), True
        if (found := of_some_path(formula)) is not None:
            return f"!({self._linear(found)})", False
        raise UsageError(f"no formula of LTL says {unparse(formula)}: SPIN cannot be asked for it")

    def _linear(self, node: Node) -> str:
        if is_state(node):
            return self._truth(node)
        match node:
            case Temporal(operator, operands) if operator in LINEAR:
                return _operator(LINEAR[operator], [self._linear(part) for part in operands])
            case Not(operand):
                return f"!({self._linear(operand)})"
            case And(operands) | Or(operands):
                return _joined("&&" if isinstance(node, And) else "||", map(self._linear, operands))
            case Implies(left, right) | Iff(left, right):
                word = "->" if isinstance(node, Implies) else "<->"
                return f"(({self._linear(left)}) {word} ({self._linear(right)}))"
        raise UsageError(f"SPIN has no form for {unparse(node)}: states that differ in nothing are one there")

    # ---- predicates -----------------------------------------------------------------------------

    def _truth(self, node: Node) -> str:
        """A state predicate as an expression over bits and numbers."""
        if (bit := self._bit(node)) is not None:
            return bit
        match node:
            case Not(operand):
                return f"!({self._truth(operand)})"
            case And(operands) | Or(operands):
                return _joined("&&" if isinstance(node, And) else "||", map(self._truth, operands))
            case Implies(left, right):
                return f"(!({self._truth(left)}) || ({self._truth(right)}))"
            case Iff(left, right):
                return f"(({self._truth(left)}) == ({self._truth(right)}))"
            case AtLeast(least, operands):
                return f"(({' + '.join(map(self._truth, operands))}) >= {least})"
            case Apart(operands):
                return self._apart(operands)
            case Compare(operands, operators) if all(each in _COMPARISONS for each in operators):
                values = [self._value(part) for part in operands]
                there = [f"{each} != NONE" for each in dict.fromkeys(values) if each in self.declared_values]
                links = [f"{a} {word} {b}" for (a, b), word in zip(pairwise(values), operators, strict=True)]
                return _joined("&&", [*there, *links])
        raise UsageError(f"SPIN has no form for {unparse(node)}")

    def _apart(self, operands: Sequence[Node]) -> str:
        """One of the first half, and one of the second at another place."""
        truths = [self._truth(part) for part in operands]
        half = len(truths) // 2
        others = " + ".join(truths[half:])
        pairs = zip(truths[:half], truths[half:], strict=True)
        return _joined("||", [f"(({one}) && ({others}) > ({other}))" for one, other in pairs])

    @property
    def declared_values(self) -> set[str]:
        return {name for key, name in self.known.items() if isinstance(key, tuple)}

    def _bit(self, node: Node) -> str | None:
        """A predicate on one process, or on one shared variable, as a bit; a constant as itself."""
        if node in self.known:
            return self.known[node]
        courses = [self.readings(leaf) for leaf in leaves(node)]
        evaluate = compile_predicate(node).evaluate
        if not courses:
            return str(evaluate([])).lower()
        if (lines := _of_one_process(courses)) is not None:
            states = [int(evaluate(values)) for values in zip(*(line.values for line in lines), strict=True)]
            places: list[Place | None] = [(lines[0].process, count) for count in range(len(states))]
        elif len(courses) == 1 and isinstance(courses[0], Chain):
            states, places = [int(evaluate([value])) for value in courses[0].values], _writes(courses[0])
        else:
            return None
        return self._variable(node, "bit", states, places)

    def _value(self, node: Node) -> str:
        """A value inside a comparison."""
        if (key := ("value", node)) in self.known:
            return self.known[key]
        match node:
            case Literal(value) if _is_number(value):
                return str(int(value))
            case Transit():
                return self._sum(node)
        courses = [self.readings(leaf) for leaf in leaves(node)]
        evaluate = compile_value(node).evaluate
        if (lines := _of_one_process(courses)) is not None:
            values = [evaluate(each) for each in zip(*(line.values for line in lines), strict=True)]
            places = [(lines[0].process, count) for count in range(len(values))]
            return self._variable(key, "int", [_number(value, node) for value in values], places)
        if isinstance(node, Shared) and isinstance(courses[0], Chain):
            numbers = [_number(value, node) for value in courses[0].values]
            return self._variable(key, "int", numbers, _writes(courses[0]))
        match node:
            case Arithmetic(operator, operands) if operator in ("+", "-", "*"):
                parts = [self._value(part) for part in operands]
                return f"({f' {operator} '.join(parts)})" if len(parts) > 1 else f"({operator}{parts[0]})"
        raise UsageError(f"SPIN has no form for {unparse(node)}")

    def _sum(self, node: Transit) -> str:
        """Messages in transit: what each process has sent and not received of them, together."""
        reading = self.readings(node)
        assert isinstance(reading, Sum), "messages in transit are a sum"
        names = [
            self._variable((node, process), "int", net, [(process, count) for count in range(len(net))])
            for process, net in reading.parts
        ]
        return f"({' + '.join(names) or '0'})"

    def _variable(self, key: object, kind: str, states: Sequence[int], places: Sequence[Place | None]) -> str:
        name = f"{kind[0]}{len(self.known)}"
        self.known[key] = name
        self.declared.append(f"{kind} {name} = {states[0]};")
        for (before, after), place in zip(pairwise(states), places[1:], strict=True):
            if before != after and place is not None:
                self.changes.setdefault(self._leader(place), []).append(f"{name} = {after}")
        return name

    # ---- the processes --------------------------------------------------------------------------

    def _leader(self, place: Place) -> Place:
        """Where the step of an event is executed: a joint event by the first of its processes."""
        computation = self.computation
        return (
            computation.place(computation.events(computation.at(*place))[0]) if computation.joint else place
        )

    def _processes(self) -> Iterator[str]:
        sends, receives, tokens = self._edges()
        if len(tokens) > MOST_CHANNELS or max(tokens.values(), default=0) > MOST_CHANNELS:
            form: Form = _Counters(tokens)
        else:
            form = _Channels(tokens)
        yield from form.declarations()
        for process, length in enumerate(self.computation.lengths):
            yield f"active proctype p{process}() {{ /* {_comment(self.computation.processes[process])} */"
            yield from form.exclusive(process)
            steps = [
                *(
                    f"  atomic {{ {'; '.join(parts)} }}"
                    for count in range(1, length + 1)
                    if (
                        parts := [
                            *map(form.receive, receives.get((process, count), ())),
                            *self.changes.get((process, count), ()),
                            *map(form.send, sends.get((process, count), ())),
                        ]
                    )
                )
            ]
            yield ";\n".join(steps) or "  skip"
            yield "}"

    def _edges(self) -> tuple[Tokens, Tokens, dict[Pair, int]]:
        """For each event the tokens it sends and waits for, and how many there are in all."""
        sends: Tokens = {}
        receives: Tokens = {}
        counts: dict[Pair, int] = {}
        last: dict[Pair, int] = {}
        for (i, x), (j, y) in sorted(self._waits(), key=lambda edge: (edge[1][1], edge[0][1])):
            if i == j or x <= last.get((i, j), 0):
                continue
            last[i, j] = x
            counts[i, j] = counts.get((i, j), 0) + 1
            sends.setdefault((i, x), []).append((i, j, counts[i, j]))
            receives.setdefault((j, y), []).append((i, j, counts[i, j]))
        return sends, receives, counts

    def _waits(self) -> Iterator[tuple[Place, Place]]:
        computation = self.computation
        for j in range(len(computation.lengths)):
            for position, source in computation.needed.of(j):
                yield source, (j, position)
        for step in range(len(computation.trace) if computation.joint else 0):
            lines = [computation.place(line) for line in computation.events(step)]
            for process, position in lines[1:]:
                if computation.place(step) == lines[0]:
                    yield lines[0], (process, position)
                    yield (process, position - 1), lines[0]


def _conjuncts(formula: Node) -> Iterator[Node]:
    """The parts of a conjunction, invariants as one: an automaton for many conjuncts has no end."""
    parts = formula.operands if isinstance(formula, And) and not is_state(formula) else (formula,)
    invariants: list[Node] = []
    for part in parts:
        match part:
            case Temporal("AG", (operand,)) if is_state(operand):
                invariants.append(operand)
            case _:
                yield part
    if invariants:
        yield Temporal("AG", (invariants[0] if len(invariants) == 1 else And(tuple(invariants)),))


Pair = tuple[int, int]
Token = tuple[int, int, int]
"""Sender, receiver, and the number of the token among theirs."""
Tokens = dict[tuple[int, int], list[Token]]


class _Channels:
    """Tokens in channels that two processes have for themselves."""

    def __init__(self, tokens: dict[Pair, int]) -> None:
        self.tokens = tokens

    def declarations(self) -> Iterator[str]:
        return (f"chan c{i}_{j} = [{count}] of {{ bit }};" for (i, j), count in self.tokens.items())

    def exclusive(self, process: int) -> Iterator[str]:
        for i, j in self.tokens:
            if process in (i, j):
                yield f"  {'xs' if process == i else 'xr'} c{i}_{j};"

    def send(self, token: Token) -> str:
        return f"c{token[0]}_{token[1]}!0"

    def receive(self, token: Token) -> str:
        return f"c{token[0]}_{token[1]}?_"


class _Counters:
    """Tokens counted, where there are more than SPIN has channels."""

    def __init__(self, tokens: dict[Pair, int]) -> None:
        self.tokens = tokens

    def declarations(self) -> Iterator[str]:
        return (f"int c{i}_{j};" for i, j in self.tokens)

    def exclusive(self, process: int) -> Iterator[str]:
        return iter(())

    def send(self, token: Token) -> str:
        return f"c{token[0]}_{token[1]}++"

    def receive(self, token: Token) -> str:
        return f"c{token[0]}_{token[1]} >= {token[2]}"


Form = _Channels | _Counters
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def _of_one_process(courses: Sequence[object]) -> list[Timeline] | None:
    lines = [course for course in courses if isinstance(course, Timeline)]
    return lines if len(lines) == len(courses) and len({line.process for line in lines}) == 1 else None


def _writes(chain: Chain) -> list[Place | None]:
    """The event of each write; the initial value has none."""
    found: list[Place | None] = [None] * len(chain.values)
    for process, counts, numbers in chain.reached:
        for count, number in zip(counts, numbers, strict=True):
            found[number] = (process, count)
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int)) and SMALLEST <= value <= LARGEST


def _number(value: object, node: Node) -> int:
    if value is MISSING:
        return NONE
    if not _is_number(value):
        raise UsageError(f"SPIN compares whole numbers alone, and {unparse(node)} has the value {value!r}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def _operator(word: str, parts: Iterable[str]) -> str:
    found = list(parts)
    return f"({word} ({found[0]}))" if len(found) == 1 else f"(({found[0]}) {word} ({found[1]}))"


def _joined(word: str, parts: Iterable[str]) -> str:
    return "(" + f" {word} ".join(f"({part})" for part in parts) + ")"


def _comment(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii").replace("*/", "*\\/")
