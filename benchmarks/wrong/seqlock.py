"""A sequence lock whose readers forget to look whether a write is under way when they begin."""

import threading


class Position:
    def __init__(self):
        self.sequence = 0
        self.x = 0
        self.y = 0
        self.writing = threading.Lock()

    def move(self, x, y):
        with self.writing:
            self.sequence += 1
            self.x = x
            self.y = y
            self.sequence += 1

    def read(self):
        for _ in range(3):
            before = self.sequence
            x = self.x
            y = self.y
            if self.sequence == before:
                return x, y
        return None


position = Position()
seen = []


def pilot(step):
    for each in range(1, 3):
        position.move(each * step, each * step)


def radar():
    found = position.read()
    if found is not None:
        seen.append(found)


threads = [threading.Thread(target=pilot, args=(1,))]
threads += [threading.Thread(target=radar) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for x, y in seen:
    assert x == y, f"{x}, {y} was never a position"
