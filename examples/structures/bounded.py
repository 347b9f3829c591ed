"""A queue with room for two: looks whether there is room, and adds then."""

import threading
from collections import deque


class Wrong:
    def __init__(self):
        self.items = deque([0])

    def offer(self, item):
        if len(self.items) == 2:
            return False
        self.items.append(item)
        return True

    def poll(self):
        return self.items.popleft() if self.items else None


class Right(Wrong):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def offer(self, item):
        with self.lock:
            return super().offer(item)

    def poll(self):
        with self.lock:
            return super().poll()


OPERATIONS = [("offer", 1), ("offer", 2), "poll"]
