"""Claims of a program about all of its processes, judged at collective breakpoints.

Here belongs what the atoms of a claim mean there: `Buffer.number` is the variable of that process (a local
of its innermost function that has one, else a global of its module), a bare name is a predicate of the
program, which is a Python function of the whole state, or else a global variable; `transit`, `at` and `done`
are as everywhere. The automaton of the claim is `logic.claims`. A claim speaks from the first collective
breakpoint after it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from possibly.control.macro.history import Start
from possibly.control.macro.model import MadeClaim, Message, Process, Seen
from possibly.logic.bind import Vocabulary, bind
from possibly.logic.ltl.claims import ClaimMonitor, Truth
from possibly.logic.ltl.claims_why import Reason, broken_at_the_end, reason, waiting
from possibly.logic.parser import parse
from possibly.logic.predicates.functions import MISSING, Predicate, compile_predicate
from possibly.logic.source import Source
from possibly.logic.syntax import At, Done, Leaf, Local, Shared, Transit
from possibly.trace.place import place_in

Evaluate = Callable[[Process, str, "Collective"], bool | str]
"""(process that made the claim, name of the predicate, state) -> its truth, or why it has none."""


class Collective(NamedTuple):
    """The state of the whole system at a collective breakpoint."""

    seen: Mapping[Process, Seen]
    transit: tuple[Message, ...]

    def value(self, process: Process, variable: str) -> Any:
        """Of a variable; MISSING if it has none yet."""
        seen = self.seen.get(process)
        if seen is None:
            return MISSING
        return seen.variables.get(variable, seen.globals.get(variable, MISSING))


class _Anything(frozenset[str]):
    """Every variable may get a value later."""

    def __contains__(self, name: object) -> bool:
        return True


class _AnyLocals(dict[str, frozenset[str]]):
    def get(self, key: str, default: Any = None) -> Any:
        return _Anything()


class Status(NamedTuple):
    """A claim at a collective breakpoint, as plain data for views."""

    claim: str
    verdict: Truth
    state: int = 0
    asked: dict[str, bool] = {}  # noqa: RUF012 - never written to
    """The atoms that were evaluated there."""


@dataclass(slots=True)
class JudgedClaim:
    """A claim on one path."""

    made: MadeClaim
    monitor: ClaimMonitor
    predicates: list[Predicate]
    start: Start
    """From where on it speaks, of the path as a partial order."""
    state: int = 0
    before: int = 0
    known: dict[int, bool] = field(default_factory=dict)
    """The atoms of the round in which it was decided, or of the last one."""
    missing: set[str] = field(default_factory=set)
    """Names that never had a value."""
    valued: set[str] = field(default_factory=set)
    faults: set[str] = field(default_factory=set)

    @property
    def verdict(self) -> Truth:
        return self.monitor.verdicts[self.state]

    def judge(self, state: Collective, evaluate: Evaluate) -> Status:
        """One more round."""
        if self.verdict is not None:
            return Status(self.made.text, self.verdict, self.state)
        self.before = self.state
        self.state, self.known = self.monitor.ask(self.state, lambda atom: self.holds(atom, state, evaluate))
        asked = {self.predicates[atom].text: value for atom, value in self.known.items()}
        return Status(self.made.text, self.verdict, self.state, asked)

    def end(self) -> bool:
        """The verdict of finite LTL if the path ends here."""
        return self.monitor.final(self.state)

    def why(self) -> Reason:
        """For a claim that a round made false."""
        return reason(self.monitor, self.before, self.known)

    def open_demands(self) -> list[str]:
        """What an undecided claim still waits for: texts, the urgent ones first."""
        found: dict[str, None] = {}
        for each in waiting(self.monitor, self.state):
            ways = [" and ".join(way) for way in each.must if way]
            if ways and () not in each.must:
                found["waits for " + " or for ".join(ways)] = None
        for each in waiting(self.monitor, self.state):
            for text in each.keeps:
                found[f"must keep {text}"] = None
        return list(found)

    def broken(self) -> tuple[str, ...]:
        return broken_at_the_end(self.monitor, self.state)

    def holds(self, atom: int, state: Collective, evaluate: Evaluate) -> bool:
        """Whether an atom, by its number, is true in a state."""
        predicate = self.predicates[atom]
        values = [self._value(leaf, state, evaluate) for leaf in predicate.leaves]
        found = bool(predicate.evaluate(values))
        self.faults.update(predicate.faults)
        return found

    def _value(self, leaf: Leaf, state: Collective, evaluate: Evaluate) -> Any:
        match leaf:
            case Local(process, variable):
                return self._noted(f"{process}.{variable}", state.value(process, variable))
            case Shared(name) if name in self.made.predicates:
                return self._predicate(name, state, evaluate)
            case Shared(name):
                return self._noted(name, self._shared(name, state))
            case Transit(sender, receiver, tag):
                return sum(1 for _ in in_transit(state, sender, receiver, tag))
            case At(process, label):
                return process in state.seen and state.seen[process].label == label
            case Done(process):
                return process in state.seen and state.seen[process].ended
        return MISSING

    def _predicate(self, name: str, state: Collective, evaluate: Evaluate) -> Any:
        found = evaluate(self.made.process, name, state)
        if isinstance(found, str):
            self.faults.add(f"{name}: {found}")
            return False
        return found

    def _shared(self, name: str, state: Collective) -> Any:
        process, dot, variable = name.partition(".")
        if dot and process in state.seen:
            return state.value(process, variable)
        own = state.seen.get(self.made.process)
        if own is not None and name in own.globals:
            return own.globals[name]
        return next((s.globals[name] for s in state.seen.values() if name in s.globals), MISSING)

    def _noted(self, name: str, value: Any) -> Any:
        (self.missing if value is MISSING else self.valued).add(name)
        return value


def in_transit(
    state: Collective, sender: Process | None, receiver: Process | None, tag: str | None
) -> Iterator[Message]:
    """Messages under way. Of one in a queue only the sender is known: anybody may receive it."""
    for message in state.transit:
        fits = sender in (None, message.sender) and (receiver is None or message.to in ("", receiver))
        if fits and tag in (None, message.tag):
            yield message


_compiled: dict[tuple[str, frozenset[str]], tuple[ClaimMonitor, list[Predicate]]] = {}


def judged(made: MadeClaim, processes: tuple[Process, ...], start: Start | None = None) -> JudgedClaim:
    """The claim, ready to be judged. Its automaton is made once for all paths."""
    key = made.text, frozenset(processes)
    if key not in _compiled:
        file, line = place_in(made.at)
        source = Source(made.text, file or None, line or 1)
        formula = parse(made.text, "ltl", source)
        vocabulary = Vocabulary(processes, _AnyLocals(), _Anything(), _Anything(), _Anything())
        monitor = ClaimMonitor(bind(formula, vocabulary, (), source).formula)
        _compiled[key] = monitor, [compile_predicate(atom) for atom in monitor.atoms]
    monitor, predicates = _compiled[key]
    return JudgedClaim(made, monitor, predicates, start or Start({}))
