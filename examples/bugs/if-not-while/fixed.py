"""Whoever is woken looks again before it takes an item."""

import threading

items = []
filled = threading.Condition()


def consumer():
    with filled:
        while not items:
            filled.wait()
        items.pop()


def producer():
    with filled:
        items.append("first")
        filled.notify_all()
    with filled:
        items.append("second")
        filled.notify_all()


threads = [threading.Thread(target=consumer, name=f"consumer-{n}") for n in (1, 2)]
threads.append(threading.Thread(target=producer, name="producer"))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
