"""Formulas of the task logic on-line: one or two tasks, without time, event after event.

Theory of operation. What a formula says of a task at a local state are a few truths, its *saying*; it fails
in a slice if the sayings of the two tasks there are a failing pair. A saying that begins with an event
e of task Q meets a saying of task P in a slice iff P said so in its last `e knows of P` events or after: what
has been taken in by then does not depend on what Q does later. So of each task and saying only the last
stretch is kept, and a pair is looked at when one of the two begins.

A task that is not in the header says nothing before its first event, and has done so from the beginning.

Law: what stands here is the answer on the run so far. It is final only where the formula reads no variables:
whether a name is a local of a call or one of the task shows in the whole run. Where a line shows that a name
means something else than what was taken (`lost`), the formula is followed no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from possibly.detection.online.parts import Clocks
from possibly.detection.online.standing import ByStep, Moment, Standing
from possibly.detection.tasks.cuts import NotCoveredError
from possibly.detection.tasks.local import OBSERVED, RULES, SATISFIED, UNDEFINED, UNSATISFIED, opposite
from possibly.detection.tasks.parts import says_of, stripped, timed_of, value
from possibly.errors import FormulaError
from possibly.logic.predicates.functions import MISSING, Predicate, compile_predicate
from possibly.logic.syntax import Node, Not, Shared
from possibly.logic.tasks.formulas import Condition, Point, Says
from possibly.logic.walk import children
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step
from possibly.trace.model import Value

Saying = tuple[int, ...]
"""The truths of what a formula says of one of its task variables."""
Role = int
"""The number of a task variable in the formula."""


class TaskMonitor(ByStep):
    """Follows a formula without temporal operators about at most two tasks."""

    is_restless = False

    def __init__(self, growing: Growing, formula: Node) -> None:
        self._growing = growing
        self._asked = _asked(formula)
        self._local = _Local(self._asked.says)
        self._clocks = Clocks()
        self._tasks: dict[int, _Task] = {}
        self._moment: Moment | None = None
        self.lost: str | None = None
        """Why it is not followed any more."""
        self._is_stopped = False
        for name in self._local.names & set(growing.shared):
            raise FormulaError(f"{name} is a shared variable, of which a local state may know several values")
        for name, values in growing.initial.items():
            self._tasks[growing.number(name)] = task = _Task(self._local.begun(values))
            self._say(growing.number(name), 0, self._sayings(task.state), None)
        growing.follow_batches(self)

    def _sayings(self, state: _State | None) -> list[Saying]:
        """What each role says in a local state; None: there is none."""
        return [
            tuple(UNDEFINED if state is None else self._local.truth(each.formula, state) for each in says)
            for says in self._asked.by_role
        ]

    # ---- events ---------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        if self._is_over:
            return
        self._clocks.take(step)
        for line in step:
            self.lost = self.lost or self._other_meaning(line.fields)
        if self.lost is not None:
            self.stop()
            return
        for line in step:  # all sayings of a joint event end before the next ones begin
            task = self._tasks.get(line.process)
            if task is None:
                self._tasks[line.process] = task = _Task(self._local.begun({}))
                self._say(line.process, 0, self._sayings(None), step)
            self._local.go_on(task.state, line.fields)
            self.lost = self.lost or task.state.unclear
            task.next = self._sayings(task.state)
            task.end(line.position)
        if self.lost is not None:
            self.stop()
            return
        for line in step:
            self._say(line.process, line.position, self._tasks[line.process].next, step)

    def _other_meaning(self, fields: Mapping[str, Any]) -> str | None:
        """Whether variables are shared: such a line orders the run otherwise, or a local state knows more."""
        touched = {*fields.get("write", ()), *fields.get("read", ())}
        for name in sorted(touched & self._local.names):
            return f"{name} is a shared variable, of which a local state may know several values"
        if touched and self._growing.order == "causal":
            return (
                "accesses to shared variables order the run, and not the task logic; --order sync follows it"
            )
        return None

    def _say(self, number: int, position: int, sayings: Sequence[Saying], step: Step | None) -> None:
        task = self._tasks[number]
        begun = [role for role, saying in enumerate(sayings) if task.say(role, saying, position)]
        for role in begun:
            if self._moment is None:
                self._meet(number, position, role, sayings, step)

    def _meet(
        self, number: int, position: int, role: Role, sayings: Sequence[Saying], step: Step | None
    ) -> None:
        """Looks for tasks that say something in the other role with which this one fails."""
        asked = self._asked
        if asked.allows(same=True) and tuple(sayings) in asked.failing:
            self._fail({number: position}, step)
        if len(asked.roles) == 1 or not asked.allows(same=False):
            return
        known = self._clocks.counts((number, position))
        for other, task in self._tasks.items():
            if other == number:
                continue
            least = known[other] if other < len(known) else 0
            for saying, (first, last) in task.stretches[1 - role].items():
                pair = (sayings[0], saying) if role == 0 else (saying, sayings[1])
                if (last is None or last >= least) and pair in asked.failing:
                    self._fail({number: position, other: max(first, least)}, step)
                    return

    def _fail(self, places: Mapping[int, int], step: Step | None) -> None:
        if self._moment is not None:
            return
        names = self._growing.processes
        counts = [0] * len(names)
        for place in places.items():
            for other, count in enumerate(self._clocks.counts(place)):
                counts[other] = max(counts[other], count)
        cut = dict(zip(names, counts, strict=True))
        self._moment = Moment(cut, step[-1].name if step else None, self._growing.taken)

    # ---- what is known --------------------------------------------------------------------------

    @property
    def _is_over(self) -> bool:
        return self._is_stopped or (self._moment is not None and not self._local.names)

    @property
    def standing(self) -> Standing:
        is_final = self._moment is not None and not self._local.names
        return Standing(self._moment is None, is_final, self._moment)

    @property
    def faults(self) -> tuple[str, ...]:
        return self._local.faults

    @property
    def size(self) -> int:
        return self._clocks.size

    def stop(self) -> None:
        """Follow no more, and keep nothing."""
        self._is_stopped = True
        self._clocks = Clocks()
        self._tasks.clear()


# ---- the formula --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    """A formula, taken apart."""

    roles: tuple[str, ...]
    says: tuple[Says, ...]
    by_role: tuple[tuple[Says, ...], ...]
    conditions: tuple[Condition, ...]
    failing: frozenset[tuple[Saying, ...]]
    """A saying for each role, with which it fails."""

    def allows(self, *, same: bool) -> bool:
        """Whether the conditions let both variables be the same task, or different ones."""
        return all((each.operator == "==") == (same or each.left == each.right) for each in self.conditions)


def _asked(formula: Node) -> _Asked:
    try:
        body, conditions, _ = stripped(formula)
        says = tuple(dict.fromkeys(says_of(body)))
    except NotCoveredError:
        raise FormulaError("quantifiers inside, and time inside time, are not followed") from None
    if next(timed_of(body), None) is not None:
        raise FormulaError("task formulas with temporal operators are not followed")
    if any(each.caller for each in conditions):
        raise FormulaError("`caller` is not followed")
    named = [each.tvar for each in says] + [name for each in conditions for name in (each.left, each.right)]
    roles = tuple(dict.fromkeys(named))
    if len(roles) > 2:
        raise FormulaError("formulas about more than two tasks are not followed")
    by_role = tuple(tuple(each for each in says if each.tvar == role) for role in roles)
    return _Asked(roles, says, by_role, conditions, frozenset(_failing(body, by_role)))


def _failing(body: Node, by_role: Sequence[Sequence[Says]]) -> Iterator[tuple[Saying, ...]]:
    values = (UNDEFINED, SATISFIED, UNSATISFIED)
    for sayings in product(*(product(values, repeat=len(says)) for says in by_role)):
        said = {
            each: truth
            for says, saying in zip(by_role, sayings, strict=True)
            for each, truth in zip(says, saying, strict=True)
        }
        if value(body, said.__getitem__, {}) == UNSATISFIED:
            yield sayings


# ---- local states -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _State:
    """A local state: its stack, and the values of what is read."""

    stack: list[tuple[str, str]] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    """Variables that are the task's own, since some line tells them so."""
    functions: dict[str, str] = field(default_factory=dict)
    """Variables that are locals of the calls of a function."""
    calls: dict[str, list[Value]] = field(default_factory=dict)
    """Of those: the value in each call of that function that is under way."""
    unclear: str | None = None
    """A name that is told in two ways."""

    def read(self, name: str) -> Value:
        if name in self.functions:
            return self.calls[name][-1] if self.calls[name] else MISSING
        return self.values.get(name, MISSING)


