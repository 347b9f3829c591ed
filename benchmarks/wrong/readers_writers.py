"""A lock for readers and writers: the last reader that leaves looks at the count outside of the lock."""

import threading


class ReadWriteLock:
    def __init__(self):
        self.guard = threading.Lock()
        self.room = threading.Semaphore(1)
        self.readers = 0

    def begin_read(self):
        with self.guard:
            self.readers += 1
            if self.readers == 1:
                self.room.acquire()

    def end_read(self):
        with self.guard:
            self.readers -= 1
        if self.readers == 0:
            self.room.release()

    def begin_write(self):
        self.room.acquire()

    def end_write(self):
        self.room.release()


lock = ReadWriteLock()
document = {"title": 0, "body": 0}
torn = []


def reader():
    for _ in range(2):
        lock.begin_read()
        title = document["title"]
        body = document["body"]
        if title != body:
            torn.append((title, body))
        lock.end_read()


def writer():
    for _ in range(2):
        lock.begin_write()
        document["title"] += 1
        document["body"] += 1
        lock.end_write()


threads = [threading.Thread(target=reader) for _ in range(3)] + [threading.Thread(target=writer)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not torn, torn
