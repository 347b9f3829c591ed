"""How long after its event a verdict is told: `python -m benchmarks.latency`.

A real `possibly watch -` follows four properties of the clients of `soaking` while their events come at a
steady rate; one event in the middle breaks a property, and the clock runs until that is printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from threading import Thread
from typing import IO

from benchmarks.soaking import HEADER, KEEP, PROPERTIES, ROUND, rounds

RATES = (1_000, 20_000, 100_000)
"""Events a second that are offered; what the monitor does not take makes the sender wait."""
SECONDS = 6.0
PIECES = 100
"""A second in which the events are written."""
BREAKING = '{"p":"C3","set":{"n":7}}\n'
MORE = ("--ctl", "AG(C3.n < 5)")


def latency(rate: int) -> tuple[float, float]:
    """Events a second that were taken, and milliseconds between the breaking event and its verdict."""
    possibly = os.path.join(os.path.dirname(sys.executable), "possibly")
    asked = [word for pair in (*PROPERTIES, MORE) for word in pair]
    command = [possibly, "watch", "-", "--keep", str(KEEP), *asked]
    watching = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert watching.stdin is not None and watching.stdout is not None
    told: list[float] = []
    hearing = Thread(target=_hear, args=(watching.stdout, told))
    hearing.start()
    with watching.stdin as stream:
        stream.write(HEADER)
        taken, sent = _offer(stream, rounds(10**9), rate)
    hearing.join()
    watching.wait()
    return taken, 1_000 * (told[0] - sent)


def _offer(stream: IO[str], lines: Iterator[str], rate: int) -> tuple[float, float]:
    start, events, sent = time.monotonic(), 0, 0.0
    while (now := time.monotonic() - start) < SECONDS:
        if not sent and now > SECONDS / 2:
            stream.write(BREAKING)
            stream.flush()
            sent = time.monotonic()
        several = max(1, rate // ROUND // PIECES)
        stream.writelines(islice(lines, several))
        stream.flush()
        events += ROUND * several
        time.sleep(max(0.0, events / rate - now))
    return events / (time.monotonic() - start), sent


def _hear(stream: IO[str], told: list[float]) -> None:
    told.extend(time.monotonic() for line in stream if "VIOLATED" in line)


def main() -> None:
    for rate in RATES:
        taken, milliseconds = latency(rate)
        print(f"{taken:10,.0f} events a second: the verdict came {milliseconds:.1f} ms after its event")


if __name__ == "__main__":
    main()
