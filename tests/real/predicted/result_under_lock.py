"""Whoever waits for a result of a pool holds the lock that the job needs."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

lock = threading.Lock()
total = 0


def count():
    global total
    with lock:
        total += 1
        return total


with ThreadPoolExecutor(2) as pool:
    counted = pool.submit(count)
    time.sleep(0.3)
    with lock:
        print(counted.result())
