"""A pool that is shut down while jobs come in: the check and the putting are two steps."""

import queue
import threading


class Pool:
    def __init__(self, size):
        self.jobs = queue.Queue()
        self.is_open = True
        self.done = []
        self.accepted = 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work, name=f"worker-{n}") for n in range(size)]
        for thread in self.threads:
            thread.start()

    def submit(self, job):
        if not self.is_open:
            return False
        with self.lock:
            self.accepted += 1
        self.jobs.put(job)
        return True

    def work(self):
        while (job := self.jobs.get()) is not None:
            result = job()
            with self.lock:
                self.done.append(result)

    def close(self):
        self.is_open = False
        for _ in self.threads:
            self.jobs.put(None)
        for thread in self.threads:
            thread.join()


pool = Pool(2)


def client(number):
    for each in range(2):
        pool.submit(lambda value=number * each: value)


clients = [threading.Thread(target=client, args=(number,)) for number in range(2)]
for thread in clients:
    thread.start()
pool.close()
for thread in clients:
    thread.join()
assert len(pool.done) == pool.accepted, f"{pool.accepted - len(pool.done)} jobs are lost"
