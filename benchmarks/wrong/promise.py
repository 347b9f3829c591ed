"""Promises that may be kept, broken or cancelled: two of these may happen to one."""

import threading


class Promise:
    def __init__(self, name):
        self.name = name
        self.condition = threading.Condition()
        self.state = "pending"
        self.value = None
        self.changes = 0

    def settle(self, state, value):
        if self.state != "pending":
            return False
        with self.condition:
            self.state = state
            self.value = value
            self.changes += 1
            self.condition.notify_all()
        return True

    def result(self):
        with self.condition:
            while self.state == "pending":
                self.condition.wait()
            return self.state, self.value


promises = [Promise(f"p{number}") for number in range(2)]
results = []


def compute(promise, number):
    promise.settle("kept", number * number)


def watch():
    for promise in promises:
        promise.settle("cancelled", None)


def consume(promise):
    results.append(promise.result())


threads = [threading.Thread(target=compute, args=(each, n)) for n, each in enumerate(promises)]
threads += [threading.Thread(target=consume, args=(each,)) for each in promises]
threads.append(threading.Thread(target=watch))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for promise in promises:
    assert promise.changes == 1, f"{promise.name} was settled {promise.changes} times"
