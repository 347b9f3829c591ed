"""Traces of millions of events, made in seconds and the same every time.

Every event sets x to a number below 32, and for five events there is a named message that arrives soon. So
processes are bound together closely, and a state of all of them with x == 3 is so rare that a search for one
goes on from cut to cut until some process has no further state to offer, at the end of the run: the answer
to `EF(p & EG(q))`, with p "x == 3" and q "x is not 99", is no, and whatever answers must look at everything.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from possibly.trace.model import NONE, Process, Trace

BLOCK = 64
"""Messages are received within so many of the events that send or receive."""


VALUES = 32


def large_trace(processes: int, events: int, messages: float = 0.2, seed: int = 1) -> Trace:
    """`messages` is how many messages there are an event."""
    random = np.random.default_rng(seed)
    process = random.integers(0, processes, events, dtype=np.int32)
    value = random.integers(0, VALUES, events, dtype=np.int32)
    return _trace(process, value, *_pairs(random, process, int(messages * events)), processes)


def ring_trace(processes: int, events: int) -> Trace:
    """A token goes round, and x is 3 at who has it: no two processes can be there at once."""
    turns = events // 4
    process = np.repeat(np.arange(turns, dtype=np.int32) % processes, 4)
    value = np.tile(np.array([0, 3, 0, 0], np.int32), turns)
    sends = np.arange(3, 4 * (turns - 1), 4, dtype=np.int32)
    return _trace(process, value, sends, sends + 1, processes)


def _pairs(random: Any, process: Any, count: int) -> tuple[Any, Any]:
    """Sends and receives: distinct events, each receive after its send and of another process."""
    count -= count % (BLOCK // 2)
    chosen = np.sort(random.choice(len(process), 2 * count, replace=False, shuffle=False)).astype(np.int32)
    blocks = chosen.reshape(-1, BLOCK)
    sends, receives = blocks[:, : BLOCK // 2], random.permuted(blocks[:, BLOCK // 2 :], axis=1)
    first, second = sends.ravel(), receives.ravel()
    kept = process[first] != process[second]
    return first[kept], second[kept]


def _trace(process: Any, value: Any, sends: Any, receives: Any, processes: int) -> Trace:
    events = len(process)
    strings = ["internal", "x", "send", "receive", *(f"m{number}" for number in range(len(sends)))]
    kind, message = np.zeros(events, np.int32), np.full(events, NONE, np.int32)
    kind[sends], kind[receives] = 2, 3
    message[sends] = message[receives] = np.arange(4, len(strings), dtype=np.int32)
    return Trace(
        processes=tuple(Process(f"P{number}", {"x": 0}) for number in range(processes)),
        shared={},
        strings=strings,
        values=list(range(VALUES)),
        process=_column(process),
        kind=_column(kind),
        message=_column(message),
        set_start=_column(np.arange(events + 1, dtype=np.int32)),
        set_variable=_column(np.ones(events, np.int32)),
        set_value=_column(value),
        delivery_send=_column(sends),
        delivery_receive=_column(receives),
        delivery_to=_column(process[receives]),
    )


def _column(numbers: Any) -> array[int]:
    found = array("i")
    found.frombytes(numbers.astype(np.int32).tobytes())
    return found
