"""Publishing to subscribers, some of whom leave while a message is handed round."""

import threading
from dataclasses import dataclass, field


@dataclass
class Subscriber:
    name: str
    closed: bool = False
    inbox: list = field(default_factory=list)

    def deliver(self, message):
        assert not self.closed, f"{self.name} is closed"
        self.inbox.append(message)


class Topic:
    def __init__(self):
        self.lock = threading.Lock()
        self.subscribers = {}

    def join(self, subscriber):
        with self.lock:
            self.subscribers[subscriber.name] = subscriber

    def leave(self, subscriber):
        with self.lock:
            self.subscribers.pop(subscriber.name, None)
        subscriber.closed = True

    def publish(self, message):
        with self.lock:
            present = list(self.subscribers.values())
        for subscriber in present:
            subscriber.deliver(message)


topic = Topic()
people = [Subscriber(f"s{number}") for number in range(3)]
for person in people:
    topic.join(person)


def speak(number):
    for each in range(2):
        topic.publish((number, each))


def go(person):
    topic.leave(person)


threads = [threading.Thread(target=speak, args=(number,)) for number in range(2)]
threads += [threading.Thread(target=go, args=(person,)) for person in people[:2]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
