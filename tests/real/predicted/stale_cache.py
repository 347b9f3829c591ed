"""A reader fills the cache with what it read before the writer emptied it."""

import threading
import time

stored, cached = 1, 0


def read():
    global cached
    seen = stored
    cached = seen


def write():
    global stored, cached
    time.sleep(0.3)
    stored = 2
    cached = 0


threads = [threading.Thread(target=work, name=work.__name__) for work in (read, write)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
