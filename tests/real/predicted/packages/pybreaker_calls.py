"""pybreaker holds the lock of a breaker during the call that it guards; two services that call each other."""

import threading
import time

import pybreaker

first, second = pybreaker.CircuitBreaker(), pybreaker.CircuitBreaker()


def ask():
    return second.call(lambda: 1)


def answer():
    return first.call(lambda: 2)


threads = [
    threading.Thread(target=first.call, args=(ask,), name="ask"),
    threading.Thread(target=second.call, args=(answer,), name="answer"),
]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
