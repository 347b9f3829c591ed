"""The consumer looks before it takes the lock: a notification in between reaches nobody."""

import threading

ready = False
changed = threading.Condition()


def producer():
    global ready
    with changed:
        ready = True
        changed.notify()


def consumer():
    if not ready:
        with changed:
            changed.wait()


threads = [threading.Thread(target=each, name=each.__name__) for each in (consumer, producer)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
