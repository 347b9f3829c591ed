"""A ring of access units with credits: who has used up its window waits for the reset that goes round
(after ATMR).

    python right.py [UNITS CELLS]

A cell goes round. A unit that has something to send and credit left uses it, which its client sees as
acknowledged. When a cell comes home to unit 0 unused by all, a reset goes round in its place and renews
every unit's credit.
"""

import sys
import threading
from queue import Queue

WINDOW = 3


def unit(me: int, cells: int, inbox: Queue, following: Queue, fault: str) -> None:
    ack = False
    req = False
    credit = WINDOW
    if not me:
        following.put(("cell", False, False))
    while True:
        if cells and not req:
            ack = False
            req = True
        what, fresh, used = inbox.get()
        if what == "stop":
            if me:
                following.put((what, fresh, used))
            break
        if what == "reset" and not (fault == "passed by" and me == 1):  # the fault: unit 1 lets it pass by
            credit = (
                min(credit + 1, WINDOW) if fault == "one cell" else WINDOW
            )  # the other fault: of one cell
        if what == "cell" and req and credit:
            cells -= 1
            credit -= 1
            ack = True
            req = False
            used = True
        if not me:  # home again
            what, fresh, used = _next(what, fresh, used)
        following.put((what, fresh, used))
    assert ack or req or credit <= WINDOW


def _next(what: str, fresh: bool, used: bool) -> tuple[str, bool, bool]:
    """A cell that nobody used is followed by a reset; if nobody uses the next one either, all is sent."""
    if what == "reset":
        return "cell", True, False
    if used:
        return "cell", False, False
    return ("stop" if fresh else "reset"), False, False


def main(count: int, cells: int, fault: str = "") -> None:
    inboxes: list[Queue] = [Queue() for _ in range(count)]
    threads = [
        threading.Thread(
            target=unit, args=(me, cells, inboxes[me], inboxes[(me + 1) % count], fault), name=f"Unit{me}"
        )
        for me in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (4, 5)))
