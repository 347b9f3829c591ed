"""Caches and a directory: Modified, Shared, Invalid (MSI).

    python right.py [CACHES ACCESSES]

Caches ask the directory to read or to write. Before one may write, the directory has all other copies
given up; before one may read, the cache that wrote goes down to Shared. All write, then all read, in turn.
"""

import sys
import threading
from queue import Queue


def cache(me: int, directory: Queue, inbox: Queue, done: Queue) -> None:
    state = "invalid"
    while (what := inbox.get()) != "stop":
        if what == "read" or what == "write":
            directory.put((what, me))
        elif what == "invalidate":
            state = "invalid"
            directory.put(("given up", me))
        elif what == "downgrade":
            state = "shared"
            directory.put(("given up", me))
        else:
            state = what
            done.put(me)
    assert state


def keep_directory(caches: list[Queue], inbox: Queue, fault: str) -> None:
    sharers: set[int] = set()
    owner = None
    waiting: list[tuple[str, int]] = []
    while True:
        what, who = waiting.pop(0) if waiting else inbox.get()
        if what == "stop":
            return
        if what == "given up":  # only in the faulty form does one come late
            continue
        if what == "read" and who == owner:  # who writes may read
            caches[who].put("modified")
            continue
        others = sharers | {owner} if what == "write" else {owner}
        if what == "read" and fault == "reader":  # the other fault: who wrote is not told of readers
            others = set()
        others = {other for other in others if other is not None and other != who}
        for other in sorted(others):
            caches[other].put("invalidate" if what == "write" else "downgrade")
        missing = (
            0 if fault == "hasty" else len(others)
        )  # the fault: it does not wait until they have given it up
        while missing:
            message = inbox.get()
            if message[0] == "given up":
                missing -= 1
            else:
                waiting.append(message)
        if what == "write":
            owner, sharers = who, set()
            caches[who].put("modified")
        else:
            sharers = sharers | {owner} - {None} | {who}
            owner = None
            caches[who].put("shared")


def main(count: int, accesses: int, fault: str = "") -> None:
    inbox: Queue = Queue()
    done: Queue = Queue()
    caches: list[Queue] = [Queue() for _ in range(count)]
    threads = [threading.Thread(target=keep_directory, args=(caches, inbox, fault), name="Directory")]
    threads += [
        threading.Thread(target=cache, args=(me, inbox, caches[me], done), name=f"Cache{me}")
        for me in range(count)
    ]
    for thread in threads:
        thread.start()
    for number in range(accesses):
        for each in caches:
            each.put("read" if number % 2 else "write")
        for _ in caches:
            done.get()
    inbox.put(("stop", -1))
    for each in caches:
        each.put("stop")
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (3, 3)))
