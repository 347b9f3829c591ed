"""The ring buffer of figure 4 (Frey, "Debugging parallel programs using temporal logic"), to be recorded.

    possibly run --spec ringbuffer.spec waiting.py              the faulty program
    possibly run --spec ringbuffer.spec waiting.py corrected

Waiting is done by a semaphore. In the faulty program `append` says that there is an element as soon as it has
incremented `last`; in the corrected one `put` says so when the element is inserted.
"""

import sys
import threading

N = 200
CORRECTED = "corrected" in sys.argv


class Queue:
    def __init__(self):
        self.data = [0] * N
        self.first = 0
        self.last = 0


b = Queue()
putting = threading.Lock()
getting = threading.Lock()
elements = threading.Semaphore(0)


def append(elem):
    b.last = (b.last + 1) % N
    if not CORRECTED:
        elements.release()
    b.data[b.last] = elem


def remove():
    elem = b.data[(b.first + 1) % N]
    b.first = (b.first + 1) % N
    return elem


def put(elem):
    with putting:
        append(elem)
        if CORRECTED:
            elements.release()


def get():
    with getting:
        elements.acquire()
        remove()


if __name__ == "__main__":
    tasks = [threading.Thread(target=get, name="15"), threading.Thread(target=put, args=(21,), name="25")]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join()
