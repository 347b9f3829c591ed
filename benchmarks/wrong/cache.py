"""A read-through cache with a refresher: what was loaded before an invalidation is stored after it."""

import threading

KEYS = ["a", "b", "c"]
source = dict.fromkeys(KEYS, 0)
source_lock = threading.Lock()


class Cache:
    def __init__(self):
        self.lock = threading.Lock()
        self.values = {}
        self.hits = 0
        self.misses = 0

    def load(self, key):
        with source_lock:
            return source[key]

    def get(self, key):
        with self.lock:
            if key in self.values:
                self.hits += 1
                return self.values[key]
            self.misses += 1
        value = self.load(key)
        with self.lock:
            self.values[key] = value
        return value

    def invalidate(self, key):
        with self.lock:
            self.values.pop(key, None)


cache = Cache()


def reader(number):
    for key in KEYS:
        cache.get(key)


def refresher():
    for key in KEYS:
        with source_lock:
            source[key] += 1
        cache.invalidate(key)


threads = [threading.Thread(target=reader, args=(i,)) for i in range(3)]
threads.append(threading.Thread(target=refresher))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for key in KEYS:
    assert cache.get(key) == source[key], f"{key} is stale"
