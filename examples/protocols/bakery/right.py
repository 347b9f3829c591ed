"""Mutual exclusion by shared variables: everybody takes a number, and the lowest one is next (Lamport's
bakery).

    python right.py [PROCESSES ENTRIES]

Record it with `--watch number --watch choosing`, so that the accesses to both lists are part of the
order.
"""

import sys
import threading
import time

number: list[int] = []
choosing: list[bool] = []


def wait_while(blocked) -> None:  # type: ignore[no-untyped-def]
    while blocked():
        time.sleep(0.0005)


def process(me: int, entries: int, taken: threading.Barrier, fault: str) -> None:
    inCS = False
    for _ in range(entries):
        choosing[me] = True
        number[me] = 1 + max(number)
        choosing[me] = False
        others = [other for other in range(len(number)) if other != me]
        taken.wait()  # everybody has a number, so that there is something to decide
        for other in others:
            if fault == "blind":  # the fault: it does not look at the others' numbers
                continue
            wait_while(lambda other=other: choosing[other])
            wait_while(lambda other=other: number[other] > 0 and (number[other], other) < (number[me], me))
        inCS = True
        if fault == "early":  # the other fault: it gives its number back while it is still inside
            number[me] = 0
        inCS = False
        if fault != "early":
            number[me] = 0
    assert not inCS


def main(count: int, entries: int, fault: str = "") -> None:
    number.extend([0] * count)
    choosing.extend([False] * count)
    taken = threading.Barrier(count)
    threads = [
        threading.Thread(target=process, args=(me, entries, taken, fault), name=f"P{me}")
        for me in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (3, 2)))
