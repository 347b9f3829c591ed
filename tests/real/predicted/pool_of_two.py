"""Two jobs need two connections each of a pool of two."""

import threading
import time

connections = threading.Semaphore(2)


def copy(delay):
    time.sleep(delay)
    with connections, connections:
        pass


jobs = [threading.Thread(target=copy, args=(n * 0.3,), name=f"job{n}") for n in range(2)]
for job in jobs:
    job.start()
for job in jobs:
    job.join()
