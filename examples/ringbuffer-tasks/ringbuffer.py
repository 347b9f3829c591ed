"""A ring buffer with parallel access: Figure 4 of Frey, "Debugging parallel programs using temporal logic".

One task calls get and waits until the buffer is not empty, another one calls put. The faulty program looks
at the buffer alone: get goes on as soon as `last` is incremented, though the element is not inserted yet.
The corrected one lets get go on when put has left the buffer.
"""

import sys
import threading

N = 200


class Queue:
    data = [0] * N
    first = 0
    last = 0


b = Queue()
putting = threading.Lock()
getting = threading.Lock()
inserted = threading.Semaphore(0)


def append(elem: int) -> None:
    b.last = (b.last + 1) % N
    b.data[b.last] = elem


def remove() -> int:
    elem = b.data[(b.first + 1) % N]
    b.first = (b.first + 1) % N
    return elem


def put(elem: int) -> None:
    with putting:
        append(elem)
    inserted.release()


def get(corrected: bool) -> None:
    with getting:
        if corrected:
            inserted.acquire()
        while b.last == b.first:
            pass
        print(remove())


if __name__ == "__main__":
    getter = threading.Thread(target=get, args=("corrected" in sys.argv,))
    putter = threading.Thread(target=put, args=(21,))
    getter.start()
    putter.start()
    getter.join()
    putter.join()
