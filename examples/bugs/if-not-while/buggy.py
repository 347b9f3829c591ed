"""Two consumers, one item and a notification for all: who is woken second finds nothing."""

import threading

items = []
filled = threading.Condition()


def consumer():
    with filled:
        if not items:
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
