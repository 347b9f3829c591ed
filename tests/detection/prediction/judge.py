"""The judge of predicted deadlocks: every reordering of a run by definition, one event at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from possibly.trace.model import Event, Trace
from tests.detection.prediction.runs import LOCKS, ROOM, UNITS

Pattern = frozenset[tuple[str, str, frozenset[str]]]
"""Of each process in the cycle: its name, what it waits for, and the locks that it holds."""


class Reorderings:
    """All parts of a run that a reordering reaches."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.events = [trace.event(number) for number in range(len(trace))]
        self.chains = [[self.events[e] for e in chain] for chain in trace.events_of]
        self.seen_write: dict[str, str | None] = {}
        last = None
        for each in self.events:
            if each.kind == "read":
                self.seen_write[each.name] = last
            if each.kind == "write":
                last = each.name
        self._follow_units("u", UNITS)
        self._follow_units("s", 0)

    def _follow_units(self, tag: str, units: int) -> None:
        """Which unit of a semaphore is taken by whom, in the run."""
        if tag == "u":
            self.unit: dict[str, int] = {}
            self.brought: dict[str, str] = {}
            self.signals: set[str] = set()
            self.shown: set[str] = set()
        free = [(number, "") for number in range(units)]
        mine: dict[str, list[int]] = defaultdict(list)
        fresh = 1000 if tag == "u" else 2000
        names = {each.name for each in self.events if (each.tag, each.kind) == (tag, "release")}
        if any(each.tag == tag and set(each.after) & names for each in self.events):
            self.shown.add(tag)
        for each in self.events:
            if each.tag == tag and each.kind == "acquire":
                number, bringer = free.pop(0)
                self.unit[each.name] = number
                mine[each.process].append(number)
                if bringer:
                    self.brought[each.name] = bringer
            elif each.tag == tag and mine[each.process]:
                free.append((mine[each.process].pop(), ""))
            elif each.tag == tag:
                self.signals.add(tag)
                fresh += 1
                free.append((fresh, each.name))

    def deadlocks(self) -> set[Pattern]:
        found: set[Pattern] = set()
        for cut in self.cuts_from(0):
            found.update(self._stuck(cut))
        return found

    # ---- reorderings ----------------------------------------------------------------------------

    def cuts_from(self, first: int) -> Iterator[tuple[int, ...]]:
        """Those after the beginning of the run up to that event, which is kept as it was."""
        kept = self.events[:first]
        writes = [each.name for each in kept if each.kind == "write"]
        counts = tuple(sum(each in kept for each in chain) for chain in self.chains)
        start: tuple[tuple[int, ...], str | None] = counts, writes[-1] if writes else None
        stack, seen = [start], {start}
        while stack:
            cut, last = stack.pop()
            yield cut
            for process, chain in enumerate(self.chains):
                if cut[process] < len(chain) and self._may(chain[cut[process]], cut, last):
                    event = chain[cut[process]]
                    after = (*cut[:process], cut[process] + 1, *cut[process + 1 :])
                    state = after, event.name if event.kind == "write" else last
                    if state not in seen:
                        seen.add(state)
                        stack.append(state)

    def _inside(self, cut: tuple[int, ...]) -> set[str]:
        return {each.name for chain, count in zip(self.chains, cut, strict=True) for each in chain[:count]}

    def _holders(self, cut: tuple[int, ...]) -> dict[str, int]:
        holder: dict[str, int] = {}
        for process, (chain, count) in enumerate(zip(self.chains, cut, strict=True)):
            last = {each.tag: each.kind for each in chain[:count] if each.tag in LOCKS}
            holder |= {tag or "": process for tag, kind in last.items() if kind == "acquire"}
        return holder

    def _may(self, event: Event, cut: tuple[int, ...], last: str | None) -> bool:
        inside = self._inside(cut)
        alike = [e for e in self.events if e.tag == event.tag and e.tag]
        if event.kind == "acquire" and event.tag in LOCKS:
            later = [e for e in alike if e.number > event.number and e.kind == "acquire"]
            return event.tag not in self._holders(cut) and not any(e.name in inside for e in later)
        if event.tag in self.shown:
            return event.kind == "release" or self._may_take(event, cut, inside)
        if event.tag in ("u", "s", "e") and any(
            e.name not in inside for e in alike if e.number < event.number
        ):
            return False
        if event.tag == "q":
            before = [e for e in alike if e.number < event.number and e.kind == event.kind]
            place = len(before)
            sends = [e for e in alike if e.kind == "send"]
            gets = [e for e in alike if e.kind == "receive"]
            needs = [sends[place]] if event.kind == "receive" else gets[place - ROOM : place - ROOM + 1]
            needs = [] if event.kind == "send" and place < ROOM else needs
            return all(e.name in inside for e in (*before, *needs))
        if event.kind == "read" and self.seen_write[event.name] != last:
            return False
        return inside.issuperset(event.after)

    def _may_take(self, event: Event, cut: tuple[int, ...], inside: set[str]) -> bool:
        unit = self.unit[event.name]
        same = [e for e in self.events if self.unit.get(e.name) == unit and e.kind == "acquire"]
        if any(e.name in inside and e.number > event.number for e in same):
            return False
        if event.name in self.brought and self.brought[event.name] not in inside:
            return False
        return unit not in [
            number for units in self._hands(cut, event.tag or "").values() for number in units
        ]

    def _hands(self, cut: tuple[int, ...], tag: str) -> dict[int, list[int]]:
        """The units that each process has."""
        found: dict[int, list[int]] = {}
        for process, (chain, count) in enumerate(zip(self.chains, cut, strict=True)):
            mine: list[int] = []
            for each in chain[:count]:
                if each.tag == tag and each.kind == "acquire":
                    mine.append(self.unit[each.name])
                elif each.tag == tag and mine:
                    mine.pop()
            found[process] = mine
        return found

    # ---- who waits for whom ---------------------------------------------------------------------

    def _stuck(self, cut: tuple[int, ...]) -> Iterator[Pattern]:
        """Sets of processes that wait for each other and for nobody else."""
        waits = {process: who for process in range(len(cut)) if (who := self._waits_for(process, cut))}
        for first in waits:
            reached = self._reached(first, waits)
            if first in reached and all(
                each in waits and self._reached(each, waits) == reached for each in reached
            ):
                yield frozenset(self._request(process, cut) for process in reached)

    def _reached(self, start: int, waits: dict[int, set[int]]) -> set[int]:
        found: set[int] = set()
        pending = [start]
        while pending:
            new = waits.get(pending.pop(), set()) - found
            found |= new
            pending += new
        return found

    def _waits_for(self, process: int, cut: tuple[int, ...]) -> set[int]:
        chain = self.chains[process]
        if cut[process] == len(chain):
            return set()
        event, inside = chain[cut[process]], self._inside(cut)
        if event.kind == "acquire" and event.tag in LOCKS:
            holder = self._holders(cut)
            return {holder[event.tag or ""]} if event.tag in holder else set()
        if event.kind == "join":
            target = next(e for e in self.events if e.name == event.after[0]).process
            return {self.trace.process_number[target]}
        if event.kind == "result":
            owners = {e.name: self.trace.process_number[e.process] for e in self.events}
            return {owners[name] for name in event.after if name not in inside}
        kinds = {"acquire": "release", "send": "receive", "receive": "send", "wait": "set"}
        if event.kind not in kinds or not self._is_missing(event, cut, inside):
            return set()
        if event.kind == "acquire" and event.tag not in self.signals:
            return {other for other, units in self._hands(cut, event.tag or "").items() if units} - {process}
        tag = "e" if event.kind == "wait" else event.tag
        left = [
            e for e in self.events if e.name not in inside and (e.tag, e.kind) == (tag, kinds[event.kind])
        ]
        return {self.trace.process_number[e.process] for e in left} - {process}

    def _is_missing(self, event: Event, cut: tuple[int, ...], inside: set[str]) -> bool:
        def count(tag: str, kind: str) -> int:
            return sum(e.name in inside for e in self.events if (e.tag, e.kind) == (tag, kind))

        if event.kind == "acquire":
            units = (UNITS if event.tag == "u" else 0) + count(event.tag or "", "release")
            return event.tag in self.shown and units == count(event.tag or "", "acquire")
        items = count("q", "send") - count("q", "receive")
        is_filling = any(e.after for e in self.events if e.kind == "send")
        match event.kind:
            case "send":
                return is_filling and items == ROOM
            case "receive":
                return items == 0
        return bool(event.after) and count("e", "set") == 0

    def _request(self, process: int, cut: tuple[int, ...]) -> tuple[str, str, frozenset[str]]:
        event = self.chains[process][cut[process]]
        wants = {"join": "join", "result": "result", "wait": "e"}.get(event.kind, event.tag)
        held = {lock for lock, owner in self._holders(cut).items() if owner == process}
        return event.process, wants or "", frozenset(held)
