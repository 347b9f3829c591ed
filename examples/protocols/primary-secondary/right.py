"""A primary and a secondary that are always there, while both offices are handed on by messages.

    python right.py [NODES HAND-OVERS]

The primary chooses its successor; that one takes the office, tells the secondary, and the secondary lets
the old primary go. So before the secondary turns to the new primary the old pair is in office, and
afterwards the new one.
"""

import sys
import threading
from queue import Queue


def node(me: int, hands: int, inboxes: list[Queue], ready: Queue, fault: str) -> None:
    primary = 0
    secondary = 1
    isSecondary = me == 1
    isPrimary = me == 0
    ready.put(me)
    while True:
        what, other, left = inboxes[me].get()
        if what == "stop":
            return
        if what == "begin" or what == "go on":
            if not left:
                for inbox in inboxes:
                    inbox.put(("stop", me, 0))
                continue
            successor = next(n % len(inboxes) for n in range(me + 1, me + 3) if n % len(inboxes) != secondary)
            if fault == "early":  # the fault: it does not wait until it is let go
                isPrimary = False
            inboxes[successor].put(("take over", me, left - 1))
        elif what == "take over":
            secondary = 1
            isPrimary = True
            inboxes[secondary].put(("I am primary", me, left))
        elif what == "I am primary":
            old = primary
            if fault == "late":  # the other fault: it turns to the new primary when the old one was let go
                inboxes[old].put(("let go", me, left))
            primary = other
            if fault != "late":
                inboxes[old].put(("let go", me, left))
            inboxes[primary].put(("go on", me, left))
        elif what == "let go":
            isPrimary = False


def main(count: int, hands: int, fault: str = "") -> None:
    inboxes: list[Queue] = [Queue() for _ in range(count)]
    started: Queue = Queue()
    threads = [
        threading.Thread(target=node, args=(me, hands, inboxes, started, fault), name=f"Node{me}")
        for me in range(count)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        started.get()
    ready = True
    inboxes[0].put(("begin", 0, hands if ready else 0))
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (4, 3)))
