"""A queue with room for one; those who wait for room and those who wait for an item share a condition.

Its methods wait when one thread calls them alone, so it is explored as a program and not as an object:
`possibly explore blocking_queue.py`, and with `right` behind it the one that is right.
"""

import sys
import threading


class Wrong:
    """`notify` may wake one who waits for the same as the one who goes: then nobody goes on."""

    def __init__(self):
        self.items = []
        self.changed = threading.Condition()

    def put(self, item):
        with self.changed:
            while self.items:
                self.changed.wait()
            self.items.append(item)
            self.wake()

    def take(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.pop()
            self.wake()
            return item

    def wake(self):
        self.changed.notify()


class Right(Wrong):
    """Everybody is woken and looks again."""

    def wake(self):
        self.changed.notify_all()


def main(queue):
    threads = [threading.Thread(target=queue.take, name=f"taker {number}") for number in (1, 2)]
    threads += [
        threading.Thread(target=queue.put, args=(number,), name=f"giver {number}") for number in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(Right() if sys.argv[1:] == ["right"] else Wrong())
