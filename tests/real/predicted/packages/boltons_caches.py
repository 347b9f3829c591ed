"""boltons.cacheutils.LRU holds its lock while it computes what is missing; two caches that need each other."""

import threading
import time

from boltons.cacheutils import LRU


def price(key):
    return len(key) if key.endswith("!") else rates[key + "!"]


def rate(key):
    return len(key) if key.endswith("!") else prices[key + "!"]


prices, rates = LRU(on_miss=price), LRU(on_miss=rate)
threads = [
    threading.Thread(target=lambda: prices["a"], name="price"),
    threading.Thread(target=lambda: rates["b"], name="rate"),
]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
