"""Random runs of small programs with locks and more, and the judge: every reordering, an event at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

LOCKS = ("A", "B", "C")


@dataclass
class Event:
    process: str
    kind: str
    what: str = ""
    after: list[str] = field(default_factory=list)
    name: str = ""


def random_run(random: Random, processes: int = 3, length: int = 5, more: bool = False) -> Trace:
    """A run to the end of a random program under a random schedule; those that get stuck are thrown away.

    With `more` there are a semaphore of several units, a queue with little room and an event, too.
    """
    while True:
        make = _mixed if more else _program
        programs = {f"P{n}": make(random, length) for n in range(1, processes + 1)}
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


MORE = (
    (("take", "u"), ("give", "u")), (("take", "u"), ("give", "u")), (("give", "u"),), (("send", "q"),),
    (("send", "q"),), (("receive", "q"),), (("receive", "q"),), (("set", "e"),), (("wait", "e"),),
    (("resolve", ""),), (("result", ""),),
)  # fmt: skip
"""Steps with other primitives; the second of a pair comes later."""


def _mixed(random: Random, length: int) -> list[tuple[str, str]]:
    found = _program(random, length - 1)[:-1]
    for _ in range(random.randint(1, 2)):
        steps, place = random.choice(MORE), 0
        for step in steps:
            place = random.randint(place, len(found))
            found.insert(place, step)
            place += 1
    return [*found, ("end", "")]


UNITS, ROOM = 2, 1
"""Of the semaphore and of the queue."""


def _executed(random: Random, programs: dict[str, list[tuple[str, str]]]) -> list[Event] | None:
    left = {name: list(program) for name, program in programs.items()}
    holder: dict[str, str] = {}
    released: dict[str, Event] = {}
    given: list[Event] = []
    taken = 0
    units: list[Event | None] = [None] * UNITS
    done: list[Event] = []
    of: dict[str, list[Event]] = {"send": [], "receive": [], "set": [], "resolve": []}
    while any(left.values()):
        able = [
            name
            for name in left
            if left[name]
            and _is_able(left[name][0], left, holder, len(given) - taken)
            and _is_open(left[name][0][0], units, of)
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
            case "take":
                unit = units.pop(0)
                event.after = [unit.name] if unit is not None and unit.process != process else []
            case "give":
                units.append(event)
            case "send":
                freed = of["receive"][len(of["send"]) - ROOM] if len(of["send"]) >= ROOM else None
                event.after = [freed.name] if freed is not None and freed.process != process else []
                event.what = f"m{len(of['send'])}"
            case "receive":
                event.what = f"m{len(of['receive'])}"
            case "wait":
                event.after = [of["set"][0].name] if of["set"][0].process != process else []
            case "result":
                event.after = [of["resolve"][0].name] if of["resolve"][0].process != process else []
            case "join":
                event.after = [
                    next(each.name for each in done if each.process == what and each.kind == "end")
                ]
        if kind in of and (kind not in ("set", "resolve") or not of[kind]):
            of[kind].append(event)
        done.append(event)
    return done


def _is_open(kind: str, units: list[Event | None], of: dict[str, list[Event]]) -> bool:
    match kind:
        case "take":
            return bool(units)
        case "send":
            return len(of["send"]) - len(of["receive"]) < ROOM
        case "receive":
            return len(of["send"]) > len(of["receive"])
        case "wait":
            return bool(of["set"])
        case "result":
            return bool(of["resolve"])
    return True


def _is_able(
    step: tuple[str, str], left: dict[str, list[tuple[str, str]]], holder: dict[str, str], units: int
) -> bool:
    kind, what = step
    if kind == "acquire":
        return what not in holder
    if kind == "get":
        return units > 0
    return kind != "join" or not left[what]


KINDS = {"put": "release", "get": "acquire", "give": "release", "take": "acquire"}


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
        if each.kind in ("acquire", "release", "put", "get", "take", "give", "set"):
            fields["tag"] = each.what
        if each.kind in ("send", "receive"):
            fields |= {"tag": "q", "msg": each.what}
        if each.kind == "write":
            fields["write"] = {"x": number}
        if each.kind == "read":
            fields["read"] = ["x"]
        builder.add_fields(fields)
    return builder.finish()
