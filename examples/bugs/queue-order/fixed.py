"""Two workers take numbered jobs; the results are put in order when all are there."""

import queue
import threading

jobs, results = queue.Queue(), queue.Queue()


def worker():
    number = jobs.get()
    results.put(number)


workers = [threading.Thread(target=worker, name=f"worker-{n}") for n in (1, 2)]
for each in workers:
    each.start()
jobs.put(1)
jobs.put(2)
assert sorted([results.get(), results.get()]) == [1, 2]
for each in workers:
    each.join()
