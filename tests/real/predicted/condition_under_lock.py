"""A wait gives its own lock back, but not the outer one that the notifier passes."""

import threading
import time

outer, ready = threading.Lock(), threading.Condition()


def wait():
    time.sleep(0.3)
    with outer, ready:
        ready.wait()


def wake():
    with outer:
        pass
    time.sleep(0.7)
    with ready:
        ready.notify()


threads = [threading.Thread(target=work, name=work.__name__) for work in (wake, wait)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
