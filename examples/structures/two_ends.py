"""A linked list with two ends, where taking from the front looks for the first item and claims it then."""

import threading


class Node:
    def __init__(self, item):
        self.item = item
        self.is_taken = False


class Wrong:
    """Links change at once and an item is claimed once, but another may come to the front in between."""

    def __init__(self):
        self.nodes = (Node(22),)
        self.lock = threading.Lock()

    def add_first(self, item):
        with self.lock:
            self.nodes = (Node(item), *self.nodes)

    def peek_last(self):
        return next((node.item for node in reversed(self.nodes) if not node.is_taken), None)

    def take_first(self):
        for node in self.nodes:
            if self.claim(node):
                return node.item
        return None

    def claim(self, node):
        with self.lock:
            if node.is_taken:
                return False
            node.is_taken = True
            self.nodes = tuple(each for each in self.nodes if each is not node)
            return True


class Right(Wrong):
    """Looks and claims under one lock."""

    def __init__(self):
        super().__init__()
        self.lock = threading.RLock()

    def peek_last(self):
        with self.lock:
            return super().peek_last()

    def take_first(self):
        with self.lock:
            return super().take_first()


OPERATIONS = [("add_first", 8), "peek_last", "take_first"]
