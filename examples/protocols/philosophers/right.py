"""Dining philosophers without a waiter: forks are asked for and handed over by messages (Chandy and Misra).

    python right.py [PHILOSOPHERS MEALS]

A fork lies between two neighbours and is clean or dirty. Who is hungry asks for the forks that are
missing; who is asked hands a dirty fork over, washed, and keeps a clean one until after the meal. Forks
are dirty after a meal.
"""

import sys
import threading
import time
from queue import Queue


def philosopher(me: int, meals: int, inboxes: list[Queue], done: Queue, faulty: bool) -> None:
    hungry = False
    eat = False
    count = len(inboxes)
    edges = {me: (me + 1) % count, (me - 1) % count: (me - 1) % count}  # the fork, and who shares it
    forks = {edge: "dirty" for edge, other in edges.items() if me < other}
    wanted: set[int] = set()
    asked: set[int] = set()
    while True:
        if meals and not hungry:
            time.sleep(0.002)  # thinks
            hungry = True
        if hungry and len(forks) == len(edges):
            eat = True
            hungry = False
            eat = False
            meals -= 1
            forks = dict.fromkeys(forks, "dirty")
            if not meals:
                done.put(me)
            continue
        for edge in sorted(wanted & forks.keys()):
            if forks[edge] == "dirty" or not hungry or faulty:
                wanted.discard(edge)
                if not faulty:  # the fault: who hands a fork over keeps it as well
                    del forks[edge]
                inboxes[edges[edge]].put(("fork", edge))
        for edge in sorted(edges.keys() - forks.keys() - asked):
            if hungry:
                asked.add(edge)
                inboxes[edges[edge]].put(("ask", edge))
        what, edge = inboxes[me].get()
        if what == "stop":
            return
        if what == "ask":
            wanted.add(edge)
        else:
            asked.discard(edge)
            forks[edge] = "clean"


def main(count: int, meals: int, faulty: bool = False) -> None:
    inboxes: list[Queue] = [Queue() for _ in range(count)]
    done: Queue = Queue()
    threads = [
        threading.Thread(target=philosopher, args=(me, meals, inboxes, done, faulty), name=f"Phil{me}")
        for me in range(count)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        done.get()
    for inbox in inboxes:
        inbox.put(("stop", -1))
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (5, 2)))
