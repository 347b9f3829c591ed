"""Whoever stops a worker holds the lock that the worker needs to end."""

import threading
import time

lock = threading.Lock()


def work():
    with lock:
        pass


def stop():
    time.sleep(0.3)
    with lock:
        worker.join()


worker = threading.Thread(target=work, name="worker")
stopper = threading.Thread(target=stop, name="stopper")
worker.start()
stopper.start()
stopper.join()
