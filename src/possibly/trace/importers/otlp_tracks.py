"""Spans become tracks of events: which span is on which track, what happens in which order, and causes.

Here belongs what the spans mean for the order, whatever text they come from; `otlp` says the law.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

from possibly.errors import TraceError
from possibly.trace.build import TraceBuilder
from possibly.trace.intern import quoted
from possibly.trace.model import Trace, Value

CLIENT, SERVER = 3, 2
NANO = 1_000_000_000
DEEPEST = 10_000
"""Parents above each other that are looked for; a cycle of parents has no end."""

Key = tuple[str, str]
"""Trace and span, as the identifiers are written, in small letters."""


@dataclass(slots=True, eq=False)
class _Happening:
    """A start, an end or an event of a span: one line of the trace."""

    span: Span
    time: int
    fields: dict[str, Any]
    rank: int = 0
    """Of what happens at one time on one track: starts of outer spans first, ends of outer spans last."""
    causes: list[_Happening] = field(default_factory=list)
    name: str = ""


@dataclass(slots=True, eq=False)
class Span:
    place: str
    line: int | None
    key: Key
    parent: Key | None
    service: str
    name: str
    kind: int
    start: int
    end: int | None
    thread: str | None
    attributes: dict[str, Value]
    links: list[Key]
    status: str | None
    events: list[tuple[int, str, dict[str, Value]]]
    instance: str | None = None
    """Of the service, where it says so; part of its name if there are several."""
    track: _Track | None = None
    depth: int = 0
    first: _Happening | None = None
    last: _Happening | None = None

    @property
    def until(self) -> float:
        return float("inf") if self.end is None else self.end

    def fail(self, message: str) -> TraceError:
        return TraceError(f"{self.place}: {message}", line=self.line)


@dataclass(slots=True, eq=False)
class _Track:
    """Spans that lie inside or beside each other."""

    name: str
    spans: list[Span] = field(default_factory=list)
    """In the order of their starts, outer ones first."""
    _open: list[Span] = field(default_factory=list)
    """Those that have not ended where the newest starts, each inside the one before."""

    def fits(self, span: Span) -> bool:
        while self._open and self._open[-1].until <= span.start:
            self._open.pop()
        return not self._open or span.until <= self._open[-1].until

    def add(self, span: Span) -> None:
        span.track, span.depth = self, len(self._open)
        self.spans.append(span)
        self._open.append(span)


def _inside(one: Span, other: Span) -> bool:
    return other.start <= one.start and one.until <= other.until


# ---- tracks ---------------------------------------------------------------------------


def trace_of(spans: list[Span], file: str | None) -> Trace:
    by_key: dict[Key, Span] = {}
    for span in spans:
        if span.key in by_key:
            raise span.fail(f"a second span {span.key[1]} of trace {span.key[0]}")
        by_key[span.key] = span
    _name_instances(spans)
    tracks = _tracks(spans, by_key)
    happenings = [each for track in tracks for each in _along(track)]
    _add_causes(spans, by_key)
    builder = TraceBuilder(file)
    builder.header([(track.name, {}) for track in tracks], line=None)
    for happening in _sorted(tracks, happenings):
        fields = happening.fields
        after = [cause.name for cause in happening.causes]
        builder.add_fields({**fields, "after": after} if after else fields)
    return builder.finish()


def _name_instances(spans: list[Span]) -> None:
    """SDKs give each start of a service an instance of its own: a name only where there are several."""
    instances: dict[str, set[str | None]] = {}
    for span in spans:
        instances.setdefault(span.service, set()).add(span.instance)
    for span in spans:
        if len(instances[span.service]) > 1 and span.instance is not None:
            span.service = f"{span.service}@{span.instance}"


def _tracks(spans: list[Span], by_key: Mapping[Key, Span]) -> list[_Track]:
    """Each span on its track, longer ones first, so that a parent has its track before its children."""
    tracks: list[_Track] = []
    counts: dict[str, int] = {}
    threads: dict[tuple[str, str], _Track] = {}
    levels = {span: _level(span, by_key) for span in spans}
    for span in sorted(spans, key=lambda span: (span.start, -span.until, levels[span])):
        track = _track_of(span, by_key, threads)
        if track is None:
            track = _Track(_free_name(span, counts))
            tracks.append(track)
            if span.thread is not None:
                threads.setdefault((span.service, span.thread), track)
        track.add(span)
    return tracks


def _level(span: Span, by_key: Mapping[Key, Span]) -> int:
    """How many parents it has, one above the other: of spans with the same times the outer is first."""
    level, parent = 0, span.parent
    while parent is not None and parent in by_key and level < DEEPEST:
        parent = by_key[parent].parent
        level += 1
    return level


def _track_of(
    span: Span, by_key: Mapping[Key, Span], threads: Mapping[tuple[str, str], _Track]
) -> _Track | None:
    if span.thread is not None:
        found = threads.get((span.service, span.thread))
        return found if found is not None and found.fits(span) else None
    parent = by_key.get(span.parent) if span.parent is not None else None
    if parent is None or parent.service != span.service or not _inside(span, parent):
        return None
    return parent.track if parent.track is not None and parent.track.fits(span) else None


def _free_name(span: Span, counts: dict[str, int]) -> str:
    base = span.service if span.thread is None else f"{span.service}/{span.thread}"
    counts[base] = counts.get(base, 0) + 1
    return base if counts[base] == 1 else f"{base}/{counts[base]}"


def _along(track: _Track) -> list[_Happening]:
    """What happens on a track, in its order, named."""
    found: list[_Happening] = []
    for span in track.spans:
        extra = {"trace": span.key[0], "span": span.key[1]}
        first: dict[str, Any] = {"p": track.name, "kind": "enter", "fn": span.name, **extra}
        if span.attributes:
            first["set"] = span.attributes
        place = _source(span)
        span.first = _Happening(span, span.start, first | place, 2 * span.depth)
        found.append(span.first)
        for time, label, attributes in span.events:
            fields: dict[str, Any] = {"p": track.name, "label": label, **extra}
            if attributes:
                fields["set"] = attributes
            moment = min(max(time, span.start), span.until)
            found.append(_Happening(span, int(moment), fields, 2 * span.depth + 1))
        if span.end is not None:
            last = {"p": track.name, "kind": "exit", "fn": span.name, **extra, "set": {"status": span.status}}
            span.last = _Happening(span, span.end, last, 0)
            found.append(span.last)
    return _in_order(found, track)


def _in_order(found: list[_Happening], track: _Track) -> list[_Happening]:
    """By time; a span is left when the next one is entered beside it, or something happens after its end."""
    found.sort(key=lambda each: (each.time, each.rank))
    ordered: list[_Happening] = []
    stack: list[Span] = []
    for each in found:
        if each is each.span.last:
            continue
        while stack and not _holds(stack[-1], each):
            _leave(stack.pop(), ordered)
        if each.fields.get("kind") == "enter":
            stack.append(each.span)
        ordered.append(each)
    while stack:
        _leave(stack.pop(), ordered)
    if all(span.end is not None for span in track.spans):
        ordered.append(_Happening(ordered[-1].span, ordered[-1].time, {"p": track.name, "kind": "end"}))
    for number, each in enumerate(ordered, 1):
        each.name = f"{track.name}:{number}"
        each.fields["t"] = each.time / NANO
    return ordered


def _holds(span: Span, each: _Happening) -> bool:
    """Whether the span on the top of the stack is not over when this happens."""
    if each is each.span.first:
        return each.span.depth > span.depth
    return each.span is span or each.time < span.until


def _leave(span: Span, ordered: list[_Happening]) -> None:
    if span.last is not None:
        ordered.append(span.last)


def _source(span: Span) -> dict[str, Any]:
    """Where the code stands, if the span says so."""
    file = span.attributes.get("code_file_path", span.attributes.get("code_filepath"))
    line = span.attributes.get("code_line_number", span.attributes.get("code_lineno"))
    if not isinstance(file, str):
        return {}
    return {"at": file if line is None else f"{file}:{line}"}


def _add_causes(spans: list[Span], by_key: Mapping[Key, Span]) -> None:
    for span in spans:
        assert span.first is not None
        parent = by_key.get(span.parent) if span.parent is not None else None
        earlier = [by_key[link] for link in span.links if link in by_key and by_key[link] is not span]
        for other in [*([parent] if parent is not None else []), *earlier]:
            if other.first is not None and other.track is not span.track:
                span.first.causes.append(other.first)
        if parent is not None and parent.track is not span.track and _is_awaited(span, parent):
            assert parent.last is not None and span.last is not None
            parent.last.causes.append(span.last)


def _is_awaited(server: Span, client: Span) -> bool:
    if (client.kind, server.kind) != (CLIENT, SERVER) or client.end is None or server.end is None:
        return False
    return server.end <= client.end


def _sorted(tracks: list[_Track], happenings: list[_Happening]) -> Iterator[_Happening]:
    """Causes first, otherwise by time."""
    number = {each.name: index for index, each in enumerate(happenings)}
    effects: list[list[int]] = [[] for _ in happenings]
    missing = [0] * len(happenings)
    for index, each in enumerate(happenings):
        each.causes = list({cause.name: cause for cause in each.causes}.values())
        causes = [number[cause.name] for cause in each.causes]
        if index and happenings[index - 1].fields["p"] == each.fields["p"]:
            causes.append(index - 1)
        missing[index] = len(causes)
        for cause in causes:
            effects[cause].append(index)
    ready = [(each.time, index) for index, each in enumerate(happenings) if not missing[index]]
    heapify(ready)
    done = 0
    while ready:
        _, index = heappop(ready)
        done += 1
        yield happenings[index]
        for effect in effects[index]:
            missing[effect] -= 1
            if not missing[effect]:
                heappush(ready, (happenings[effect].time, effect))
    if done < len(happenings):
        stuck = next(each.span for index, each in enumerate(happenings) if missing[index])
        raise stuck.fail(f"span {quoted(stuck.name)} comes before itself, by its parents, links and times")
