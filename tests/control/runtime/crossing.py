"""Every way to look at a state crossed with every way to change it; plain Python says what is seen.

A file of `crossed/` has subjects in three parts: the state, expressions that read it, one a line, and
statements that change it, one a line (`|>` begins a new line). Of each change a program is made: one task
looks at everything that the change changes, one thing after another, while another one makes it. Executed
plainly with the change before any of the looks, it gives the outcomes that must be found.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

TOGETHER = 12
"""So many expressions at most are looked at in one program."""
LOOK = """def look_{number}():
    try: seen_.append(repr({read}))
    except Exception as error: seen_.append(type(error).__name__ + str(error))
"""
PROGRAM = """{state}
seen_ = []
{looks}
def looking_():
    {calls}
def changing_():
    {change}
def result(): return seen_
"""
THREADS = """
import threading
def quietly(task):
    try: task()
    except Exception: pass
threads_ = [threading.Thread(target=quietly, args=(each,)) for each in (looking_, changing_)]
for each in threads_: each.start()
for each in threads_: each.join()
print(result())
"""


class Crossing(NamedTuple):
    name: str
    state: str
    reads: tuple[str, ...]
    change: str


def crossings(path: Path) -> list[Crossing]:
    found = []
    for block in f"\n{path.read_text(encoding='utf-8')}".split("\n## ")[1:]:
        name, _, body = block.partition("\n")
        state, reads, changes = (part.strip("\n") for part in body.split("\n--\n"))
        lines = reads.split("\n")
        for change in changes.split("\n"):
            for first in range(0, len(lines), TOGETHER):
                some = tuple(lines[first : first + TOGETHER])
                found.append(Crossing(f"{name}: {change} ({first})", state, some, change))
    return found


def program(crossing: Crossing) -> str:
    looks = "".join(LOOK.format(number=number, read=read) for number, read in enumerate(crossing.reads))
    calls = "\n    ".join(f"look_{number}()" for number in range(len(crossing.reads)))
    change = crossing.change.replace("|>", "\n    ")
    return PROGRAM.format(state=crossing.state, looks=looks, calls=calls, change=change)


def without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text)


def _seen(crossing: Crossing, changed_before: int) -> list[str]:
    """What each look sees, if the change comes before the one of this number."""
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(program(crossing), "<tasks>", "exec", dont_inherit=True), space)  # noqa: S102
    for number in range(len(crossing.reads)):
        _change(space) if number == changed_before else None
        space[f"look_{number}"]()
    return [without_addresses(each) for each in space["result"]()]


def _change(space: dict[str, Any]) -> None:
    try:
        space["changing_"]()
    except Exception:  # noqa: BLE001 - the task that changes ends with it
        pass


def relevant(crossing: Crossing) -> Crossing:
    """With those looks only that see the change."""
    before, after = _seen(crossing, -1), _seen(crossing, 0)
    used = [read for read, old, new in zip(crossing.reads, before, after, strict=True) if old != new]
    return crossing._replace(reads=tuple(used))


def expected(crossing: Crossing) -> list[str]:
    """The outcomes with the change before each of the looks, and after all."""
    return [str(_seen(crossing, number)) for number in range(len(crossing.reads) + 1)]
