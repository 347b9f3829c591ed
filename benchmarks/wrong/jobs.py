"""Jobs: a heap, a condition, retries, cancellation, which looks at a state without the lock."""

import heapq
import threading
from dataclasses import dataclass, field

WORKERS, JOBS = 3, 3


@dataclass(order=True)
class Job:
    due: int
    name: str = field(compare=False)
    state: str = field(default="waiting", compare=False)
    attempts: int = field(default=0, compare=False)


class Scheduler:
    def __init__(self):
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.heap = []
        self.journal = []
        self.stopping = False
        self.workers = [threading.Thread(target=self.work, name=f"worker-{i}") for i in range(WORKERS)]

    def start(self):
        for worker in self.workers:
            worker.start()

    def submit(self, job):
        with self.changed:
            heapq.heappush(self.heap, job)
            self.journal.append(("submit", job.name))
            self.changed.notify()
        return job

    def cancel(self, job):
        if job.state == "waiting":
            with self.changed:
                job.state = "cancelled"
                self.journal.append(("cancel", job.name))
                if job in self.heap:
                    self.heap.remove(job)
                    heapq.heapify(self.heap)
            return True
        return False

    def take(self):
        with self.changed:
            while not self.heap and not self.stopping:
                self.changed.wait()
            if self.heap:
                job = heapq.heappop(self.heap)
                job.state = "running"
                return job
            return None

    def work(self):
        while (job := self.take()) is not None:
            job.attempts += 1
            with self.lock:
                assert job.state == "running", f"{job.name} is {job.state} while it runs"
                job.state = "done"
                self.journal.append(("done", job.name))

    def stop(self):
        with self.changed:
            self.stopping = True
            self.changed.notify_all()
        for worker in self.workers:
            worker.join()


scheduler = Scheduler()
scheduler.start()
jobs = [scheduler.submit(Job(i, f"job-{i}")) for i in range(JOBS)]
scheduler.cancel(jobs[-1])
scheduler.stop()
