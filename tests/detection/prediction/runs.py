"""Random runs of small programs with locks, and the judge: every reordering, one event at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from possibly.trace.build import TraceBuilder
from possibly.trace.model import Event as TraceEvent
from possibly.trace.model import Trace

LOCKS = ("A", "B", "C")


@dataclass
class Event:
    process: str
    kind: str
    what: str = ""
    after: list[str] = field(default_factory=list)
    name: str = ""


def random_run(random: Random, processes: int = 3, length: int = 5) -> Trace:
    """A run to the end of a random program under a random schedule; those that get stuck are thrown away."""
    while True:
        programs = {f"P{n}": _program(random, length) for n in range(1, processes + 1)}
        if random.random() < 0.3:
            programs["P1"].insert(random.randint(1, len(programs["P1"])), ("join", "P2"))
        events = _executed(random, programs)
        if events is not None:
            return _trace(events)


def _program(random: Random, length: int) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    held: list[str] = []
    for _ in range(random.randint(2, length)):
        choice = random.random()
        free = [lock for lock in LOCKS if lock not in held]
        if choice < 0.5 and free:
            held.append(random.choice(free))
            found.append(("acquire", held[-1]))
        elif choice < 0.7 and held:
            found.append(("release", held.pop(random.randrange(len(held)))))
        elif choice < 0.8:
            found.append((random.choice(("read", "write")), "x"))
        elif choice < 0.9:
            found.append((random.choice(("put", "get")), "s"))
    return [*found, *(("release", lock) for lock in reversed(held)), ("end", "")]


def _executed(random: Random, programs: dict[str, list[tuple[str, str]]]) -> list[Event] | None:
    left = {name: list(program) for name, program in programs.items()}
    holder: dict[str, str] = {}
    released: dict[str, Event] = {}
    given: list[Event] = []
    taken = 0
    done: list[Event] = []
    while any(left.values()):
        able = [
            name for name in left if left[name] and _is_able(left[name][0], left, holder, len(given) - taken)
        ]
        if not able:
            return None
        process = random.choice(able)
        kind, what = left[process].pop(0)
        event = Event(process, kind, what, name=f"e{len(done)}")
        match kind:
            case "acquire":
                holder[what] = process
                if what in released and released[what].process != process:
                    event.after = [released[what].name]
            case "release":
                del holder[what]
                released[what] = event
            case "put":
                given.append(event)
            case "get":
                event.after = [given[taken].name]
                taken += 1
            case "join":
                event.after = [
                    next(each.name for each in done if each.process == what and each.kind == "end")
                ]
        done.append(event)
    return done


def _is_able(
    step: tuple[str, str], left: dict[str, list[tuple[str, str]]], holder: dict[str, str], units: int
) -> bool:
    kind, what = step
    if kind == "acquire":
        return what not in holder
    if kind == "get":
        return units > 0
    return kind != "join" or not left[what]


KINDS = {"put": "release", "get": "acquire"}


def _trace(events: list[Event]) -> Trace:
    builder = TraceBuilder()
    names = list(dict.fromkeys(sorted(each.process for each in events)))
    builder.header(processes=[(name, {}) for name in names], shared={"x": 0})
    for number, each in enumerate(events):
        fields: dict[str, object] = {
            "p": each.process,
            "id": each.name,
            "kind": KINDS.get(each.kind, each.kind),
        }
        if each.after:
            fields["after"] = each.after
        if each.kind in ("acquire", "release", "put", "get"):
            fields["tag"] = each.what
        if each.kind == "write":
            fields["write"] = {"x": number}
        if each.kind == "read":
            fields["read"] = ["x"]
        builder.add_fields(fields)
    return builder.finish()


# ---- the judge ----------------------------------------------------------------------------------

Pattern = frozenset[tuple[str, str, frozenset[str]]]
"""Of each process in the cycle: its name, what it waits for, and the locks that it holds."""


class Reorderings:
    """All parts of a run that a reordering reaches, by definition."""

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

    def deadlocks(self) -> set[Pattern]:
        found: set[Pattern] = set()
        for cut, holder in self._states():
            found.update(self._cycles(cut, holder))
        return found

    def _states(self) -> Iterator[tuple[tuple[int, ...], dict[str, int]]]:
        start: tuple[tuple[int, ...], str | None] = tuple(0 for _ in self.chains), None
        stack, seen = [start], {start}
        while stack:
            cut, last = stack.pop()
            yield cut, self._holders(cut)
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

    def _may(self, event: TraceEvent, cut: tuple[int, ...], last: str | None) -> bool:
        inside = self._inside(cut)
        if event.kind == "acquire" and event.tag in LOCKS:
            later = [e for e in self.events[event.number :] if (e.tag, e.kind) == (event.tag, "acquire")]
            return event.tag not in self._holders(cut) and not any(e.name in inside for e in later)
        if event.tag == "s":
            earlier = [e.name for e in self.events[: event.number] if e.tag == "s"]
            if not inside.issuperset(earlier):
                return False
        if event.kind == "read" and self.seen_write[event.name] != last:
            return False
        return inside.issuperset(event.after)

    def _cycles(self, cut: tuple[int, ...], holder: dict[str, int]) -> Iterator[Pattern]:
        waits: dict[int, int] = {}
        for process, chain in enumerate(self.chains):
            if cut[process] == len(chain):
                continue
            event = chain[cut[process]]
            if event.kind == "acquire" and event.tag in LOCKS and event.tag in holder:
                waits[process] = holder[event.tag or ""]
            elif event.kind == "join":
                target = next(e for e in self.events if e.name == event.after[0]).process
                waits[process] = self.trace.process_number[target]
        for first in waits:
            path = [first]
            while path[-1] in waits and waits[path[-1]] not in path:
                path.append(waits[path[-1]])
            if waits.get(path[-1]) == first:
                yield frozenset(self._request(process, cut, holder) for process in path)

    def _request(
        self, process: int, cut: tuple[int, ...], holder: dict[str, int]
    ) -> tuple[str, str, frozenset[str]]:
        event = self.chains[process][cut[process]]
        wants = event.tag if event.kind == "acquire" else "join"
        held = frozenset(lock for lock, owner in holder.items() if owner == process)
        return event.process, wants or "", held
