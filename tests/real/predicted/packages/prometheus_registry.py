"""prometheus_client asks a collector under the lock of the registry; the program registers under its own."""

import threading
import time

from prometheus_client import CollectorRegistry, Gauge

registry, lock, jobs = CollectorRegistry(auto_describe=True), threading.Lock(), []


class Jobs:
    def collect(self):
        with lock:
            return []


def publish():
    registry.register(Jobs())


def add():
    with lock:
        jobs.append(1)
        Gauge("jobs", "how many", registry=registry)


threads = [threading.Thread(target=publish, name="publish"), threading.Thread(target=add, name="add")]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
