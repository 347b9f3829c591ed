"""A computation as a ShiViz log: what each event does on one line, its host and vector clock on the next.

The form is ShiViz's own default, so the log needs no regular expression there and none when it is
imported again: then it has the same order.

Departures. A host may not contain blanks there, so blanks in names become `_`, with more of them until
the name is unique. ShiViz has no joint events: each line of a meet becomes two events, one that arrives
and one that leaves when all have arrived. The order of all other events stays what it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from possibly.views.text.words import plain, value_text

if TYPE_CHECKING:
    from possibly.order.computation import Computation
    from possibly.trace.model import Trace

Clock = dict[str, int]
"""How many events of each host are known; hosts of which none is known are left out."""


def render_shiviz(computation: Computation) -> str:
    """The log, in an order in which the events could have happened."""
    return "".join(f"{text}\n{host} {stamp}\n" for text, host, stamp in _records(computation))


def _records(computation: Computation) -> Iterator[tuple[str, str, str]]:
    trace = computation.trace
    hosts = host_names([process.name for process in trace.processes])
    host_of = [hosts[process] for process in trace.process]
    now: dict[str, Clock] = {host: {} for host in hosts}
    clocks: dict[int, Clock] = {}
    for step in computation.steps:
        together = computation.events(step)
        for event in together:
            known = [clocks[other] for other in computation.predecessors(event) if other not in together]
            clocks[event] = _advanced(now, host_of[event], known)
            word = "arrives: " if len(together) > 1 else ""
            yield word + described(trace, event), host_of[event], _stamp(clocks[event])
        if len(together) > 1:
            arrivals = [clocks[event] for event in together]
            for event in together:
                clocks[event] = _advanced(now, host_of[event], arrivals)
                yield "leaves: " + described(trace, event), host_of[event], _stamp(clocks[event])


def _advanced(now: dict[str, Clock], host: str, known: Iterable[Clock]) -> Clock:
    """The clock of the next event of the host, which learns what is known."""
    found = dict(now[host])
    for clock in known:
        for other, count in clock.items():
            if found.get(other, 0) < count:
                found[other] = count
    found[host] = found.get(host, 0) + 1
    now[host] = found
    return found


def _stamp(clock: Clock) -> str:
    return json.dumps(dict(sorted(clock.items())))


def host_names(names: list[str]) -> list[str]:
    """Names without blanks and control characters, still all different."""
    found: dict[str, None] = {}
    taken = {name for name in names if name == _host(name)}
    for name in names:
        host = _host(name)
        while host in found or (host in taken and host != name):
            host += "_"
        found[host] = None
    return list(found)


def _host(name: str) -> str:
    return "_".join(plain(name).split()) or "_"


def described(trace: Trace, event: int) -> str:
    """What an event does, on one line."""
    facts = trace.event(event)
    named = filter(None, (facts.label, facts.kind, facts.fn, facts.msg))
    assigned = (f"{name}={value_text(value)}" for name, value in (*facts.set.items(), *facts.write.items()))
    return plain(" ".join([*named, *assigned]))
