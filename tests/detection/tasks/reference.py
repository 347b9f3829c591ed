"""The task logic executed literally: slices as sets of events, clause after clause, and random cases for it.

Nothing here uses the net, the logic or the engines of the project; it reads events and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from random import Random
from typing import Any

from possibly.trace.build import TraceBuilder
from possibly.trace.model import Event, Trace
from tests.reference import Cut, Reference

S, U, D = "satisfied", "unsatisfied", "undefined"
NONE = object()
"""No value yet."""

Assignment = Mapping[str, str]


@dataclass(frozen=True)
class F:
    """A generated formula: an operator with operands. Leaves of LSL have `detail`."""

    op: str
    parts: tuple[F, ...] = ()
    detail: tuple[Any, ...] = ()

    @property
    def text(self) -> str:
        inner = [part.text for part in self.parts]
        match self.op:
            case "point":
                return f"{self.detail[0]}.{self.detail[1]}"
            case "compare":
                return f"{self.detail[0]} {self.detail[1]} {self.detail[2]}"
            case "says":
                return f"{self.detail[0]}:({inner[0]})"
            case "forall" | "exists":
                return f"{self.op} {self.detail[0]} ({inner[0]})"
            case "if":
                return f"({inner[0]}) if {self.detail[0]} {self.detail[1]} {self.detail[2]}"
            case "caller":
                return f"({inner[0]}) if {self.detail[0]} == caller({self.detail[1]})"
        if len(inner) == 1:
            return f"{self.op} ({inner[0]})"
        return f"({inner[0]}) {self.op} ({inner[1]})"


COMPARE = {
    "==": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "!=": lambda a, b: a != b,
}


class Tasks:
    """One trace, read as a state action net."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.reference = Reference(trace, "sync")
        self.names = [process.name for process in trace.processes]
        self.of = {name: [e for e in self.reference.events if e.process == name] for name in self.names}
        self.functions = {e.fn for e in self.reference.events if e.kind == "enter"}
        self.shared = {*trace.shared, *(name for e in self.reference.events for name in e.write)}
        self.known: dict[Any, str] = {}

    # ---- slices ---------------------------------------------------------------------------------

    @cached_property
    def cuts(self) -> list[Cut]:
        return sorted(self.reference.cuts, key=lambda cut: (len(cut), sorted(cut)))

    def next(self, cut: Cut) -> set[Cut]:
        return self.reference.successors(cut)

    def later(self, cut: Cut) -> Iterator[Cut]:
        """nextslice+: on sets closed under happened-before it is proper inclusion."""
        return (other for other in self.cuts if cut < other)

    def between(self, cut: Cut, other: Cut) -> Iterator[Cut]:
        return (middle for middle in self.cuts if cut < middle < other)

    # ---- local states ---------------------------------------------------------------------------

    def count(self, cut: Cut, task: str) -> int | None:
        """The local state of the task in the slice: how many events it executed, None if it has none."""
        count = sum(event.number in cut for event in self.of[task])
        declared = next(p.declared for p in self.trace.processes if p.name == task)
        return count if count or declared else None

    def stack(self, task: str, count: int) -> list[tuple[str, str]]:
        stack: list[tuple[str, str]] = []
        for event in self.of[task][:count]:
            if stack and stack[-1][0] == "TERM":
                stack.pop()
            if stack and stack[-1][0] == "START":
                stack[-1] = "IN", stack[-1][1]
            if event.kind == "enter":
                stack.append(("START", str(event.fn)))
            if event.kind == "exit":
                stack[-1] = "TERM", str(event.fn)
        return stack

    def values(self, task: str, count: int, name: str) -> list[Any] | None:
        """None where the variable is not visible."""
        local: dict[str, Any] = {}
        for process in self.trace.processes:
            if process.name == task:
                local.update(process.init)
        for event in self.of[task][:count]:
            local.update(event.set)
        owner = name.rpartition(".")[0]
        if owner in self.functions:
            if any(function == owner for _, function in self.stack(task, count)):
                return [local.get(name, NONE)]
        elif name in local:
            return [local[name]]
        return self.shared_values(task, count, name) if name in self.shared else None

    def shared_values(self, task: str, count: int, name: str) -> list[Any]:
        key = task, count, name
        if key not in self._values:
            found: list[Any] = []
            for cut in self.cuts:
                if self.count(cut, task) == count:
                    found += [value for value in self.possible(cut, name) if value not in found]
            self._values[key] = found
        return self._values[key]

    @cached_property
    def _values(self) -> dict[Any, list[Any]]:
        return {}

    def possible(self, cut: Cut, name: str) -> list[Any]:
        """The value after the events of the slice, for each order in which they can be executed."""
        key = cut, name
        if key not in self._possible:
            found: list[Any] = [] if cut else [self.trace.shared.get(name, NONE)]
            for group in set(self.reference.groups()):
                if group <= cut and cut - group in self.reference.cuts:
                    written = [self.reference.events[e].write for e in sorted(group)]
                    last = [values[name] for values in written if name in values]
                    values = last[-1:] if last else self.possible(cut - group, name)
                    found += [value for value in values if value not in found]
            self._possible[key] = found
        return self._possible[key]

    @cached_property
    def _possible(self) -> dict[Any, list[Any]]:
        return {}

    # ---- LSL ------------------------------------------------------------------------------------

    def local(self, task: str, count: int, formula: F) -> str:
        match formula.op:
            case "point":
                observer, function = formula.detail
                stack = self.stack(task, count)
                phases = {"start": ["START"], "term": ["TERM"], "in": ["START", "IN", "TERM"]}[observer]
                return S if any((phase, function) in stack for phase in phases) else U
            case "compare":
                name, operator, constant = formula.detail
                values = self.values(task, count, name)
                if values is None:
                    return D
                true = all(value is not NONE and COMPARE[operator](value, constant) for value in values)
                return S if true else U
            case "not":
                return {S: U, U: S, D: D}[self.local(task, count, formula.parts[0])]
        p, q = (self.local(task, count, part) for part in formula.parts)
        if D in (p, q):
            return D
        if formula.op == "and":
            return S if p == q == S else U
        return S if S in (p, q) else U

    # ---- TL -------------------------------------------------------------------------------------

    def value(self, cut: Cut, assignment: Assignment, formula: F) -> str:
        key = cut, tuple(sorted(assignment.items())), id(formula)
        if key not in self.known:
            self.known[key] = self._value(cut, assignment, formula)
        return self.known[key]

    def _value(self, cut: Cut, T: Assignment, formula: F) -> str:
        parts = formula.parts

        def at(other: Cut, number: int = 0) -> str:
            return self.value(other, T, parts[number])

        def is_true(truth: bool) -> str:
            return S if truth else U

        match formula.op:
            case "says":
                task = T[formula.detail[0]]
                count = self.count(cut, task)
                return D if count is None else self.local(task, count, parts[0])
            case "not":
                return {S: U, U: S, D: D}[at(cut)]
            case "and":
                p = at(cut)
                return at(cut, 1) if p == S else p
            case "or":
                p = at(cut)
                return at(cut, 1) if p == U else p
            case "implies":
                p = at(cut)
                return {S: at(cut, 1), U: S, D: D}[p]
            case "next":
                return is_true(any(at(other) == S for other in self.next(cut)))
            case "all_next":
                return is_true(all(at(other) != U for other in self.next(cut)))
            case "sometime":
                return is_true(any(at(other) == S for other in self.later(cut)))
            case "always":
                return is_true(all(at(other) != U for other in self.later(cut)))
            case "before":
                return is_true(
                    all(
                        any(at(middle) == S for middle in self.between(cut, other))
                        for other in self.later(cut)
                        if at(other, 1) == S
                    )
                )
            case "until":
                return is_true(
                    any(
                        at(other, 1) == S and all(at(middle) != U for middle in self.between(cut, other))
                        for other in self.later(cut)
                    )
                )
        return self._formula(cut, T, formula)

    def _formula(self, cut: Cut, T: Assignment, formula: F) -> str:
        body = formula.parts[0]
        match formula.op:
            case "forall" | "exists":
                found = [self.value(cut, {**T, formula.detail[0]: task}, body) for task in self.names]
                return (U if U in found else S) if formula.op == "forall" else (S if S in found else U)
            case "if":
                left, operator, right = formula.detail
                applies = (T[left] == T[right]) == (operator == "==")
            case _:
                applies = self.caller(T[formula.detail[1]]) == T[formula.detail[0]]
        return self.value(cut, T, body) if applies else D

    def caller(self, task: str) -> str | None:
        process = next(p for p in self.trace.processes if p.name == task)
        if process.parent is not None or process.declared:
            return process.parent
        by_name = {event.name: event for event in self.reference.events}
        creators = {by_name[name].process for name in self.of[task][0].after if by_name[name].kind == "spawn"}
        return creators.pop() if len(creators) == 1 else None

    def failing(self, formula: F) -> set[tuple[Cut, tuple[tuple[str, str], ...]]]:
        """The cuts (slice, assignment of the free variables) that make the formula unsatisfied."""
        free = sorted(variables(formula))
        found = set()
        for tasks in product(self.names, repeat=len(free)):
            T = dict(zip(free, tasks, strict=True))
            found |= {(cut, tuple(T.items())) for cut in self.cuts if self.value(cut, T, formula) == U}
        return found


