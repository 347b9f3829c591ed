"""A map to lists: the first value of a key makes its list."""

import threading


class Wrong:
    """Two that add the first value of one key both find none, and one list replaces the other."""

    def __init__(self):
        self.lists = {}

    def add(self, key, value):
        found = self.lists.get(key)
        if found is None:
            self.lists[key] = [value]
        else:
            found.append(value)

    def get(self, key):
        return sorted(self.lists.get(key, []))


class Right(Wrong):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def add(self, key, value):
        with self.lock:
            super().add(key, value)

    def get(self, key):
        with self.lock:
            return super().get(key)


OPERATIONS = [("add", "k", 1), ("add", "k", 2), ("get", "k")]
