"""Two workers take numbered jobs and put the results into a queue: they arrive in any order."""

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
assert [results.get(), results.get()] == [1, 2]
for each in workers:
    each.join()
