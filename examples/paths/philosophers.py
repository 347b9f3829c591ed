"""Dining philosophers with real threads.

python philosophers.py deadlock     everybody has the left fork and waits for the right one
python philosophers.py ordered      forks are taken in the order of their numbers: no deadlock
python philosophers.py polite       whoever does not get the right fork puts the left one back: starvation
"""

import sys
import threading

SEATS = 3
ROUNDS = 3


class Fork:
    def __init__(self):
        self.lock = threading.Lock()


fork0, fork1, fork2 = Fork(), Fork(), Fork()
forks = [fork0, fork1, fork2]
together = threading.Barrier(SEATS)


def LOCK(fork):  # noqa: N802 - as in the paper
    fork.lock.acquire()


def UNLOCK(fork):  # noqa: N802
    fork.lock.release()


def eat():
    pass


def hungry(first, second, waits):
    LOCK(first)
    if waits:
        together.wait()
    LOCK(second)
    eat()
    UNLOCK(second)
    UNLOCK(first)


def polite(left, right):
    for _ in range(ROUNDS):
        left.lock.acquire()
        held = 1  #: pick
        together.wait()
        if right.lock.acquire(blocking=False):
            eat()
            right.lock.release()
        together.wait()
        held = 0  #: put
        left.lock.release()
    return held


def main(way):
    threads = []
    for seat in range(SEATS):
        pair = [seat, (seat + 1) % SEATS]
        if way == "ordered":
            pair.sort()
        first, second = (forks[number] for number in pair)
        work, more = (polite, ()) if way == "polite" else (hungry, (way == "deadlock",))
        given = (first, second, *more)
        threads.append(threading.Thread(target=work, args=given, name=f"Phil{seat}", daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("done")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "deadlock")
