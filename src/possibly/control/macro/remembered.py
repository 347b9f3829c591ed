"""What was executed once need not be executed again: what a program did is remembered, and told from memory.

Law: what an interpreter of the program does until it rests again is a function of the state in which it was
and of what it is told: which of its operations complete, and the contents of the messages that they get. A
state is known by how it was come to; two are one state if the interpreter itself says that they are equal by
content (`inside.content`). A content is known by the state of its sender after it was sent. So paths that
differ only in the order in which things came that are the same afterwards, or in what processes did that know
nothing of each other, are told from memory: breakpoints that are equal join, while the board, the claims and
the orders of a path are worked out for each path as ever.

A system that remembers starts the program only where it does not know what would happen: then the program is
brought there, along the choices of the path. What it does on that way is compared with what is remembered. If
it goes another way it diverges, as in any search here; if it only shows other values, such as the time, then
nothing is remembered any more, and the search begins anew (`UnstableError`). Nor is anything remembered, once
something is there that is not controlled; and what the program writes into files is in no interpreter, so
from then on no states are found equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from possibly.control.macro.answers import Answers
from possibly.control.macro.claims import Collective
from possibly.control.macro.inside.state import SystemState
from possibly.control.macro.model import (
    Channel,
    Completion,
    MessageName,
    Moment,
    Operation,
    Process,
    process_of,
)
from possibly.control.macro.run import DivergedError, System

MOST_IN_VAIN = 200
"""States that are looked at though none was equal to another yet."""
State = int
Unit = Process
"""An interpreter, named by its first process."""
Told = tuple[Hashable, ...]
"""What an interpreter is told at once."""


class UnstableError(Exception):
    """The program showed other values than before on the same way."""


class Part(NamedTuple):
    """What one interpreter did until it rested."""

    unit: Unit
    moment: Moment
    homes: dict[Process, tuple[Unit, Process]]
    """Of the processes in it: their interpreters, and the threads that run them."""
    state: State


@dataclass(slots=True)
class Memory:
    """Of all executions of a program."""

    first: tuple[Part, ...] = ()
    steps: dict[tuple[State, Told], tuple[Part, ...]] = field(default_factory=dict)
    """The part of the interpreter that was told, and of those that it started."""
    equal: dict[tuple[Unit, bytes], State] = field(default_factory=dict)
    """The first state of each content."""
    joined: dict[State, State] = field(default_factory=dict)
    """States whose contents were looked at, each with the first one that is equal."""
    alike: int = 0
    """How many states were equal to others."""
    answers: dict[tuple[frozenset[tuple[Unit, State]], Process, str], Answers] = field(default_factory=dict)
    writes: bool = False
    """The program has opened files to write: what it leaves there is in no interpreter."""
    is_closed: bool = False
    """Something is there that is not controlled: nothing is told from memory."""
    _numbers: dict[Hashable, State] = field(default_factory=dict)

    def number(self, way: Hashable) -> State:
        """Of the state that is come to in this way."""
        return self._numbers.setdefault(way, len(self._numbers))

    @property
    def is_worth_looking(self) -> bool:
        """Whether states may be found equal: to look at one takes time."""
        return not self.writes and (self.alike > 0 or len(self.joined) < MOST_IN_VAIN)

    def join(self, unit: Unit, state: State, content: bytes | None) -> None:
        same = state if content is None else self.equal.setdefault((unit, content), state)
        self.alike += same != state
        self.joined[state] = same

    def known(self, state: State) -> State:
        return self.joined.get(state, state)


class Remembered:
    """A `System` that executes its program only where that is needed."""

    def __init__(self, start: Callable[[], System], memory: Memory, starts: Callable[[], None]) -> None:
        self.memory = memory
        self.is_choice = False
        """The next step is one of several that are possible: a state is looked at only there."""
        self._start, self._starts = start, starts
        self._system: System | None = None
        self._way: list[tuple[list[Completion], list[Process], Moment]] = []
        self._executed = 0
        """How much of the way the program itself has gone."""
        self._homes: dict[Process, tuple[Unit, Process]] = {}
        self._states: dict[Unit, State] = {}
        self._news: set[Unit] = set()
        """Interpreters that have got something since they were looked at."""
        self._pending: dict[Process, Operation] = {}
        self._counts: dict[Process, int] = {}
        self._origins: dict[MessageName, State] = {}
        self._arrivals: dict[tuple[Channel, Process], State] = {}

    # ---- the port -------------------------------------------------------------------------------

    def begin(self) -> Moment:
        if not self.memory.first or self.memory.is_closed:
            moment = self._started().begin()
            self.memory.is_closed |= bool(moment.uncontrolled)
            self.memory.writes |= any(_writes(moment))
            parts = tuple(self._parts(moment, lambda unit: ("begins", unit)))
            self.memory.first = self.memory.first or parts
            return self._taken(parts, moment)
        return self._taken(self.memory.first)

    def proceed(self, completions: list[Completion], going: list[Process]) -> Moment:
        if not self.memory.is_closed:
            told = self._told(completions, going)
            found = self._found(told)
            if found is not None:
                return self._gone(completions, going, found)
            system = self._caught_up()
            if self.is_choice:
                self._look(told)
                found = self._found(told)
                if found is not None:
                    return self._gone(completions, going, found)
        else:
            told, system = {}, self._caught_up()
        moment = system.proceed(completions, going)
        self._executed += 1
        return self._gone(completions, going, self._learnt(moment, told), moment)

    def evaluate(self, process: Process, predicate: str, state: Collective) -> bool | str:
        key = frozenset(self._states.items()), process, predicate
        answers = self.memory.answers.setdefault(key, Answers())
        transit = [(m.name, m.sender, m.to, m.tag) for m in state.transit]
        looked = SystemState(dict(state.seen), transit)
        known = None if self.memory.is_closed else answers.find(looked)
        if known is not None:
            return known
        system = self._caught_up()
        found = system.evaluate(process, predicate, state)
        reads = getattr(system, "reads", None)
        if reads is not None:
            answers.add(looked, reads, found)
        return found

    def thread_of(self, process: Process) -> tuple[int, str]:
        unit, owner = self._homes.get(process, (process, process))
        return list(self._states).index(unit) if unit in self._states else -1, owner

    def close(self) -> None:
        if self._system is not None:
            self._system.close()

    def state(self, under_way: Iterable[MessageName]) -> Hashable | None:
        """What all interpreters hold, and what is under way between them; None if it cannot be told."""
        if self.memory.is_closed:
            return None
        if self._system is not None and self._executed == len(self._way):
            self._look(list(self._news))
        contents = [(message, self._origins.get(message)) for message in under_way]
        return (
            frozenset(self._states.items()),
            frozenset(self._homes.items()),
            frozenset(contents if len(self._states) > 1 else ()),  # else it is in the interpreter
            frozenset(self._arrivals.items()),
        )

    # ---- what is known --------------------------------------------------------------------------

    def _told(self, completions: Iterable[Completion], going: Iterable[Process]) -> dict[Unit, Told]:
        found: dict[Unit, list[Hashable]] = {}
        for each in completions:
            found.setdefault(self._unit(each.process), []).append((each, self._contents(each)))
        for process in going:
            found.setdefault(self._unit(process), []).append(process)
        return {unit: tuple(told) for unit, told in found.items()}

    def _contents(self, completion: Completion) -> tuple[Hashable, ...]:
        """What comes from other interpreters with a completion."""
        unit = self._unit(completion.process)
        found: list[Hashable] = [
            self._origins.get(message)
            for _, message, _, _ in completion.deliveries
            if self._unit(process_of(message)) != unit
        ]
        operation = self._pending[completion.process]
        if operation.kind == "collective":
            found += [self._arrivals.get((operation.channel, member)) for member in operation.members]
        return tuple(found)

    def _unit(self, process: Process) -> Unit:
        return self._homes[process][0]

    def _found(self, told: dict[Unit, Told]) -> list[Part] | None:
        found: list[Part] = []
        for unit in sorted(told):
            parts = self.memory.steps.get((self._states[unit], told[unit]))
            if parts is None:
                return None
            found += parts
        return found

    def _look(self, told: Iterable[Unit]) -> None:
        """Whether an interpreter is in a state that is known; it is asked once for each state."""
        for unit in sorted(self._news.intersection(told)):
            self._news.discard(unit)
            state = self._states[unit]
            if self.memory.is_worth_looking and state not in self.memory.joined:
                content = getattr(self._system, "content", lambda process: None)(unit)
                self.memory.join(unit, state, content)
            self._states[unit] = self.memory.known(state)

    # ---- the program ----------------------------------------------------------------------------

    def _started(self) -> System:
        if self._system is None:
            self._starts()
            self._system = self._start()
        return self._system

    def _caught_up(self) -> System:
        """The program, brought to where its path is."""
        if self._system is None:
            moment = self._started().begin()
            self._check(moment, merged(part.moment for part in self.memory.first))
        system = self._started()
        while self._executed < len(self._way):
            completions, going, expected = self._way[self._executed]
            self._check(system.proceed(completions, going), expected)
            self._executed += 1
        return system

    def _check(self, moment: Moment, expected: Moment) -> None:
        self.memory.is_closed |= bool(moment.uncontrolled)
        if _shape(moment) != _shape(expected):
            raise DivergedError("the program did not go the same way on the same choices")
        if self._values(moment) != self._values(expected):
            raise UnstableError

    def _values(self, moment: Moment) -> object:
        """What it shows on that way. Threads that run at once see what they share at any time."""
        units = Counter(self._homes.get(process, (process,))[0] for process in moment.pending)
        told = [
            (process, [each.value for each in (*operation.sends, operation)])
            for process, operation in sorted(moment.pending.items())
        ]
        seen = [
            state if units[self._homes.get(process, (process,))[0]] == 1 else state._replace(globals={})
            for states in (moment.waiting, moment.breaks)
            for process, state in sorted(states.items())
        ]
        return told, seen

    # ---- going on -------------------------------------------------------------------------------

    def _gone(
        self,
        completions: list[Completion],
        going: list[Process],
        parts: Sequence[Part],
        moment: Moment | None = None,
    ) -> Moment:
        for each in completions:
            if each.deliveries or each.nothing or each.first:
                self._news.add(self._unit(each.process))
        found = self._taken(parts, moment)
        self._way.append((completions, going, found))
        return found

    def _taken(self, parts: Sequence[Part], moment: Moment | None = None) -> Moment:
        """The parts are what happens next; `moment` has what belongs to none of them."""
        for part in parts:
            self._homes.update(part.homes)
            self._states[part.unit] = self.memory.known(part.state)
            for process, operation in part.moment.pending.items():
                self._note(process, operation, part.state)
        found = merged(part.moment for part in parts)
        return found if moment is None else found._replace(uncontrolled=moment.uncontrolled)

    def _note(self, process: Process, operation: Operation, state: State) -> None:
        self._pending[process] = operation
        for _ in range(len(operation.sends) + (operation.kind == "send")):
            self._counts[process] = self._counts.get(process, 0) + 1
            self._origins[f"{process}#{self._counts[process]}"] = state
        if operation.kind == "collective":
            self._arrivals[operation.channel, process] = state

    def _learnt(self, moment: Moment, told: dict[Unit, Told]) -> list[Part]:
        self.memory.writes |= any(_writes(moment))
        before = dict(self._states)
        parts = list(self._parts(moment, lambda unit: (before[unit], told.get(unit))))
        born = _born(parts, before, moment, self._homes)
        if moment.uncontrolled or any(born.get(part.unit, part.unit) not in told for part in parts):
            self.memory.is_closed = True
        if self.memory.is_closed:
            return parts
        found: list[Part] = []
        for unit in sorted(told):
            own = [part for part in parts if part.unit == unit] or [self._nothing(unit, before, told)]
            own += [part for part in parts if born.get(part.unit) == unit]
            found += self.memory.steps.setdefault((before[unit], told[unit]), tuple(own))
        return found

    def _nothing(self, unit: Unit, before: dict[Unit, State], told: dict[Unit, Told]) -> Part:
        return Part(unit, Moment({}, {}, {}), {}, self.memory.number((before[unit], told[unit])))

    def _parts(self, moment: Moment, way: Callable[[Unit], Hashable]) -> Iterable[Part]:
        """What each interpreter did, the older ones first."""
        homes = self._homes_in(moment)
        known = {**self._homes, **homes}
        speaking = [*sorted(moment.pending), *(child for child, _, _ in moment.started), *sorted(known)]
        units = dict.fromkeys(known[each][0] for each in speaking if _speaks(moment, each))
        older = dict.fromkeys(self._states)
        for unit in sorted(units, key=lambda each: each not in older):
            own = {process for process, (home, _) in known.items() if home == unit}
            first = _ancestor(unit, older, moment, known) if older else unit
            state = way(unit) if first == unit else ("born", unit, way(first))
            inside = {process: home for process, home in homes.items() if process in own}
            yield Part(unit, _of(moment, own), inside, self.memory.number(state))

    def _homes_in(self, moment: Moment) -> dict[Process, tuple[Unit, Process]]:
        """Of the processes that began: whoever was first in an interpreter names it."""
        system = self._started()
        names = {system.thread_of(process)[0]: home for process, (home, _) in self._homes.items()}
        found: dict[Process, tuple[Unit, Process]] = {}
        for process in [*(child for child, _, _ in moment.started), *sorted(moment.pending)]:
            if process not in self._homes and process not in found:
                number, owner = system.thread_of(process)
                found[process] = names.setdefault(number, process), owner
        return found


# ---- moments --------------------------------------------------------------------------------------


def _born(
    parts: Sequence[Part],
    before: Collection[Unit],
    moment: Moment,
    known: Mapping[Process, tuple[Unit, Process]],
) -> dict[Unit, Unit]:
    """Of each interpreter that began: to which of the older ones it is due."""
    homes = {**known, **{process: home for part in parts for process, home in part.homes.items()}}
    return {
        part.unit: _ancestor(part.unit, before, moment, homes) for part in parts if part.unit not in before
    }


def _ancestor(
    unit: Unit, older: Collection[Unit], moment: Moment, homes: Mapping[Process, tuple[Unit, Process]]
) -> Unit:
    """The interpreter that was there before, from which this one comes."""
    parents = {child: parent for child, parent, _ in moment.started}
    while unit not in older:
        parent = parents.get(unit)
        if parent is None:
            return unit
        unit = homes[parent][0] if parent in homes else parent
    return unit


def _speaks(moment: Moment, process: Process) -> bool:
    return (
        process in moment.pending
        or process in moment.breaks
        or any(child == process for child, _, _ in moment.started)
        or any(claim.process == process for claim in moment.claims)
        or any(who == process for who, _ in moment.failures)
    )


def _writes(moment: Moment) -> Iterable[bool]:
    for operation in moment.pending.values():
        yield from (writes for _, writes in operation.touched)
    for _, _, touched in moment.started:
        yield from (writes for _, writes in touched)


def _of(moment: Moment, own: set[Process]) -> Moment:
    """What is about these processes."""
    return Moment(
        {p: o for p, o in moment.pending.items() if p in own},
        {p: s for p, s in moment.waiting.items() if p in own},
        {p: s for p, s in moment.breaks.items() if p in own},
        tuple([each for each in moment.started if each[0] in own]),
        tuple([each for each in moment.claims if each.process in own]),
        tuple([each for each in moment.failures if each[0] in own]),
        (),
        moment.assumed,
        moment.files,
        tuple([each for each in moment.daemons if each in own]),
    )


def merged(moments: Iterable[Moment]) -> Moment:
    """One after the other."""
    found = list(moments)
    return Moment(
        {p: o for each in found for p, o in each.pending.items()},
        {p: s for each in found for p, s in each.waiting.items()},
        {p: s for each in found for p, s in each.breaks.items()},
        tuple([one for each in found for one in each.started]),
        tuple([one for each in found for one in each.claims]),
        tuple([one for each in found for one in each.failures]),
        (),
        tuple(dict.fromkeys(one for each in found for one in each.assumed)),
        tuple(dict.fromkeys(one for each in found for one in each.files)),
        tuple([one for each in found for one in each.daemons]),
    )


def _shape(moment: Moment) -> Hashable:
    """Which way the program goes."""
    operations = [(p, o.kind, o.text, o.at, o.channel, o.to, o.tag) for p, o in moment.pending.items()]
    return (
        tuple(sorted(operations, key=repr)),
        tuple(sorted([(child, str(parent)) for child, parent, _ in moment.started])),
        tuple(sorted(moment.claims, key=repr)),
        tuple(sorted(moment.failures, key=repr)),
    )
