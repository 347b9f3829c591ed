"""Archives of OTF2, as Score-P and other tools write them of runs under MPI (needs the package `otf2`).

A location with events is a process, called by its rank. Regions are functions, entered and left. The k-th
send from one rank to another with a tag of a communicator is received by the k-th receive that was posted
for it, which is MPI's own rule. Of the k-th collective operation of a communicator nobody gets out before
all are in, so its ends are one joint event; with a root that gives, the others follow the root's begin, and a
root that takes follows theirs. Clocks of ranks differ: time orders nothing but the events of one location.
Threads inside a rank are processes too, and what orders them is not read: `note` hears of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from possibly.errors import PossiblyError, TraceError
from possibly.trace.build import TraceBuilder
from possibly.trace.importers.clocks import causes_first
from possibly.trace.model import Trace

GIVES = {"BCAST", "SCATTER", "SCATTERV"}
TAKES = {"GATHER", "GATHERV", "REDUCE"}
Channel = tuple[str, str, str, int]
"""Sender, receiver, communicator, tag."""


@dataclass(slots=True)
class _Event:
    fields: dict[str, Any]
    before: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a collective operation: the event, and the process of its root if it has one."""

    event: int
    operation: str
    root: str | None


@dataclass(slots=True)
class _Archive:
    """What was read so far."""

    names: dict[int, str]
    resolution: float
    start: int | None = None
    events: list[_Event] = field(default_factory=list)
    last: dict[str, int] = field(default_factory=dict)
    sent: defaultdict[Channel, list[int]] = field(default_factory=lambda: defaultdict(list))
    received: defaultdict[Channel, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    """For each channel, when a receive was posted, and the event that completed it."""
    posted: dict[tuple[str, int], int] = field(default_factory=dict)
    begun: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    ended: defaultdict[str, defaultdict[str, list[_End]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """By communicator and process."""


def import_otf2(path: str, *, note: Callable[[str], None] = lambda text: None) -> list[tuple[str, Trace]]:
    """The one execution of an archive, given by its anchor file (`traces.otf2`)."""
    try:
        import otf2
    except ImportError:
        raise PossiblyError(
            "OTF2 needs a reader that is not installed", hint="pip install 'possibly[otf2]'"
        ) from None
    try:
        with otf2.reader.open(path) as found:
            names = _names(list(found.definitions.locations), note)
            archive = _Archive(names, float(found.timer_resolution))
            for location, event in found.events:
                _take(archive, names[location._ref], event)
    except Exception as error:  # the package raises a class that it does not name
        if isinstance(error, TraceError):
            raise
        raise TraceError(f"no archive of OTF2 that can be read: {error}", file=path) from None
    if not archive.events:
        raise TraceError("there is no event in this archive", file=path)
    _messages(archive)
    _collectives(archive)
    return [("", _trace(archive, path))]


def _names(locations: list[Any], note: Callable[[str], None]) -> dict[int, str]:
    """A location is called by its group, `MPI Rank 0`; one of several in a group by its own name as well."""
    groups = [location.group.name for location in locations]
    several = {name for name in groups if groups.count(name) > 1}
    if several:
        note(f"threads inside {', '.join(sorted(several)[:3])} are taken to be independent of each other")
    names: dict[int, str] = {}
    for location, group in zip(locations, groups, strict=True):
        name = f"{group} {location.name}" if group in several else group
        while name in names.values():
            name += "'"
        names[location._ref] = name
    return names


# Events as they come.


def _take(archive: _Archive, process: str, event: Any) -> None:
    number = len(archive.events)
    if archive.start is None:
        archive.start = event.time
    fields = {"p": process, "t": (event.time - archive.start) / archive.resolution}
    fields |= _meant(archive, process, event, number)
    before = [archive.last[process]] if process in archive.last else []
    archive.last[process] = number
    archive.events.append(_Event(fields, before))


def _meant(archive: _Archive, process: str, event: Any, number: int) -> dict[str, Any]:
    """The fields of an event; what belongs together with events of others is kept for later."""
    match type(event).__name__:
        case "Enter":
            return {"kind": "enter", "fn": event.region.name}
        case "Leave":
            return {"kind": "exit", "fn": event.region.name}
        case "MpiSend" | "MpiIsend":
            channel = (
                process,
                _member(archive, event, event.receiver),
                event.communicator.name,
                event.msg_tag,
            )
            archive.sent[channel].append(number)
            return {"kind": "send", "set": {"bytes": event.msg_length}}
        case "MpiIrecvRequest":
            archive.posted[process, event.request_id] = number
            return {"label": "MpiIrecvRequest"}
        case "MpiRecv" | "MpiIrecv":
            channel = (_member(archive, event, event.sender), process, event.communicator.name, event.msg_tag)
            when = archive.posted.pop((process, getattr(event, "request_id", -1)), number)
            archive.received[channel].append((when, number))
            return {"kind": "receive", "set": {"bytes": event.msg_length}}
        case "MpiCollectiveBegin":
            archive.begun[process].append(number)
            return {"label": "MpiCollectiveBegin"}
        case "MpiCollectiveEnd":
            operation = str(event.collective_op).rpartition(".")[2]  # CollectiveOp.BARRIER
            root = _member(archive, event, event.root) if operation in GIVES | TAKES else None
            archive.ended[event.communicator.name][process].append(_End(number, operation, root))
            return {"label": operation}
        case other:
            return {"label": other}


def _member(archive: _Archive, event: Any, rank: int) -> str:
    """The process that has this rank in the event's communicator."""
    members = list(event.communicator.group.members)
    if not 0 <= rank < len(members):
        raise TraceError(f"the communicator {event.communicator.name} has no rank {rank}")
    return archive.names[members[rank]._ref]


# What the events mean for each other.


def _messages(archive: _Archive) -> None:
    for channel, numbers in archive.sent.items():
        for count, number in enumerate(numbers, 1):
            name = f"{channel[0]} to {channel[1]} {channel[2]} tag {channel[3]} #{count}"
            archive.events[number].fields |= {"msg": name, "to": channel[1], "tag": str(channel[3])}
    for channel, posted in archive.received.items():
        for count, (_, number) in enumerate(sorted(posted)):
            event = archive.events[number]
            if count >= len(archive.sent[channel]):
                event.fields["kind"] = "internal"
                continue
            sender = archive.sent[channel][count]
            event.before.append(sender)
            event.fields |= {"msg": archive.events[sender].fields["msg"]}


def _collectives(archive: _Archive) -> None:
    for communicator, parties in archive.ended.items():
        for count in range(max(map(len, parties.values()))):
            part = {name: ends[count] for name, ends in parties.items() if count < len(ends)}
            _join(archive, f"{communicator} #{count + 1}", part)


def _join(archive: _Archive, name: str, part: dict[str, _End]) -> None:
    first = next(iter(part.values()))
    root = first.root
    if root is None:
        for end in part.values() if len(part) > 1 else ():
            archive.events[end.event].fields["meet"] = name
        return
    for process, end in part.items():
        if process != root and root in part:
            giver, taker = (part[root], end) if first.operation in GIVES else (end, part[root])
            _order_after(archive, taker, giver)


def _order_after(archive: _Archive, taker: _End, giver: _End) -> None:
    """What the taker has at its end, the giver had at its begin."""
    process = archive.events[giver.event].fields["p"]
    begin = max((number for number in archive.begun[process] if number < giver.event), default=giver.event)
    archive.events[taker.event].fields.setdefault("after", []).append(begin)
    archive.events[taker.event].before.append(begin)


def _trace(archive: _Archive, path: str) -> Trace:
    builder = TraceBuilder(path)
    builder.header([(name, {}) for name in dict.fromkeys(archive.names.values())], line=None)
    written: dict[int, str] = {}
    counts: defaultdict[str, int] = defaultdict(int)
    for number in _order(archive):
        fields = archive.events[number].fields
        counts[fields["p"]] += 1
        written[number] = f"{fields['p']}:{counts[fields['p']]}"
        if "after" in fields:
            fields["after"] = [written[each] for each in fields["after"]]
        builder.add_fields(fields, None)
    return builder.finish()


def _order(archive: _Archive) -> Iterator[int]:
    """Causes first, and the parts of a joint event beside each other."""
    units: dict[str, list[int]] = {}
    for number, event in enumerate(archive.events):
        units.setdefault(event.fields.get("meet", f"\0{number}"), []).append(number)
    parts = list(units.values())
    unit = {number: place for place, numbers in enumerate(parts) for number in numbers}
    earlier = [
        [unit[each] for number in numbers for each in archive.events[number].before] for numbers in parts
    ]
    done = list(causes_first(earlier))
    if len(done) < len(parts):
        raise TraceError("the messages of this archive go round in a circle: it is not whole")
    for place in done:
        yield from parts[place]
