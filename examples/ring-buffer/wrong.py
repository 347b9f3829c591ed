"""A ring buffer with parallel access (Frey's figure 4): put and get hold different locks."""

import threading

N = 4


class Queue:
    def __init__(self):
        self.data = [None] * N
        self.first = 0
        self.last = 0


b = Queue()
putting, getting = threading.Lock(), threading.Lock()
free, used = threading.Semaphore(N - 1), threading.Semaphore(0)


def append(element):
    b.last = (b.last + 1) % N
    b.data[b.last] = element


def remove():
    b.first = (b.first + 1) % N
    return b.data[b.first]


def put(element):
    free.acquire()
    with putting:
        append(element)
    used.release()


def get():
    used.acquire()
    with getting:
        element = remove()
    free.release()
    return element


def produce():
    for number in range(2):
        put(number)


def consume():
    print([get() for _ in range(2)])


if __name__ == "__main__":
    threads = [threading.Thread(target=work, name=work.__name__) for work in (produce, consume)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
