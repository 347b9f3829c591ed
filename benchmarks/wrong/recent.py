"""A cache of the recently used: an entry is found, thrown out by another, and then moved to the end."""

import threading
from collections import OrderedDict


class Recent:
    def __init__(self, size):
        self.size = size
        self.entries = OrderedDict()
        self.lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    def get(self, key):
        if key in self.entries:
            with self.lock:
                self.hits += 1
                self.entries.move_to_end(key)
                return self.entries[key]
        value = self.compute(key)
        with self.lock:
            self.misses += 1
            self.entries[key] = value
            while len(self.entries) > self.size:
                self.entries.popitem(last=False)
        return value

    def compute(self, key):
        return key * key


recent = Recent(2)
PLANS = [[1, 2, 1], [2, 3], [1, 4]]
failures = []


def client(keys):
    for key in keys:
        assert recent.get(key) == key * key


threads = [threading.Thread(target=client, args=(keys,)) for keys in PLANS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
