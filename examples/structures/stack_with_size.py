"""A stack whose top is exchanged only if it is still the one that was seen; its size is counted beside it."""

import threading


class Reference:
    """Compares and sets at once."""

    def __init__(self, value):
        self.value = value
        self.lock = threading.Lock()

    def exchanged(self, seen, value):
        with self.lock:
            if self.value is not seen:
                return False
            self.value = value
            return True


class Wrong:
    """Every change of the top is right, but the size follows it."""

    def __init__(self):
        self.top = Reference(None)
        self.count = Reference(0)

    def push(self, item):
        while not self.top.exchanged(seen := self.top.value, (item, seen)):
            pass
        self.counted(1)

    def pop(self):
        while (seen := self.top.value) is not None:
            if self.top.exchanged(seen, seen[1]):
                self.counted(-1)
                return seen[0]
        return None

    def size(self):
        return self.count.value

    def counted(self, change):
        while not self.count.exchanged(seen := self.count.value, seen + change):
            pass


class Right(Wrong):
    """The size is a part of what is exchanged."""

    def push(self, item):
        while not self.top.exchanged(seen := self.top.value, (item, seen, self.length(seen) + 1)):
            pass

    def pop(self):
        while (seen := self.top.value) is not None:
            if self.top.exchanged(seen, seen[1]):
                return seen[0]
        return None

    def size(self):
        return self.length(self.top.value)

    def length(self, top):
        return 0 if top is None else top[2]


OPERATIONS = [("push", 1), "pop", "size"]
