"""A set as a search tree: the place for a new key is found without a lock, and used under one."""

import threading


class Wrong:
    """Between the two, somebody else may have put a key at the same place."""

    def __init__(self):
        self.root = [None, None, 5]
        self.lock = threading.Lock()

    def place(self, key):
        node = self.root
        while key != node[2]:
            side = int(key > node[2])
            if node[side] is None:
                return node, side
            node = node[side]
        return None

    def add(self, key):
        found = self.place(key)
        if found is None:
            return False
        with self.lock:
            node, side = found
            node[side] = [None, None, key]
        return True

    def contains(self, key):
        return self.place(key) is None


class Right(Wrong):
    """Looks again under the lock."""

    def add(self, key):
        with self.lock:
            found = self.place(key)
            if found is None:
                return False
            node, side = found
            node[side] = [None, None, key]
            return True


OPERATIONS = [("add", 7), ("add", 8), ("contains", 7)]
