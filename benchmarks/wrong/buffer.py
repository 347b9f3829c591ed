"""A bounded buffer with one condition for both ends: `notify` may wake one of the wrong end, and all wait."""

import threading

PRODUCERS, CONSUMERS, ITEMS, SIZE = 3, 3, 2, 1


class Buffer:
    def __init__(self, size):
        self.size = size
        self.items = []
        self.changed = threading.Condition()
        self.most = 0

    def put(self, item):
        with self.changed:
            while len(self.items) >= self.size:
                self.changed.wait()
            self.items.append(item)
            self.most = max(self.most, len(self.items))
            self.changed.notify()

    def get(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.pop(0)
            self.changed.notify()
            return item


buffer = Buffer(SIZE)
received = []
tally = threading.Lock()


def producer(number):
    for item in range(ITEMS):
        buffer.put((number, item))


def consumer():
    for _ in range(PRODUCERS * ITEMS // CONSUMERS):
        item = buffer.get()
        with tally:
            received.append(item)


threads = [threading.Thread(target=producer, args=(number,)) for number in range(PRODUCERS)]
threads += [threading.Thread(target=consumer) for _ in range(CONSUMERS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(received) == PRODUCERS * ITEMS
