"""Stages with queues: the last stage takes the first end that it sees for the end of all."""

import queue
import threading

END = object()


class Stage:
    def __init__(self, name, function, source, target, workers):
        self.name = name
        self.function = function
        self.source = source
        self.target = target
        self.threads = [threading.Thread(target=self.run, name=f"{name}-{n}") for n in range(workers)]

    def run(self):
        while (item := self.source.get()) is not END:
            self.target.put(self.function(item))
        self.target.put(END)


numbers, squares, results = queue.Queue(), queue.Queue(), []
stage = Stage("square", lambda n: n * n, numbers, squares, 3)


def collect():
    while (item := squares.get()) is not END:
        results.append(item)


collector = threading.Thread(target=collect, name="collector")
for thread in [*stage.threads, collector]:
    thread.start()
for number in range(4):
    numbers.put(number)
for _ in stage.threads:
    numbers.put(END)
for thread in [*stage.threads, collector]:
    thread.join()
assert sorted(results) == [0, 1, 4, 9], results
