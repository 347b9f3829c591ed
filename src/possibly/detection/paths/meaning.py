"""Which events of a trace play which symbols of an expression.

Here belongs the meaning of an atom in a trace (Modeling Concurrency in Parallel Debugging, section 2.1). A
bare name is a label if some event carries it, else a function if some event enters it, else a kind. The
arguments of an event are its message, else the field `args`, else its tag (the lock or resource), else the
shared variables it reads or writes. Conditions are evaluated in the recorded order: `f [p]` where p is true
just before the event; `[p]` where p becomes true with it; with primes, where p is true of an event that
assigns one of the variables. A bare variable is a local one of the event's process, else a shared one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

from possibly.errors import FormulaError
from possibly.logic.bind import Vocabulary
from possibly.logic.paths.compiled import Compiled
from possibly.logic.paths.syntax import PRIME, Atom, Constant, Control, Data
from possibly.logic.predicates.functions import MISSING, Predicate, compile_predicate
from possibly.logic.source import Source
from possibly.logic.specification import near
from possibly.logic.syntax import Local, Name, Node, Shared
from possibly.logic.walk import fold, nodes, with_children
from possibly.order.computation import Computation
from possibly.order.state import RunningState
from possibly.trace.model import NONE, Ints, Trace, Value

State = Mapping[tuple[str | None, str], Value]
Look = Callable[[str], Value]


@dataclass(frozen=True, slots=True)
class Named:
    """How a bare name is to be read: the column, and the number that it must hold."""

    kind: str | None = None
    function: str | None = None
    label: str | None = None


class Meaning:
    """The symbols of one expression in one trace."""

    def __init__(self, expression: Compiled, computation: Computation) -> None:
        self.expression = expression
        self.computation = computation
        self.trace = computation.trace
        self.names = [resolved(atom, self.trace) for atom in expression.symbols]
        self.constants = [constants(atom) for atom in expression.symbols]
        self.counts = [argument_count(atom) for atom in expression.symbols]
        self.has_arguments = any(count is not None for count in self.counts)
        known = self.trace.process_number
        self._guards = [Guard(atom, known.__contains__) for atom in expression.symbols]
        self.is_plain = not any(guard.reads for guard in self._guards)
        """Names decide alone, without conditions."""
        self._known: dict[tuple[int, int, int], tuple[int, ...]] = {}

    @property
    def faults(self) -> tuple[str, ...]:
        """Conditions that could not be evaluated somewhere, and so counted as false there."""
        return tuple(dict.fromkeys(fault for guard in self._guards for fault in guard.faults))

    def unmatched(self) -> Iterator[str]:
        """The names that no event of the trace bears."""
        for atom, named in zip(self.expression.symbols, self.names, strict=True):
            if named is not None and not _occurs(self.trace, named):
                yield atom.event.name if isinstance(atom.event, Control) else ""

    def played(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Each step of the recorded order with the symbols it may play, perhaps none."""
        if self.is_plain:
            for step in self.computation.steps:
                yield step, self._by_name(step)
            return
        state = RunningState(self.computation)
        for step in self.computation.steps:
            candidates = self._by_name(step)
            touches = self._touches(step) if candidates else []
            open_ = [symbol for symbol in candidates if self._guards[symbol].allows(touches, state.values)]
            old = {variable: before for variable, before, _ in state.execute(step)}
            happening = [s for s in open_ if self._guards[s].happens(touches, old, state.values)]
            yield step, tuple(happening)

    def _touches(self, step: int) -> list[Touch]:
        """What each line of a step reads and assigns."""
        trace = self.trace
        return [
            Touch(
                trace.processes[trace.process[line]].name,
                tuple(trace.reads(line)),
                tuple([name for name, _ in trace.sets(line)]),
                tuple([name for name, _ in trace.writes(line)]),
            )
            for line in self.computation.events(step)
        ]

    @property
    def is_simple(self) -> bool:
        """Names decide alone, nobody asks for arguments, and every line is a step."""
        return self.is_plain and not self.has_arguments and not self.computation.joint

    @cached_property
    def all_symbols(self) -> list[tuple[int, ...]]:
        """The symbols of every event, by number; of a run without joint events."""
        if not self.is_simple:
            return [symbols for _, symbols in self.played()]
        trace, nothing = self.trace, repeat(NONE)
        rows = zip(trace.kind, trace.function or nothing, trace.label or nothing, strict=False)
        known = _Known(self)
        return [known[row] for row in rows]

    def values(self, step: int) -> tuple[Hashable, ...]:
        """The arguments of an event, hashable."""
        return tuple([hashable(value) for value in arguments(self.trace, step)])

    def _by_name(self, step: int) -> tuple[int, ...]:
        if step in self.computation.joint:
            found: dict[int, None] = {}
            for line in self.computation.events(step):
                found.update(dict.fromkeys(self._of_line(line)))
            return tuple(sorted(found))
        return self._of_line(step)

    def _of_line(self, event: int) -> tuple[int, ...]:
        trace = self.trace
        key = (
            trace.kind[event],
            NONE if trace.function is None else trace.function[event],
            NONE if trace.label is None else trace.label[event],
        )
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._symbols(event)
        if found and self.has_arguments:
            given = arguments(trace, event)
            taken = tuple([symbol for symbol in found if self._takes(symbol, given)])
            # One and the same for all events, as most take all.
            return found if taken == found else taken
        return found

    def _symbols(self, event: int) -> tuple[int, ...]:
        return tuple(
            [
                symbol
                for symbol, named in enumerate(self.names)
                if named is None or _is_named(self.trace, event, named)
            ]
        )

    def called(self, kind: int, function: int, label: int) -> tuple[int, ...]:
        """The symbols of a simple meaning that events with these texts, by number, play."""
        strings = self.trace.strings
        texts = [None if number == NONE else strings[number] for number in (kind, function, label)]
        return tuple([symbol for symbol, named in enumerate(self.names) if _fits(named, *texts)])

    def _takes(self, symbol: int, given: tuple[Value, ...]) -> bool:
        """Whether the event carries as many arguments as are written, and the constants among them."""
        count = self.counts[symbol]
        return count is None or (
            count == len(given) and all(given[at] == value for at, value in self.constants[symbol])
        )


