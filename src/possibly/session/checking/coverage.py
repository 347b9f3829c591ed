"""What a set of runs has shown: classes of interleavings, turns at shared things, states of a specification.

Here belongs coverage of a set of traces, future work of Sen, "Techniques for formal verification of
concurrent and distributed program traces", section 9.2. Three measures, each with what is missing:

- A *class* of interleavings is a partial order: runs in which every process did the same, with the same order
  between processes, are one class, whatever order was recorded.
- A *turn* is a pair of uses of one thing (a lock, a shared variable, the mailbox of a process) by two
  processes, one right after the other. Seen one way round only, the other way is what no run has shown.
- A *state* says which of the atoms of a property are true at once. It may have been passed by a recorded
  order, be possible in another order of a run, or be possible in no order of any run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import islice, product

from possibly.detection.choose import answer
from possibly.detection.limits import Budget
from possibly.detection.observed import Observed
from possibly.logic.bind import Bound, bind_property
from possibly.logic.languages import FORMULAS
from possibly.logic.predicates.functions import maximal_predicates
from possibly.logic.printer import unparse
from possibly.logic.specification import Property, Specification
from possibly.logic.syntax import And, Iff, Implies, Literal, Node, Not, Or, Temporal
from possibly.order.computation import Computation
from possibly.order.predicate import CutPredicates
from possibly.session.checking.check import Checker, Options
from possibly.trace.model import Event, Trace
from possibly.verdict.model import Truth

MOST_AT_ONCE = 4
"""Atoms of a property up to which all of their combinations are asked for; of more, each for itself."""
MOST_ATOMS = 40
"""Atoms of a property that are asked for: quantifiers make thousands."""
MOST_TRIED = 10
"""Pairs of events of one turn and run of which it is asked whether they are concurrent."""


class Seen(IntEnum):
    """How well something is covered, the worst first."""

    NEVER = 0
    UNKNOWN = 1
    POSSIBLE = 2
    """In another order of a run."""
    RECORDED = 3


@dataclass(frozen=True, slots=True)
class Use:
    """Who uses a thing, and where in its source."""

    process: str
    place: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """Two uses of one thing, the first one right before the other."""

    thing: str
    first: Use
    second: Use

    @property
    def reverse(self) -> Turn:
        return Turn(self.thing, self.second, self.first)


@dataclass(slots=True)
class State:
    """Which atoms of a property are true and which are false."""

    text: str
    seen: Seen = Seen.NEVER
    run: str | None = None
    """The first run that covers it as well as any."""

    def add(self, seen: Seen, run: str) -> None:
        if seen > self.seen:
            self.seen, self.run = seen, run if seen > Seen.UNKNOWN else None


@dataclass(slots=True)
class Asked:
    """One property over all runs."""

    name: str
    text: str
    verdicts: dict[Truth, int] = field(default_factory=lambda: dict.fromkeys(Truth, 0))
    violated_by: str | None = None
    """The first run that violates it."""
    states: dict[str, State] = field(default_factory=dict)
    left_out: int = 0
    """Atoms that were too many to ask for."""


@dataclass(slots=True)
class Coverage:
    """What the runs so far have shown."""

    classes: dict[str, list[str]] = field(default_factory=dict)
    """For each class of interleavings the runs that are of it."""
    turns: dict[Turn, int] = field(default_factory=dict)
    """How many runs had the turn in their recorded order."""
    possible: dict[Turn, str] = field(default_factory=dict)
    """Turns that another order of a run has, with the first such run."""
    properties: dict[str, Asked] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        return sum(map(len, self.classes.values()))

    @property
    def chance_of_new(self) -> float:
        """The estimated probability that the next run is of a class that was not seen (Good, 1953)."""
        return sum(len(runs) == 1 for runs in self.classes.values()) / self.runs if self.runs else 1.0

    @property
    def one_sided(self) -> list[Turn]:
        """Turns whose other way round no recorded order had."""
        return [turn for turn in self.turns if turn.reverse not in self.turns]


def cover(
    coverage: Coverage, name: str, trace: Trace, specification: Specification, options: Options
) -> None:
    """Adds one run."""
    checker = Checker(trace, options)
    coverage.classes.setdefault(class_of(checker.computation), []).append(name)
    _cover_turns(coverage, name, checker.computation)
    for found in specification.properties:
        asked = coverage.properties.setdefault(found.name, Asked(found.name, found.text))
        _cover_property(asked, name, checker, found, specification)


# ---- classes of interleavings -------------------------------------------------------------------


def class_of(computation: Computation) -> str:
    """Equal for runs in which all processes did the same in the same partial order.

    Names of events and messages, times, and the order of the lines make no difference.
    """
    trace, digest = computation.trace, hashlib.sha256()
    numbers = sorted(range(len(trace.processes)), key=lambda number: trace.processes[number].name)
    rank = {number: position for position, number in enumerate(numbers)}
    for number in numbers:
        digest.update(repr(("process", trace.processes[number].name)).encode())
        for event in trace.events_of[number]:
            before = sorted((rank[at], position) for at, position in _before(computation, event))
            digest.update(repr((_facts(trace.event(event)), before)).encode())
    return digest.hexdigest()


def _before(computation: Computation, event: int) -> Iterator[tuple[int, int]]:
    """The direct predecessors in other processes, and who takes part in a joint event."""
    own = computation.trace.process[event]
    together = computation.events(computation.step(event))
    for other in {*computation.predecessors(event), *together}:
        if computation.trace.process[other] != own:
            yield computation.place(other)


def _facts(event: Event) -> tuple[object, ...]:
    values = sorted(event.set.items()), sorted(event.write.items()), sorted(event.read)
    return event.kind, event.fn, event.label, event.at, event.tag, values


# ---- turns --------------------------------------------------------------------------------------


def _cover_turns(coverage: Coverage, name: str, computation: Computation) -> None:
    recorded: dict[Turn, int] = {}
    for turn, first, second in turns_of(computation.trace):
        recorded[turn] = recorded.get(turn, 0) + 1
        is_asked = recorded[turn] <= MOST_TRIED and turn.reverse not in coverage.possible
        if is_asked and computation.concurrent(first, second):
            coverage.possible[turn.reverse] = name
    for turn in recorded:
        coverage.turns[turn] = coverage.turns.get(turn, 0) + 1


def turns_of(trace: Trace) -> Iterator[tuple[Turn, int, int]]:
    """The turns of the recorded order, with their two events."""
    senders = dict(zip(trace.delivery_receive, trace.delivery_send, strict=True))
    last: dict[str, list[tuple[int, Use, bool]]] = {}
    for number in range(len(trace)):
        for thing, use, changes in _uses(trace, number, senders.get(number)):
            earlier = last.setdefault(thing, [])
            for event, other, changed in earlier:
                if other.process != use.process and (changes or changed):
                    yield Turn(thing, other, use), event, number
            kept = [] if changes else [each for each in earlier if each[1] != use]
            last[thing] = [*kept, (number, use, changes)]


def _uses(trace: Trace, number: int, sender: int | None) -> Iterator[tuple[str, Use, bool]]:
    """The things that an event uses, by whom, and whether that matters to whoever only looks."""
    event = trace.event(number)
    use = Use(event.process, event.at)
    if event.kind == "acquire" and event.tag is not None:
        yield event.tag, use, True
    for variable in event.write:
        yield variable, use, True
    for variable in event.read:
        if variable not in event.write:
            yield variable, use, False
    if sender is not None:
        sent = trace.event(sender)
        yield f"messages to {event.process}", Use(sent.process, sent.at), True


# ---- states -------------------------------------------------------------------------------------


def _cover_property(
    asked: Asked, name: str, checker: Checker, found: Property, specification: Specification
) -> None:
    verdict = checker.verdict(found, checker.bound(found, specification))
    asked.verdicts[verdict.truth] += 1
    if verdict.truth is Truth.VIOLATED and asked.violated_by is None:
        asked.violated_by = name
    if found.language not in FORMULAS:
        return
    bound = bind_property(found, checker.names, specification.lets)
    atoms = list(islice(atoms_of(bound.formula), MOST_ATOMS + 1))
    asked.left_out = max(0, len(atoms) - MOST_ATOMS)
    for state in states_of(atoms[:MOST_ATOMS]):
        text = unparse(state)
        seen = _seen(checker, bound, state)
        asked.states.setdefault(text, State(text)).add(seen, name)


def atoms_of(formula: Node) -> Iterator[Node]:
    """The predicates that the formula is made of, each once, without the connectives between them."""
    told: dict[Node, None] = {}
    for predicate in maximal_predicates(formula):
        for atom in _atoms(predicate):
            if atom not in told:
                told[atom] = None
                yield atom


def _atoms(node: Node) -> Iterable[Node]:
    match node:
        case And(operands) | Or(operands):
            return [atom for part in operands for atom in _atoms(part)]
        case Implies(left, right) | Iff(left, right):
            return [*_atoms(left), *_atoms(right)]
        case Not(operand):
            return _atoms(operand)
        case Literal():
            return []
    return [node]


def states_of(atoms: Sequence[Node]) -> Iterator[Node]:
    """All combinations of the atoms; where these are many, each atom true and false."""
    if not atoms:
        return
    if len(atoms) > MOST_AT_ONCE:
        yield from (state for atom in atoms for state in (atom, Not(atom)))
        return
    for signs in product((True, False), repeat=len(atoms)):
        parts = [atom if sign else Not(atom) for atom, sign in zip(atoms, signs, strict=True)]
        yield And(tuple(parts)) if len(parts) > 1 else parts[0]


def _seen(checker: Checker, bound: Bound, state: Node) -> Seen:
    predicates = CutPredicates(checker.lattice, checker.readings, bound.declared)
    formula = Temporal("EF", (state,))
    if Observed(checker.lattice, predicates).holds(formula):
        return Seen.RECORDED
    options = checker.options
    budget = Budget(options.max_cuts, options.timeout)
    found = answer("ctl", formula, checker.lattice, predicates, budget, "auto").finding
    if found is None or found.assumed:
        return Seen.UNKNOWN
    return Seen.POSSIBLE if found.value else Seen.NEVER
