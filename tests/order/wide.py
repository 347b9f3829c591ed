"""Traces of many processes with few events each, which the general generator does not make."""

from __future__ import annotations

from random import Random

from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace


def wide_trace(random: Random, processes: int, events: int) -> Trace:
    """Messages between whichever processes; every event sets x to a number below four."""
    names = [f"P{number}" for number in range(processes)]
    builder = TraceBuilder()
    builder.header([(name, {"x": 0}) for name in names])
    pending: list[tuple[str, str]] = []
    for number in range(events):
        name, x = random.choice(names), {"x": random.randrange(4)}
        if pending and random.random() < 0.4:
            message, name = pending.pop(random.randrange(len(pending)))
            builder.add(name, kind="receive", msg=message, set=x)
        elif random.random() < 0.6:
            to = random.choice(names)
            builder.add(name, kind="send", msg=f"m{number}", to=to, set=x)
            pending.append((f"m{number}", to))
        else:
            builder.add(name, set=x)
    return builder.finish()