class _Known(dict[tuple[int, int, int], tuple[int, ...]]):
    """Kind, function and label to symbols, each found once."""

    def __init__(self, meaning: Meaning) -> None:
        super().__init__()
        self.meaning = meaning

    def __missing__(self, key: tuple[int, int, int]) -> tuple[int, ...]:
        found = self[key] = self.meaning.called(*key)
        return found


def _fits(named: Named | None, kind: str | None, function: str | None, label: str | None) -> bool:
    if named is None:
        return True
    if named.label is not None:
        return label == named.label
    return kind == named.kind and named.function in (None, function)


def resolved(atom: Atom, trace: Trace) -> Named | None:
    """What a name means in this trace; None for a data event."""
    if isinstance(atom.event, Data):
        return None
    name = atom.event.name
    if atom.event.phase:
        return Named(kind=atom.event.phase, function=name)
    for candidate in (Named(label=name), Named(kind="enter", function=name)):
        if _occurs(trace, candidate):
            return candidate
    return Named(kind=name)


def _occurs(trace: Trace, named: Named) -> bool:
    if named.label is not None:
        return _has(trace, trace.label, named.label)
    if named.function is not None and not _has(trace, trace.function, named.function):
        return False
    return any(_is_named(trace, event, named) for event in range(len(trace)))


def _has(trace: Trace, column: Ints | None, text: str) -> bool:
    return column is not None and any(
        number != NONE and trace.strings[number] == text for number in set(column)
    )


def _is_named(trace: Trace, event: int, named: Named) -> bool:
    if named.label is not None:
        return trace.text(trace.label, event) == named.label
    if trace.strings[trace.kind[event]] != named.kind:
        return False
    return named.function is None or trace.text(trace.function, event) == named.function


def arguments(trace: Trace, event: int) -> tuple[Value, ...]:
    """What stands in the brackets of `send(M)`."""
    message = trace.text(trace.message, event)
    if message is not None:
        return (message,)
    given = trace.extra.get(event, {}).get("args") if trace.extra else None
    if isinstance(given, list):
        return tuple(given)
    tag = trace.text(trace.tag, event)
    if tag is not None:
        return (tag,)
    return tuple(dict.fromkeys([*trace.reads(event), *(name for name, _ in trace.writes(event))]))


def hashable(value: Value) -> Hashable:
    import json

    # 1, 1.0 and true are different values, as everywhere in a trace.
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True)
    return value if isinstance(value, str) else (type(value).__name__, value)


def constants(atom: Atom) -> tuple[tuple[int, object], ...]:
    given = atom.event.arguments if isinstance(atom.event, Control) else None
    return tuple(
        [(at, argument.value) for at, argument in enumerate(given or ()) if isinstance(argument, Constant)]
    )


def argument_count(atom: Atom) -> int | None:
    """How many arguments are written, None if any will do."""
    given = atom.event.arguments if isinstance(atom.event, Control) else None
    return None if given is None else len(given)


# ---- conditions ---------------------------------------------------------------------------------


class Touch(NamedTuple):
    """What one line of a step reads and assigns."""

    process: str
    reads: Collection[str]
    sets: Collection[str]
    writes: Collection[str]


