"""The consumer looks while it holds the lock, so no notification can be missed."""

import threading

ready = False
changed = threading.Condition()


def producer():
    global ready
    with changed:
        ready = True
        changed.notify()


def consumer():
    with changed:
        while not ready:
            changed.wait()


threads = [threading.Thread(target=each, name=each.__name__) for each in (consumer, producer)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
