"""Whoever waits for the configuration holds the lock under which it is loaded."""

import threading
import time

loaded = threading.Event()
lock = threading.Lock()


def load():
    with lock:
        loaded.set()


def serve():
    time.sleep(0.3)
    with lock:
        loaded.wait()


threads = [threading.Thread(target=work, name=work.__name__) for work in (load, serve)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
