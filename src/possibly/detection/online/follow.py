"""Following one alternative of a predicate: events become constraints of a search.

Here belongs which constraint each kind of term adds when an event is taken in (the slices of
`detection.slicing`, told one event at a time):

    LocalTerm     the position, if the predicate is true there, is one at which a cut may stop
    SharedTerm    a write after which it is false needs the next write; falsity at first, the first write
    ChannelTerm   at most k: send number r + k needs receive number r
                  at least k: receive number r needs send number r + k, and every cut needs send number k
                  none at all, of the whole system: every send needs all its receives

The r-th send or receive of a channel is that of the sending or receiving process, so no later event changes
which one it is; what has not arrived yet is a promise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from possibly.detection.online.search import Ground, Need, Promise
from possibly.detection.online.terms import Alternative, ChannelTerm, LocalTerm, SharedTerm
from possibly.errors import FormulaError
from possibly.logic.predicates.functions import MISSING, Predicate, compile_predicate
from possibly.logic.syntax import And, At, Leaf, Local, Node, Stack, Transit
from possibly.order.computation import Place
from possibly.order.growing.batches import Assigned
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Line, Sent, Step
from possibly.trace.model import Value

_NOTHING: Mapping[str, Value] = {}


class Following:
    """One alternative on a growing computation: its constraints so far."""

    def __init__(self, growing: Growing, alternative: Alternative, *, drops: bool = True) -> None:
        self.ground = Ground(len(growing.processes), drops=drops)
        self._truths: dict[int, LocalTruth] = {}
        self._terms: list[_Term] = []
        by_process: dict[str, list[Node]] = {}
        for term in alternative:
            match term:
                case LocalTerm(process, node):
                    by_process.setdefault(process, []).append(node)
                case SharedTerm():
                    self._terms.append(_Writes(growing, self.ground, term))
                case ChannelTerm():
                    self._terms += _channel(growing, self.ground, term)
        for process, nodes in by_process.items():
            self._bind(growing, process, nodes)

    def _bind(self, growing: Growing, process: str, nodes: Sequence[Node]) -> None:
        truth = LocalTruth(growing, process, And(tuple(nodes)) if len(nodes) > 1 else nodes[0])
        number = growing.number(process)
        self._truths[number] = truth
        lane = self.ground.lanes[number]
        lane.is_bound = True
        if truth.now:
            lane.allowed.append(0)

    def take(self, step: Step) -> None:
        """Add the step's constraints and let the risings go on."""
        self.ground.widen(max(line.process for line in step) + 1)
        for line in step:
            needs: list[Need] = [*line.needs]
            for term in self._terms:
                term.take(line, needs)
            truth = self._truths.get(line.process)
            self.ground.add(line, needs, truth is None or truth.after(line))
        self.ground.go_on(step)

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be evaluated somewhere, and counted as false there."""
        predicates = [truth.predicate for truth in self._truths.values()]
        predicates += [term.predicate for term in self._terms if isinstance(term, _Writes)]
        return tuple(dict.fromkeys(fault for predicate in predicates for fault in predicate.faults))


# ---- one process --------------------------------------------------------------------------------------


MOST_KNOWN, LONGEST_KNOWN = 1_000, 64
"""Values whose truth is kept, and the characters of the longest text among them."""


class LocalTruth:
    """The truth of a predicate on one process, event after event."""

    def __init__(self, growing: Growing, process: str, node: Node) -> None:
        self.predicate: Predicate = compile_predicate(node)
        self._values: list[Value] = [
            growing.initial.get(process, {}).get(leaf.variable, MISSING) if isinstance(leaf, Local) else False
            for leaf in self.predicate.leaves
        ]
        self._stack: list[tuple[str, str]] = []
        self._has_stack = any(isinstance(leaf, Stack) for leaf in self.predicate.leaves)
        self.variables: dict[str, int] | None = None
        """The number of the leaf of each variable that it reads; None: it reads more than variables."""
        if all(isinstance(leaf, Local) for leaf in self.predicate.leaves):
            self.variables = {
                leaf.variable: n for n, leaf in enumerate(self.predicate.leaves) if isinstance(leaf, Local)
            }
        self._known: dict[int | str, bool] = {}
        """Of a truth about one variable: what it is for values that came before."""
        self.now = self.predicate.evaluate(self._values)

    def after(self, line: Line) -> bool:
        """Whether it is true after the next event of its process."""
        return self.after_fields(line.fields)

    def after_fields(self, fields: Mapping[str, Any]) -> bool:
        """The same, of its fields alone."""
        if self.variables is not None:
            return self._after_assignment(fields.get("set", _NOTHING), self.variables)
        if self._has_stack:
            self._push_and_pop(fields)
        is_same = True
        for number, leaf in enumerate(self.predicate.leaves):
            value = self._value(leaf, fields, self._values[number])
            if value is not self._values[number]:
                self._values[number], is_same = value, False
        if not is_same:
            self.now = self.predicate.evaluate(self._values)
        return self.now

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({"_known": {}, **state})

    def changes(self, assigned: Assigned) -> Iterator[tuple[int, bool]]:
        """Of a truth about one variable that gets these values: when it changes, and to what."""
        values, known = self._values, self._known
        for number, value in assigned:
            if value is values[0]:
                continue
            values[0] = value
            kind = type(value)
            is_short = kind is int or (kind is str and len(value) <= LONGEST_KNOWN)
            now = known.get(value) if is_short else None
            if now is None:
                now = self.predicate.evaluate(values)
                if is_short and len(known) < MOST_KNOWN:
                    known[value] = now
            if now != self.now:
                self.now = now
                yield number, now

    def _after_assignment(self, assigned: Mapping[str, Value], variables: Mapping[str, int]) -> bool:
        is_same = True
        for variable in assigned:
            number = variables.get(variable)
            if number is not None and self._values[number] is not assigned[variable]:
                self._values[number], is_same = assigned[variable], False
        if not is_same:
            self.now = self.predicate.evaluate(self._values)
        return self.now

    def _value(self, leaf: Leaf, fields: Mapping[str, Any], before: Value) -> Value:
        match leaf:
            case Local(_, variable):
                return fields.get("set", {}).get(variable, before)
            case At(_, label):
                return fields.get("label") == label
            case Stack("inside", _, function):
                return any(name == function for _, name in self._stack)
            case Stack("start", _, function):
                return ("START", function) in self._stack
            case Stack(_, _, function):
                return ("TERM", function) in self._stack
        raise AssertionError(leaf)

    def _push_and_pop(self, fields: Mapping[str, Any]) -> None:
        """Frey's stack, as in `order.state`."""
        stack = self._stack
        if stack and stack[-1][0] == "TERM":
            stack.pop()
        if stack and stack[-1][0] == "START":
            stack[-1] = ("IN", stack[-1][1])
        match fields.get("kind"):
            case "enter":
                stack.append(("START", fields["fn"]))
            case "exit":
                stack[-1] = ("TERM", fields["fn"])


