"""The definitions, executed literally: cuts as sets of events, paths enumerated one by one.

Nothing here uses the order, logic or detection code of the project; it reads events and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from possibly.trace.model import Event, Trace
from tests.generate import Formula, World

Cut = frozenset[int]
Fullpath = tuple[Cut, ...]


class Reference:
    """One trace, in causal or sync order."""

    def __init__(self, trace: Trace, order: str = "causal") -> None:
        self.trace = trace
        self.events: list[Event] = [trace.event(e) for e in range(len(trace))]
        self.before: list[set[int]] = [set() for _ in self.events]
        self._edges(order)

    def _edges(self, order: str) -> None:
        numbers = {event.name: event.number for event in self.events}
        for event in self.events:
            mine = self.before[event.number]
            mine.update(
                o.number for o in self.events if o.process == event.process and o.position < event.position
            )
            mine.update(numbers[name] for name in event.after)
            if event.kind == "receive" and event.msg is not None:
                mine.update(o.number for o in self.events if o.kind == "send" and o.msg == event.msg)
            if order == "causal":
                mine.update(o.number for o in self.events[: event.number] if _conflict(o, event))
            if event.meet is not None:
                mine.update(o.number for o in self.events if o.meet == event.meet and o is not event)

    @cached_property
    def cuts(self) -> set[Cut]:
        found = {frozenset[int]()}
        todo = [frozenset[int]()]
        while todo:
            for following in self.successors(todo.pop()):
                if following not in found:
                    found.add(following)
                    todo.append(following)
        return found

    def groups(self) -> Iterator[frozenset[int]]:
        """What happens at once: an event, or all lines of a joint one."""
        for event in self.events:
            same = [o.number for o in self.events if event.meet is not None and o.meet == event.meet]
            yield frozenset([event.number, *same])

    def successors(self, cut: Cut) -> set[Cut]:
        found = set()
        for group in self.groups():
            if not group & cut and all(self.before[event] <= cut | group for event in group):
                found.add(cut | group)
        return found

    def paths(self, cut: Cut) -> Iterator[Fullpath]:
        """Every fullpath from the cut to the final one."""
        following = self.successors(cut)
        if not following:
            yield (cut,)
        for next_cut in following:
            for rest in self.paths(next_cut):
                yield (cut, *rest)

    def counts(self, cut: Cut) -> tuple[int, ...]:
        return tuple(sum(self.trace.process[e] == p for e in cut) for p in range(len(self.trace.processes)))

    def world(self, cut: Cut) -> World:
        local: dict[tuple[str, str], Any] = {}
        for process in self.trace.processes:
            local.update({(process.name, name): value for name, value in process.init.items()})
        shared = dict(self.trace.shared)
        transit: dict[tuple[str, str], int] = {}
        tokens: dict[tuple[str, str], int] = {}
        received = {e.msg: e.process for e in self.events if e.kind == "receive"}
        for number in sorted(cut):
            event = self.events[number]
            local.update({(event.process, name): value for name, value in event.set.items()})
            shared.update(event.write)
            if event.kind == "send":
                for to in event.to or (received.get(event.msg, ""),):
                    _count(transit, tokens, event, (event.process, to), 1)
            if event.kind == "receive" and event.msg is not None:
                send = next(e for e in self.events if e.kind == "send" and e.msg == event.msg)
                _count(transit, tokens, send, (send.process, event.process), -1)
        done = {
            process.name: all(e.number in cut for e in self.events if e.process == process.name)
            for process in self.trace.processes
        }
        return World(local, shared, transit, tokens, done)

    # ---- branching time, by enumeration of paths ------------------------------------------------

    def satisfies(self, cut: Cut, formula: Formula) -> bool:
        parts = formula.operands

        def holds(at: Cut, number: int = 0) -> bool:
            return self._known(at, parts[number])

        match formula.operator:
            case "atom":
                assert formula.meaning is not None
                return formula.meaning(self.world(cut))
            case "!":
                return not holds(cut)
            case "&":
                return holds(cut, 0) and holds(cut, 1)
            case "|":
                return holds(cut, 0) or holds(cut, 1)
            case "->":
                return not holds(cut, 0) or holds(cut, 1)
            case "<->":
                return holds(cut, 0) == holds(cut, 1)
            case "EF":
                return any(any(holds(c) for c in path) for path in self.paths(cut))
            case "AF":
                return all(any(holds(c) for c in path) for path in self.paths(cut))
            case "EG":
                return any(all(holds(c) for c in path) for path in self.paths(cut))
            case "AG":
                return all(all(holds(c) for c in path) for path in self.paths(cut))
            case "EU":
                return any(self._until(path, parts) for path in self.paths(cut))
            case "AU":
                return all(self._until(path, parts) for path in self.paths(cut))
            case "EX":
                return any(
                    holds(following)
                    for following in self.successors(cut)
                    if formula.process is None or self._of(following - cut, formula.process)
                )
            case "AX":
                return all(holds(following) for following in self.successors(cut))
        raise AssertionError(formula.operator)

    def _of(self, group: frozenset[int], process: str) -> bool:
        return any(self.events[event].process == process for event in group)

    def _until(self, path: Fullpath, parts: tuple[Formula, ...]) -> bool:
        for i, cut in enumerate(path):
            if self._known(cut, parts[1]):
                return all(self._known(earlier, parts[0]) for earlier in path[:i])
        return False

    @cached_property
    def _memory(self) -> dict[tuple[Cut, int], bool]:
        return {}

    def _known(self, cut: Cut, formula: Formula) -> bool:
        key = (cut, id(formula))
        if key not in self._memory:
            self._memory[key] = self.satisfies(cut, formula)
        return self._memory[key]

    # ---- linear time, by the clauses on one sequence ---------------------------------------------

    def on_path(self, path: Fullpath, formula: Formula, i: int = 0) -> bool:
        parts = formula.operands
        last = len(path) - 1

        def at(j: int, number: int = 0) -> bool:
            return self.on_path(path, parts[number], j)

        match formula.operator:
            case "atom":
                assert formula.meaning is not None
                return formula.meaning(self.world(path[i]))
            case "!":
                return not at(i)
            case "&":
                return at(i, 0) and at(i, 1)
            case "|":
                return at(i, 0) or at(i, 1)
            case "->":
                return not at(i, 0) or at(i, 1)
            case "<->":
                return at(i, 0) == at(i, 1)
            case "X":
                return i < last and at(i + 1)
            case "N":
                return i == last or at(i + 1)
            case "F":
                return any(at(j) for j in range(i, last + 1))
            case "G":
                return all(at(j) for j in range(i, last + 1))
            case "U":
                return any(at(j, 1) and all(at(k, 0) for k in range(i, j)) for j in range(i, last + 1))
            case "R":
                return all(at(j, 1) or any(at(k, 0) for k in range(i, j)) for j in range(i, last + 1))
            case "W":
                until = any(at(j, 1) and all(at(k, 0) for k in range(i, j)) for j in range(i, last + 1))
                return until or all(at(j, 0) for j in range(i, last + 1))
            case "Y":
                return i > 0 and at(i - 1)
            case "Z":
                return i == 0 or at(i - 1)
            case "O":
                return any(at(j) for j in range(i + 1))
            case "H":
                return all(at(j) for j in range(i + 1))
            case "S":
                return any(at(j, 1) and all(at(k, 0) for k in range(j + 1, i + 1)) for j in range(i + 1))
        raise AssertionError(formula.operator)


def _count(
    transit: dict[tuple[str, str], int],
    tokens: dict[tuple[str, str], int],
    send: Event,
    channel: tuple[str, str],
    by: int,
) -> None:
    transit[channel] = transit.get(channel, 0) + by
    if send.tag == "token":
        tokens[channel] = tokens.get(channel, 0) + by


def _conflict(first: Event, second: Event) -> bool:
    touched = set(first.write) & (set(second.write) | set(second.read))
    return bool(touched or set(first.read) & set(second.write))
