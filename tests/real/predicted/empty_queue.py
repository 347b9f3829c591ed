"""A consumer waits for an item while it holds the lock that the producer needs."""

import queue
import threading
import time

items = queue.Queue()
lock = threading.Lock()


def produce():
    with lock:
        items.put(1)


def consume():
    time.sleep(0.3)
    with lock:
        items.get()


threads = [threading.Thread(target=work, name=work.__name__) for work in (produce, consume)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
