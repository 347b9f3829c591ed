"""Mutual exclusion by messages: who wants to enter asks all others (Ricart and Agrawala).

    python right.py [PROCESSES ENTRIES]

A request carries the time at which it was made. Who is asked answers at once, unless it has asked before
that itself or is inside: then it answers when it leaves. Everybody asks again when all have been inside.
"""

import sys
import threading
from queue import Queue


def process(me: int, inboxes: list[Queue], left: Queue, fault: str) -> None:
    inCS = False
    tryCS = False
    clock, mine, answers = 0, 0, 0
    put_off: list[int] = []
    while True:
        if tryCS and answers == len(inboxes) - 1:
            inCS = True
            tryCS = False
            inCS = False
            for other in put_off:
                inboxes[other].put(("answer", me, 0))
            put_off = []
            left.put(me)
        what, other, time = inboxes[me].get()
        if what == "stop":
            return
        clock = max(clock, time) + 1
        if what == "enter":
            mine, answers = clock, 0
            tryCS = True
            for each, inbox in enumerate(inboxes):
                if each != me:
                    inbox.put(("request", me, mine))
        elif what == "answer":
            answers += 1
        elif tryCS and _is_first((mine, me), (time, other), fault):
            put_off.append(other)
        else:
            inboxes[other].put(("answer", me, 0))


def _is_first(mine: tuple[int, int], theirs: tuple[int, int], fault: str) -> bool:
    if fault == "polite":  # the fault: it answers whatever it wants
        return False
    if fault == "ties":  # the other fault: equal times are not told apart
        return mine[0] < theirs[0]
    return mine < theirs


def main(count: int, entries: int, fault: str = "") -> None:
    inboxes: list[Queue] = [Queue() for _ in range(count)]
    left: Queue = Queue()
    threads = [
        threading.Thread(target=process, args=(me, inboxes, left, fault), name=f"P{me}")
        for me in range(count)
    ]
    for inbox in inboxes:  # before they are there, so that everybody asks before it answers anybody
        inbox.put(("enter", -1, 0))
    for thread in threads:
        thread.start()
    for again in reversed(range(entries)):
        for _ in inboxes:
            left.get()
        for inbox in inboxes:
            inbox.put(("enter" if again else "stop", -1, 0))
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (3, 2)))