# ---- shared variables and channels ---------------------------------------------------------------------


class _Term(Protocol):
    def take(self, line: Line, needs: list[Need]) -> None:
        """Add to what the line needs, and keep the promises that it is about."""


def refuse_unordered(growing: Growing, variable: str) -> None:
    """An error if the writes of a shared variable are not a chain whatever happens."""
    if growing.order != "causal":
        raise FormulaError(
            f"shared variable {variable} cannot be followed on-line in --order sync,"
            " where its writes need not be ordered",
            hint="use --order causal",
        )


class _Writes:
    """A shared variable: where it is false, the next write is needed."""

    def __init__(self, growing: Growing, ground: Ground, term: SharedTerm) -> None:
        refuse_unordered(growing, term.variable)
        self.ground, self.variable = ground, term.variable
        self.predicate = compile_predicate(term.node)
        self._next: Promise | None = None
        if not self.predicate.evaluate([growing.shared.get(term.variable, MISSING)]):
            self._next = Promise()
            ground.initial.append(self._next)

    def take(self, line: Line, needs: list[Need]) -> None:
        written = line.fields.get("write", {})
        if self.variable not in written:
            return
        if self._next is not None:
            self.ground.keep(self._next, line.place)
            self._next = None
        if not self.predicate.evaluate([written[self.variable]]):
            self._next = Promise()
            needs.append(self._next)


class _Pairs:
    """Two sequences of events of which the i-th of one needs the i-th of the other, whichever comes first."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._first: deque[Place] = deque()
        self._promises: deque[Promise] = deque()

    def needed(self, place: Place) -> None:
        """The next event that somebody needs has arrived."""
        if self._promises:
            self.ground.keep(self._promises.popleft(), place)
        else:
            self._first.append(place)

    def need(self) -> Need:
        """What the next event that needs somebody needs."""
        if self._first:
            return self._first.popleft()
        promise = Promise()
        self._promises.append(promise)
        return promise


class _Bounds:
    """A channel between bounds: both count its sends and its receives."""

    def __init__(self, growing: Growing, ground: Ground, term: ChannelTerm) -> None:
        self.channel, self.least, self.most = term.channel, term.least, term.most
        self.ground = ground
        self.sender, self.receiver = growing.number(term.channel.sender), term.channel.receiver
        growing.addressed.add(term.channel.sender)
        self._upper, self._lower = _Pairs(ground), _Pairs(ground)
        self._sent = 0
        self._enough = Promise()
        if self.least:
            ground.initial.append(self._enough)

    def take(self, line: Line, needs: list[Need]) -> None:
        if line.sends is not None and self._is_here(line.sends, self.receiver):
            self._send(line.place, needs)
        if line.receives is not None and self._is_here(line.receives, line.fields["p"]):
            if self.most is not None:
                self._upper.needed(line.place)
            if self.least:
                needs.append(self._lower.need())

    def _is_here(self, sent: Sent, receiver: str) -> bool:
        is_channel = sent.place[0] == self.sender and receiver == self.receiver
        return is_channel and receiver in (sent.to or ()) and self.channel.tag in (None, sent.tag)

    def _send(self, place: Place, needs: list[Need]) -> None:
        self._sent += 1
        if self.most is not None and self._sent > self.most:
            needs.append(self._upper.need())
        if self._sent == self.least:
            self.ground.keep(self._enough, place)
        elif self.least and self._sent > self.least:
            self._lower.needed(place)


class _NoMessage:
    """No message in the whole system: every send needs its receives."""

    def __init__(self, ground: Ground, channel: Transit) -> None:
        self.ground, self.channel = ground, channel
        self._open: dict[tuple[Place, str | None], Promise] = {}

    def take(self, line: Line, needs: list[Need]) -> None:
        sent = line.sends
        if sent is not None and self.channel.tag in (None, sent.tag):
            for receiver in (None,) if sent.to is None else sent.to:
                self._open[sent.place, receiver] = promise = Promise()
                needs.append(promise)
        if line.receives is not None:
            receiver = None if line.receives.to is None else line.fields["p"]
            kept = self._open.pop((line.receives.place, receiver), None)
            if kept is not None:
                self.ground.keep(kept, line.place)


def _channel(growing: Growing, ground: Ground, term: ChannelTerm) -> list[_Term]:
    if term.channel.sender is None:
        return [_NoMessage(ground, term.channel)]
    return [_Bounds(growing, ground, term)]