class _Local:
    """The meaning of local state formulas, state after state (see `detection.tasks.local`)."""

    def __init__(self, says: Sequence[Says]) -> None:
        self._predicates: dict[Node, Predicate] = {}
        self.names: set[str] = set()
        for each in says:
            self._compile(each.formula)

    def _compile(self, formula: Node) -> None:
        if type(formula) in RULES or isinstance(formula, Not):
            for part in children(formula):
                self._compile(part)
        elif not isinstance(formula, Point):
            self._predicates[formula] = predicate = compile_predicate(formula)
            for leaf in predicate.leaves:
                if not isinstance(leaf, Shared) or "." in leaf.variable or "[" in leaf.variable:
                    raise FormulaError("only names of locals, without dots and entries, are followed")
                self.names.add(leaf.variable)

    @property
    def faults(self) -> tuple[str, ...]:
        found = (fault for predicate in self._predicates.values() for fault in predicate.faults)
        return tuple(dict.fromkeys(found))

    def begun(self, initial: Mapping[str, Value]) -> _State:
        return _State(values={name: initial[name] for name in self.names if name in initial})

    def truth(self, formula: Node, state: _State) -> int:
        if isinstance(formula, Point):
            phases = OBSERVED[formula.observer]
            is_there = any((phase, formula.function) in state.stack for phase in phases)
            return SATISFIED if is_there else UNSATISFIED
        if isinstance(formula, Not):
            return opposite(self.truth(formula.operand, state))
        rule = RULES.get(type(formula))
        if rule is not None:
            first, *rest = (self.truth(part, state) for part in children(formula))
            for each in rest:
                first = rule[4 * first + each]
            return first
        predicate = self._predicates[formula]
        values = [state.read(leaf.variable) for leaf in predicate.leaves if isinstance(leaf, Shared)]
        if any(each is MISSING for each in values):
            return UNDEFINED
        return SATISFIED if predicate.evaluate(values) else UNSATISFIED

    def go_on(self, state: _State, fields: Mapping[str, Any]) -> None:
        """The next event of the task."""
        stack = state.stack
        if stack and stack[-1][0] == "TERM":
            _, function = stack.pop()
            for name, owner in state.functions.items():
                if owner == function:
                    state.calls[name].pop()
        if stack and stack[-1][0] == "START":
            stack[-1] = ("IN", stack[-1][1])
        match fields.get("kind"):
            case "enter":
                stack.append(("START", fields["fn"]))
                for name, owner in state.functions.items():
                    if owner == fields["fn"]:
                        state.calls[name].append(MISSING)
            case "exit":
                stack[-1] = ("TERM", fields["fn"])
        assigned = fields.get("set", {})
        for name in self.names if assigned else ():
            self._assign(state, name, assigned)

    def _assign(self, state: _State, name: str, assigned: Mapping[str, Value]) -> None:
        """As `order.nets.calls` reads it: of one function alone, and of the call on top."""
        owners = [each.rpartition(".")[0] for each in assigned if each.rpartition(".")[2] == name]
        if not owners:
            return
        function = next((each for each in owners if each), "")
        top = state.stack[-1][1] if state.stack else None
        is_of_call = (
            sorted(owners) == ["", function]
            and function == top
            and assigned[name] == assigned[f"{function}.{name}"]
        )
        if name in state.values or not is_of_call:
            if name in state.functions:
                state.unclear = f"{name} is told as a local of a call, and otherwise too"
            elif name in assigned:
                state.values[name] = assigned[name]
            else:
                state.values.setdefault(name, MISSING)
            return
        if state.functions.setdefault(name, function) != function:
            state.unclear = f"{name} is a local of several functions"
            return
        calls = state.calls.setdefault(name, [])
        depth = sum(each == function for _, each in state.stack)
        calls += [MISSING] * (depth - len(calls))
        calls[-1] = assigned[name]


# ---- tasks --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Task:
    """A task: its local state, and for each role what it said, each with the last stretch of counts."""

    state: _State
    next: list[Saying] = field(default_factory=list)
    now: dict[Role, Saying] = field(default_factory=dict)
    stretches: dict[Role, dict[Saying, tuple[int, int | None]]] = field(
        default_factory=lambda: {0: {}, 1: {}}
    )

    def say(self, role: Role, saying: Saying, position: int) -> bool:
        """Whether it says something new from that count on."""
        if self.now.get(role) == saying:
            return False
        self.now[role] = saying
        self.stretches[role][saying] = position, None
        return True

    def end(self, position: int) -> None:
        """What it says no more from that count on has ended before."""
        for role, saying in enumerate(self.next):
            before = self.now.get(role)
            if before is not None and before != saying:
                self.stretches[role][before] = self.stretches[role][before][0], position - 1
