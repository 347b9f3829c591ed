"""Stages that hand items on by queues; the last worker of a stage that ends closes the next one too early."""

import queue
import threading

WORKERS, ITEMS = 3, 4
END = object()


class Stage:
    def __init__(self, function, target):
        self.function = function
        self.inbox = queue.Queue()
        self.target = target
        self.left = WORKERS
        self.lock = threading.Lock()

    def work(self):
        while True:
            item = self.inbox.get()
            if item is END:
                break
            self.target.put(self.function(item))
        with self.lock:
            self.left -= 1
        if self.left == 0:
            self.target.put(END)


results = queue.Queue()
stage = Stage(lambda item: item * item, results)
threads = [threading.Thread(target=stage.work) for _ in range(WORKERS)]
for thread in threads:
    thread.start()
for item in range(ITEMS):
    stage.inbox.put(item)
for _ in range(WORKERS):
    stage.inbox.put(END)
found = []
while (item := results.get()) is not END:
    found.append(item)
for thread in threads:
    thread.join()
assert sorted(found) == [0, 1, 4, 9]
assert results.empty(), "it was closed twice"