def variables(formula: F) -> set[str]:
    """The free task variables."""
    match formula.op:
        case "says":
            return {formula.detail[0]}
        case "forall" | "exists":
            return variables(formula.parts[0]) - {formula.detail[0]}
        case "if":
            return variables(formula.parts[0]) | {formula.detail[0], formula.detail[2]}
        case "caller":
            return variables(formula.parts[0]) | set(formula.detail)
    return set[str]().union(*(variables(part) for part in formula.parts))


def all_parts(formula: F) -> Iterator[F]:
    """The temporal sub-formulas, the whole first."""
    yield formula
    if formula.op != "says":
        for part in formula.parts:
            yield from all_parts(part)


# ---- random cases -------------------------------------------------------------------------------


def random_net(random: Random, events: int) -> Trace:
    """Calls, shared and local variables, messages, joint events, tasks created on the way."""
    names = [f"P{i}" for i in range(1, random.randint(1, 3) + 1)]
    builder = TraceBuilder()
    inits = [(name, {"x": 0} if random.random() < 0.5 else {}) for name in names]
    builder.header(processes=inits, shared={"s": 0} if random.random() < 0.7 else {})
    stacks: dict[str, list[str]] = {name: [] for name in names}
    sent: list[str] = []
    for count in range(events):
        fields: dict[str, Any] = {"id": f"E{count}"}
        name = random.choice(names)
        if random.random() < 0.12 and len(names) < 4:
            _spawn(random, builder, names, stacks, name, count)
            continue
        if random.random() < 0.35:
            fields["write"] = {random.choice("st"): random.randint(0, 2)}
        if random.random() < 0.35:
            fields["set"] = {random.choice(["x", "f.x", "t"]): random.randint(0, 2)}
        if count and random.random() < 0.15:
            fields["after"] = [f"E{random.randrange(count)}"]
        if len(names) > 1 and random.random() < 0.12:
            for number, each in enumerate(random.sample(names, 2)):
                builder.add(
                    each, **{**fields, "id": f"E{count}{'ab'[number]}", "meet": f"M{count}", "after": None}
                )
            builder.add(name, id=f"E{count}")
            continue
        kind = random.choice(["enter", "enter", "exit", "exit", "send", "receive", "internal"])
        if kind == "enter":
            stacks[name].append(random.choice("fg"))
            builder.add(name, kind="enter", fn=stacks[name][-1], **fields)
        elif kind == "exit" and stacks[name]:
            builder.add(name, kind="exit", fn=stacks[name].pop(), **fields)
        elif kind == "send":
            builder.add(name, kind="send", msg=f"m{count}", **fields)
            sent.append(f"m{count}")
        elif kind == "receive" and sent:
            builder.add(name, kind="receive", msg=sent.pop(), **fields)
        else:
            builder.add(name, **fields)
    return builder.finish()


