"""Leaders by lease: one that was deposed while it looked at its lease still writes."""

import threading


class Lease:
    def __init__(self):
        self.lock = threading.Lock()
        self.owner = None
        self.term = 0

    def take(self, name):
        with self.lock:
            self.owner = name
            self.term += 1
            return self.term

    def is_mine(self, name):
        with self.lock:
            return self.owner == name


class Store:
    def __init__(self):
        self.lock = threading.Lock()
        self.entries = []

    def append(self, term, value):
        with self.lock:
            self.entries.append((term, value))


lease, store = Lease(), Store()


def replica(name, values):
    term = lease.take(name)
    for value in values:
        if not lease.is_mine(name):
            return
        store.append(term, f"{name} {value}")


threads = [threading.Thread(target=replica, args=(name, range(2))) for name in ("a", "b", "c")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
terms = [term for term, _ in store.entries]
assert terms == sorted(terms), f"an old leader has written: {store.entries}"
