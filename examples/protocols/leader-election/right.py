"""A ring elects the process with the highest number (Chang and Roberts).

    python right.py [PROCESSES]

Everybody sends its number round. A number that is higher than one's own is passed on, a lower one is
swallowed, and whose own number comes back is the leader and says so to all.
"""

import sys
import threading
from queue import Queue


def process(me: int, number: int, inbox: Queue, following: Queue, fault: str) -> None:
    isLeader = False
    mine = number
    leader = -1
    done = False
    following.put(("election", number))
    while not done:
        what, other = inbox.get()
        if what == "leader":
            leader = other
            done = True
            if other != number:
                following.put((what, other))
        elif other > number:
            following.put((what, other))
        elif other == number or (fault == "lower" and me == 1):  # the fault: any lower number is one's own
            isLeader = True
            leader = number
            following.put(("leader", number))
    assert leader >= 0 or mine == leader or isLeader


def main(count: int, fault: str = "") -> None:
    inboxes: list[Queue] = [Queue() for _ in range(count)]
    numbers = [(me * me + 5 * me) % 997 for me in range(count)]
    order = sorted(range(count), key=lambda me: (numbers[me], me))
    rank = {me: place for place, me in enumerate(order)}
    if fault == "same":  # the other fault: two have the highest number
        rank[order[-2]] = rank[order[-1]]
    threads = [
        threading.Thread(
            target=process, args=(me, rank[me], inboxes[me], inboxes[(me + 1) % count], fault), name=f"P{me}"
        )
        for me in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (5,)))
