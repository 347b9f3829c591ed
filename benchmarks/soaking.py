"""A month of events in minutes: what a monitor keeps while they stream through it.

A real `possibly watch` reads a pipe with three properties, of a server that grants a section to nine clients.
Each line of the table is a tenth of the events: the monitor's memory, and events for each second of its CPU
since the line before. Memory must not grow once the lines that are kept for the end are left behind. 10^8
events take about ten minutes of two quiet cores; `--events` takes another number, `--quick` two million.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

CLIENTS, ROUND = 9, 6
KEEP = 100_000
PROPERTIES = (
    ("--ctl", "AG(!(C1.cs & C2.cs))"),
    ("--ctl", "AG(C1.try -> AF C1.cs)"),
    ("--ltl", "G(C2.try -> F C2.cs)"),
)
HEADER = (
    '{"format":"possibly-trace","version":1,"processes":[{"name":"S","init":{"free":true}},'
    + ",".join(f'{{"name":"C{number}","init":{{"try":false,"cs":false,"n":0}}}}' for number in range(CLIENTS))
    + "]}\n"
)


def rounds(count: int) -> Iterator[str]:
    """The six events of a client that asks, gets the section and gives it back."""
    random = Random(5)
    for number in range(count):
        client = f"C{random.randrange(CLIENTS)}"
        yield (
            f'{{"p":"{client}","kind":"send","msg":"a{number}","to":"S","set":{{"try":true}}}}\n'
            f'{{"p":"S","kind":"receive","msg":"a{number}"}}\n'
            f'{{"p":"S","kind":"send","msg":"g{number}","to":"{client}","set":{{"free":false}}}}\n'
            f'{{"p":"{client}","kind":"receive","msg":"g{number}","set":{{"cs":true,"try":false}}}}\n'
            f'{{"p":"{client}","kind":"send","msg":"r{number}","to":"S","set":{{"cs":false}}}}\n'
            f'{{"p":"S","kind":"receive","msg":"r{number}","set":{{"free":true}}}}\n'
        )


def memory(pid: int) -> int:
    """Bytes that a process has in memory."""
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def seconds(pid: int) -> float:
    """Of CPU."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def soak(events: int) -> list[int]:
    """The monitor's memory at each tenth."""
    possibly = os.path.join(os.path.dirname(sys.executable), "possibly")
    asked = [word for pair in PROPERTIES for word in pair]
    watching = subprocess.Popen(
        [possibly, "watch", "-", "--keep", str(KEEP), *asked], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert watching.stdin is not None
    watching.stdin.write(HEADER.encode())
    found: list[int] = []
    each = events // ROUND // 10
    before = 0.0
    for number, text in enumerate(rounds(10 * each), start=1):
        watching.stdin.write(text.encode())
        if number % each == 0:
            watching.stdin.flush()
            now = seconds(watching.pid)
            found.append(memory(watching.pid))
            rate = each * ROUND / (now - before) if now > before else 0.0
            print(
                f"  {number * ROUND:13,} events {found[-1] / 1e6:8.1f} MB {rate:11,.0f} events/s", flush=True
            )
            before = now
    told = watching.communicate()[0].decode()
    print("  " + told.strip().replace("\n", "\n  "))
    return found


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--events", type=lambda text: int(float(text)), default=10**8)
    found: Any = parser.parse_args(words)
    print(f"three properties, --keep {KEEP:,}: the monitor after each tenth, and its rate of CPU")
    kept = soak(2_000_000 if found.quick else found.events)
    print(f"  between the second tenth and the last memory grew by {(kept[-1] - kept[1]) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
