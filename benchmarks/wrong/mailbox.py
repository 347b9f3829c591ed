"""A mailbox with an event: the consumer clears it after it has looked, and may clear news away."""

import threading
from collections import deque


class Mailbox:
    def __init__(self, name):
        self.name = name
        self.items = deque()
        self.news = threading.Event()

    def put(self, item):
        self.items.append(item)
        self.news.set()

    def get(self):
        while True:
            if self.items:
                return self.items.popleft()
            self.news.wait()
            if not self.items:
                self.news.clear()


class Actor:
    def __init__(self, name):
        self.box = Mailbox(name)
        self.received = []
        self.thread = threading.Thread(target=self.run, name=name)

    def run(self):
        while (item := self.box.get()) is not None:
            self.received.append(item)


collector = Actor("collector")
collector.thread.start()


def sender(number):
    for each in range(2):
        collector.box.put((number, each))


senders = [threading.Thread(target=sender, args=(number,)) for number in range(3)]
for thread in senders:
    thread.start()
for thread in senders:
    thread.join()
collector.box.put(None)
collector.thread.join()
assert len(collector.received) == 6
