"""A ring of slots for one who puts and one who takes, used by two who put."""

import threading


class Wrong:
    def __init__(self):
        self.slots = [None] * 4
        self.put_so_far = self.taken_so_far = 0

    def put(self, item):
        place = self.put_so_far
        self.slots[place % 4] = item
        self.put_so_far = place + 1

    def take(self):
        if self.taken_so_far == self.put_so_far:
            return None
        item = self.slots[self.taken_so_far % 4]
        self.taken_so_far += 1
        return item


class Right(Wrong):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def put(self, item):
        with self.lock:
            super().put(item)

    def take(self):
        with self.lock:
            return super().take()


OPERATIONS = [("put", 1), ("put", 2), "take"]