class Guard:
    """The condition of an atom, and its data event. `is_process` says whether a name is one of a process."""

    def __init__(self, atom: Atom, is_process: Callable[[str], bool]) -> None:
        self.is_process = is_process
        self.condition = None if atom.condition is None else _compiled(atom.condition)
        self.data = atom.event if isinstance(atom.event, Data) else None
        self.event = None if self.data is None or self.data.access else _compiled(self.data.condition)
        self.is_update = self.event is not None and any(
            leaf.variable.endswith(PRIME) for leaf in self.event.leaves if isinstance(leaf, Shared)
        )
        self.reads = self.condition is not None or self.data is not None

    @property
    def faults(self) -> Iterator[str]:
        for predicate in (self.condition, self.event):
            if predicate is not None:
                yield from (fault.replace(PRIME, "'") for fault in predicate.faults)

    def allows(self, touches: Sequence[Touch], before: State) -> bool:
        """The condition is true just before the event."""
        if self.condition is None:
            return True
        return any(_holds(self.condition, self._looking(touch.process, before, {})) for touch in touches)

    def happens(self, touches: Sequence[Touch], old: State, now: State) -> bool:
        """The data event occurs with this step; `old` has the values that it replaced."""
        if self.data is None:
            return True
        if self.data.access is not None:
            return any(map(self._is_accessed, touches))
        return bool(old) and any(self._occurs(touch.process, old, now) for touch in touches)

    def _occurs(self, process: str, old: State, now: State) -> bool:
        assert self.event is not None
        look = self._looking(process, now, old)
        if self.is_update:
            names = {leaf.variable.rstrip(PRIME) for leaf in self.event.leaves if isinstance(leaf, Shared)}
            touched = {self._key(process, name, old) for name in names} & set(old)
            return bool(touched) and _holds(self.event, look)
        return _holds(self.event, look) and not _holds(self.event, lambda name: look(name + PRIME))

    def _is_accessed(self, touch: Touch) -> bool:
        assert self.data is not None and isinstance(self.data.condition, Name)
        name = ".".join(self.data.condition.parts).rstrip(PRIME)
        if self.data.access == "read":
            return name in touch.reads
        assigned: set[tuple[str | None, str]] = {(touch.process, variable) for variable in touch.sets}
        assigned |= {(None, variable) for variable in touch.writes}
        return self._key(touch.process, name, dict.fromkeys(assigned)) in assigned

    def _key(self, process: str, name: str, known: State) -> tuple[str | None, str]:
        """The variable that a name means for an event of that process."""
        if (process, name) in known:
            return process, name
        head, dot, rest = name.partition(".")
        if dot and self.is_process(head) and (None, name) not in known:
            return head, rest
        return None, name

    def _looking(self, process: str, now: State, old: State) -> Look:
        def look(name: str) -> Value:
            key = self._key(process, name.rstrip(PRIME), now)
            if name.endswith(PRIME) and key in old:
                return old[key]
            return now.get(key, MISSING)

        return look


def _compiled(condition: Node) -> Predicate:
    """Names stay texts until an event gives them a process."""

    def named(node: Node, below: list[Node]) -> Node:
        return Shared(".".join(node.parts)) if isinstance(node, Name) else with_children(node, below)

    return compile_predicate(fold(condition, named))


def _holds(predicate: Predicate, look: Look) -> bool:
    names = [leaf.variable for leaf in predicate.leaves if isinstance(leaf, (Local, Shared))]
    assert len(names) == len(predicate.leaves), "conditions of path expressions read variables alone"
    return predicate.evaluate([look(name) for name in names])


def variable_names(names: Vocabulary) -> frozenset[str]:
    """What a condition or an action may call the variables of the program."""
    bare = set(names.shared).union(*names.locals.values())
    return frozenset(
        bare | {f"{process}.{name}" for process, local in names.locals.items() for name in local}
    )


def check_variables(expression: Compiled, names: Vocabulary, source: Source) -> None:
    """A variable that no event and no header ever sets is an error."""
    known = variable_names(names)
    for atom in expression.expression.atoms:
        data = atom.event.condition if isinstance(atom.event, Data) else None
        for condition in (data, atom.condition):
            for node in nodes(condition) if condition is not None else ():
                if isinstance(node, Name) and (name := ".".join(node.parts).rstrip(PRIME)) not in known:
                    line, column = source.place(atom.offset)
                    raise FormulaError(
                        f"no event ever sets {name}",
                        text=source.text.split("\n")[0],
                        file=source.file,
                        line=line,
                        column=column,
                        hint=near(name, tuple(sorted(known))),
                    )
