"""Dining philosophers without a waiter: forks are asked for and handed over by messages (Chandy and Misra).

    python right.py [PHILOSOPHERS MEALS]

A fork lies between two neighbours and is clean or dirty. Who is hungry asks for the forks that are
missing; who is asked hands a dirty fork over, washed, and keeps a clean one until after the meal. Forks
are dirty after a meal. Everybody becomes hungry again when all have eaten.
"""

import sys
import threading
from queue import Queue


def philosopher(me: int, inboxes: list[Queue], eaten: Queue, fault: str) -> None:
    hungry = False
    eat = False
    count = len(inboxes)
    edges = {me: (me + 1) % count, (me - 1) % count: (me - 1) % count}  # the fork, and who shares it
    forks = {edge: "dirty" for edge, other in edges.items() if me < other}
    wanted: set[int] = set()
    asked: set[int] = set()
    while True:
        needed = 1 if fault == "greedy" else len(edges)  # the other fault: one fork is enough
        if hungry and len(forks) >= needed:
            eat = True
            hungry = False
            eat = False
            forks = dict.fromkeys(forks, "dirty")
            eaten.put(me)
        for edge in sorted(wanted & forks.keys()):
            if forks[edge] == "dirty" or not hungry or fault == "kept":
                wanted.discard(edge)
                if fault != "kept":  # the fault: who hands a fork over keeps it as well
                    del forks[edge]
                inboxes[edges[edge]].put(("fork", edge))
        for edge in sorted(edges.keys() - forks.keys() - asked):
            if hungry:
                asked.add(edge)
                inboxes[edges[edge]].put(("ask", edge))
        what, edge = inboxes[me].get()
        if what == "stop":
            return
        if what == "hungry":
            hungry = True
        elif what == "ask":
            wanted.add(edge)
        else:
            asked.discard(edge)
            forks[edge] = "clean"


def main(count: int, meals: int, fault: str = "") -> None:
    inboxes: list[Queue] = [Queue() for _ in range(count)]
    eaten: Queue = Queue()
    threads = [
        threading.Thread(target=philosopher, args=(me, inboxes, eaten, fault), name=f"Phil{me}")
        for me in range(count)
    ]
    for thread in threads:
        thread.start()
    for _ in range(meals):
        for inbox in inboxes:
            inbox.put(("hungry", -1))
        for _ in inboxes:
            eaten.get()
    for inbox in inboxes:
        inbox.put(("stop", -1))
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (5, 2)))