def _spawn(
    random: Random, builder: TraceBuilder, names: list[str], stacks: dict[str, list[str]], by: str, count: int
) -> None:
    child = f"C{count}"
    builder.add(by, id=f"E{count}", kind="spawn")
    parent = by if random.random() < 0.5 else None
    builder.add(child, id=f"E{count}c", kind="start", after=[f"E{count}"], parent=parent)
    names.append(child)
    stacks[child] = []


def known_names(trace: Trace) -> list[str]:
    events: list[Event] = [trace.event(e) for e in range(len(trace))]
    found = {name for e in events for name in (*e.set, *e.write)} | set(trace.shared)
    return sorted(found.union(*(set(p.init) for p in trace.processes)))


def random_lsl(random: Random, names: list[str], depth: int) -> F:
    if depth and random.random() < 0.4:
        operator = random.choice(["and", "or", "not"])
        count = 1 if operator == "not" else 2
        return F(operator, tuple(random_lsl(random, names, depth - 1) for _ in range(count)))
    if not names or random.random() < 0.4:
        return F("point", detail=(random.choice(["start", "in", "term"]), random.choice("fg")))
    return F("compare", detail=(random.choice(names), random.choice(list(COMPARE)), random.randint(0, 2)))


OPERATORS = ("not", "and", "or", "implies", "next", "sometime", "always", "until", "before")


def random_tl(random: Random, names: list[str], depth: int, operators: tuple[str, ...] = OPERATORS) -> F:
    if not depth or random.random() < 0.15:
        return F("says", (random_lsl(random, names, 2),), (random.choice(["t1", "t2"]),))
    operator = random.choice(operators)
    count = 1 if operator in ("not", "next", "sometime", "always") else 2
    return F(operator, tuple(random_tl(random, names, depth - 1, operators) for _ in range(count)))


def random_task_formula(
    random: Random, trace: Trace, depth: int = 3, operators: tuple[str, ...] = OPERATORS
) -> F:
    formula = random_tl(random, known_names(trace), depth, operators)
    for _ in range(random.choice([0, 0, 1, 2, 3])):
        match random.choice(["forall", "exists", "if", "caller"]):
            case "if":
                formula = F("if", (formula,), ("t1", random.choice(["==", "!="]), "t2"))
            case "caller":
                formula = F("caller", (formula,), ("t1", "t2"))
            case quantifier:
                formula = F(quantifier, (formula,), (random.choice(["t1", "t2"]),))
    return formula
