"""A barrier before the totals are used, and one before they are changed again."""

import threading

parts = [0, 0]
sums = [0, 0]
barrier = threading.Barrier(2)


def work(me):
    parts[me] = me + 1
    barrier.wait()
    sums[me] = parts[0] + parts[1]
    barrier.wait()
    parts[me] = 10 * (me + 1)


workers = [threading.Thread(target=work, args=(me,), name=f"worker-{me}") for me in (0, 1)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
assert sums == [3, 3], sums
