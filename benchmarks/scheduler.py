"""A program as people write them, for `ordinary`: workers take jobs, try them again, and keep a journal.

It does nothing but with the standard library, and is right in every order.
"""

from __future__ import annotations

import enum
import heapq
import json
import logging
import sys
import threading
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

logger = logging.getLogger("jobs")
logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")


class Status(enum.Enum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Transient(Exception):
    """Worth another try."""


@dataclass(order=True)
class Job:
    priority: int
    number: int
    name: str = field(compare=False)
    identifier: str = field(compare=False, default="")
    status: Status = field(compare=False, default=Status.WAITING)
    tries: int = field(compare=False, default=0)
    result: object = field(compare=False, default=None)
    created: str = field(compare=False, default="")

    def to_json(self) -> str:
        return json.dumps(
            {"id": self.identifier, "name": self.name, "status": self.status.value, "tries": self.tries},
            sort_keys=True,
        )


class Journal:
    """One line a change, on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.Lock()
        self.lines = 0

    def write(self, job: Job) -> None:
        line = job.to_json()
        with self.lock:
            with open(self.path, "a", encoding="utf-8") as stream:
                stream.write(line + "\n")
            self.lines += 1

    def read(self) -> list[dict[str, object]]:
        with open(self.path, encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]


class Scheduler:
    """Jobs in a heap, taken by workers."""

    def __init__(self, journal: Journal, retries: int = 2) -> None:
        self.heap: list[Job] = []
        self.jobs: dict[str, Job] = {}
        self.retries = retries
        self.condition = threading.Condition()
        self.journal = journal
        self.is_closed = False
        self.counter = 0
        self.running = 0

    def submit(self, name: str, priority: int = 10) -> Job:
        with self.condition:
            self.counter += 1
            identifier = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}-{self.counter}"))
            created = datetime(2024, 1, 1, tzinfo=UTC).isoformat()
            job = Job(priority, self.counter, name, identifier, created=created)
            self.jobs[identifier] = job
            heapq.heappush(self.heap, job)
            self.condition.notify()
        self.journal.write(job)
        logger.info("submitted %s", job.name)
        return job

    def cancel(self, identifier: str) -> bool:
        with self.condition:
            job = self.jobs.get(identifier)
            if job is None or job.status is not Status.WAITING:
                return False
            job.status = Status.CANCELLED
            self.heap = [each for each in self.heap if each is not job]
            heapq.heapify(self.heap)
            self.condition.notify_all()
        self.journal.write(job)
        return True

    def take(self) -> Job | None:
        with self.condition:
            while not self.heap and not (self.is_closed and not self.running):
                self.condition.wait()
            if not self.heap:
                return None
            job = heapq.heappop(self.heap)
            job.status = Status.RUNNING
            self.running += 1
            return job

    def finish(self, job: Job, status: Status, result: object = None) -> None:
        with self.condition:
            self.running -= 1
            job.status, job.result = status, result
            if status is Status.WAITING:
                heapq.heappush(self.heap, job)
            self.condition.notify_all()
        self.journal.write(job)

    def close(self) -> None:
        with self.condition:
            self.is_closed = True
            self.condition.notify_all()


def perform(job: Job) -> int:
    job.tries += 1
    if job.name == "flaky" and job.tries < 2:
        raise Transient(job.name)
    return len(job.name)


def work(scheduler: Scheduler) -> None:
    while (job := scheduler.take()) is not None:
        try:
            result = perform(job)
        except Transient as error:
            again = Status.WAITING if job.tries <= scheduler.retries else Status.FAILED
            logger.info("%s failed: %s", job.name, error)
            scheduler.finish(job, again)
        else:
            scheduler.finish(job, Status.DONE, result)


def main() -> int:
    path = Path("journal.jsonl")
    scheduler = Scheduler(Journal(path))
    first = scheduler.submit("flaky", 1)
    second = scheduler.submit("report", 5)
    workers = [threading.Thread(target=work, args=(scheduler,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    cancelled = scheduler.cancel(second.identifier)
    scheduler.close()
    for worker in workers:
        worker.join()
    assert first.status is Status.DONE, first
    assert second.status in (Status.DONE, Status.CANCELLED), second
    assert cancelled == (second.status is Status.CANCELLED)
    entries = scheduler.journal.read()
    assert len(entries) == scheduler.journal.lines
    return 0


if __name__ == "__main__":
    sys.exit(main())
