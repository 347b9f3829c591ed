"""A counter that adds in two steps, and one that does not."""

import threading


class Wrong:
    def __init__(self):
        self.value = 0

    def increment(self):
        self.value += 1
        return self.value


class Right(Wrong):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def increment(self):
        with self.lock:
            return super().increment()


OPERATIONS = ["increment"]
