"""A logger puts into a full queue while it holds the lock that the writer of the log needs."""

import queue
import threading
import time

lines = queue.Queue(maxsize=1)
lock = threading.Lock()


def log():
    for number in range(3):
        time.sleep(0.3)
        with lock:
            lines.put(number)


def write():
    for _ in range(3):
        lines.get()
        with lock:
            pass


threads = [threading.Thread(target=work, name=work.__name__) for work in (log, write)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
