"""A writer of batches: the flusher takes the list away while a line is being added to it."""

import threading


class Batches:
    def __init__(self, size):
        self.size = size
        self.lines = []
        self.written = []
        self.flushing = threading.Lock()

    def add(self, line):
        lines = self.lines
        lines.append(line)
        if len(lines) >= self.size:
            self.flush()

    def flush(self):
        with self.flushing:
            taken = list(self.lines)
            self.lines = []
            self.written.extend(taken)


batches = Batches(3)


def producer(number):
    for each in range(2):
        batches.add((number, each))


def flusher():
    batches.flush()


threads = [threading.Thread(target=producer, args=(number,)) for number in range(3)]
threads.append(threading.Thread(target=flusher))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
batches.flush()
assert sorted(batches.written) == [(number, each) for number in range(3) for each in range(2)]
