"""Which events of a trace play which symbols of an expression.

Here belongs the meaning of an atom in a trace (Modeling Concurrency in Parallel Debugging, section 2.1). A
bare name is a label if some event carries it, else a function if some event enters it, else a kind. The
arguments of an event are its message (lock, resource), else the field `args`, else the shared variables it
reads or writes. Conditions are evaluated in the recorded order: `f [p]` where p is true just before the
event; `[p]` where p becomes true with it; with primes, where p is true of an event that assigns one of the
variables. A bare variable is a local one of the event's process, else a shared one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass

from possibly.errors import FormulaError
from possibly.logic.bind import Vocabulary
from possibly.logic.paths.compiled import Compiled
from possibly.logic.paths.syntax import PRIME, Atom, Constant, Control, Data
from possibly.logic.predicate import MISSING, Predicate, compile_predicate
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
        self.constants = [_constants(atom) for atom in expression.symbols]
        self.counts = [_count(atom) for atom in expression.symbols]
        self.has_arguments = any(count is not None for count in self.counts)
        self._guards = [_Guard(atom, self.trace) for atom in expression.symbols]
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
            open_ = [symbol for symbol in candidates if self._guards[symbol].allows(self, step, state.values)]
            before = {variable: old for variable, old, _ in state.execute(step)}
            yield (
                step,
                tuple(
                    [
                        symbol
                        for symbol in open_
                        if self._guards[symbol].happens(self, step, before, state.values)
                    ]
                ),
            )

    @property
    def is_simple(self) -> bool:
        """Names decide alone, nobody asks for arguments, and every line is a step."""
        return self.is_plain and not self.has_arguments and not self.computation.joint

    def simple_symbols(self) -> list[tuple[int, ...]]:
        """Of a simple meaning: the symbols of every event, by number."""
        trace = self.trace
        nothing = [NONE] * len(trace)
        rows = zip(trace.kind, trace.function or nothing, trace.label or nothing, strict=True)
        known = self._known
        found: list[tuple[int, ...]] = []
        for event, key in enumerate(rows):
            symbols = known.get(key)
            if symbols is None:
                symbols = known[key] = self._symbols(event)
            found.append(symbols)
        return found

    def values(self, step: int) -> tuple[Hashable, ...]:
        """The arguments of an event, hashable."""
        return tuple([_hashable(value) for value in arguments(self.trace, step)])

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
            return tuple([symbol for symbol in found if self._takes(symbol, given)])
        return found

    def _symbols(self, event: int) -> tuple[int, ...]:
        return tuple(
            [
                symbol
                for symbol, named in enumerate(self.names)
                if named is None or _is_named(self.trace, event, named)
            ]
        )

    def _takes(self, symbol: int, given: tuple[Value, ...]) -> bool:
        """Whether the event carries as many arguments as are written, and the constants among them."""
        count = self.counts[symbol]
        return count is None or (
            count == len(given) and all(given[at] == value for at, value in self.constants[symbol])
        )


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
    return tuple(dict.fromkeys([*trace.reads(event), *(name for name, _ in trace.writes(event))]))


def _hashable(value: Value) -> Hashable:
    import json

    # 1, 1.0 and true are different values, as everywhere in a trace.
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True)
    return value if isinstance(value, str) else (type(value).__name__, value)


def _constants(atom: Atom) -> tuple[tuple[int, object], ...]:
    given = atom.event.arguments if isinstance(atom.event, Control) else None
    return tuple(
        [(at, argument.value) for at, argument in enumerate(given or ()) if isinstance(argument, Constant)]
    )


def _count(atom: Atom) -> int | None:
    """How many arguments are written, None if any will do."""
    given = atom.event.arguments if isinstance(atom.event, Control) else None
    return None if given is None else len(given)


# ---- conditions ---------------------------------------------------------------------------------


class _Guard:
    """The condition of an atom, and its data event."""

    def __init__(self, atom: Atom, trace: Trace) -> None:
        self.trace = trace
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

    def allows(self, meaning: Meaning, step: int, before: State) -> bool:
        """The condition is true just before the event."""
        if self.condition is None:
            return True
        return any(
            _holds(self.condition, _looking(self.trace, process, before, {}))
            for process in _processes(meaning.computation, step)
        )

    def happens(self, meaning: Meaning, step: int, old: State, now: State) -> bool:
        """The data event occurs with this step; `old` has the values that it replaced."""
        if self.data is None:
            return True
        if self.data.access is not None:
            return self._is_accessed(meaning, step)
        if not old:
            return False
        return any(
            self._occurs(_looking(self.trace, process, now, old), process, old)
            for process in _processes(meaning.computation, step)
        )

    def _occurs(self, look: Look, process: str, old: State) -> bool:
        assert self.event is not None
        if self.is_update:
            names = {leaf.variable.rstrip(PRIME) for leaf in self.event.leaves if isinstance(leaf, Shared)}
            touched = {_key(self.trace, process, name, old) for name in names} & set(old)
            return bool(touched) and _holds(self.event, look)
        return _holds(self.event, look) and not _holds(self.event, lambda name: look(name + PRIME))

    def _is_accessed(self, meaning: Meaning, step: int) -> bool:
        assert self.data is not None and isinstance(self.data.condition, Name)
        name = ".".join(self.data.condition.parts).rstrip(PRIME)
        for line in meaning.computation.events(step):
            process = self.trace.processes[self.trace.process[line]].name
            if self.data.access == "read":
                if name in self.trace.reads(line):
                    return True
                continue
            assigned: set[tuple[str | None, str]] = {
                (process, variable) for variable, _ in self.trace.sets(line)
            }
            assigned |= {(None, variable) for variable, _ in self.trace.writes(line)}
            if _key(self.trace, process, name, dict.fromkeys(assigned)) in assigned:
                return True
        return False


def _compiled(condition: Node) -> Predicate:
    """Names stay texts until an event gives them a process."""

    def named(node: Node, below: list[Node]) -> Node:
        return Shared(".".join(node.parts)) if isinstance(node, Name) else with_children(node, below)

    return compile_predicate(fold(condition, named))


def _processes(computation: Computation, step: int) -> Iterator[str]:
    trace = computation.trace
    return (trace.processes[trace.process[line]].name for line in computation.events(step))


def _key(trace: Trace, process: str, name: str, known: State) -> tuple[str | None, str]:
    """The variable that a name means for an event of that process."""
    if (process, name) in known:
        return process, name
    head, dot, rest = name.partition(".")
    if dot and head in trace.process_number and (None, name) not in known:
        return head, rest
    return None, name


def _looking(trace: Trace, process: str, now: State, old: State) -> Look:
    def look(name: str) -> Value:
        plain = name.rstrip(PRIME)
        key = _key(trace, process, plain, now)
        if name.endswith(PRIME) and key in old:
            return old[key]
        return now.get(key, MISSING)

    return look


def _holds(predicate: Predicate, look: Look) -> bool:
    names = [leaf.variable for leaf in predicate.leaves if isinstance(leaf, (Local, Shared))]
    assert len(names) == len(predicate.leaves), "conditions of path expressions read variables alone"
    return predicate.evaluate([look(name) for name in names])


def check_variables(expression: Compiled, names: Vocabulary, source: Source) -> None:
    """A variable that no event and no header ever sets is an error."""
    known = set(names.shared).union(*names.locals.values())
    known |= {f"{process}.{name}" for process, local in names.locals.items() for name in local}
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
