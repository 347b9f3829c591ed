"""sortedcontainers.SortedDict: the latest version is looked up, and the next one put in then."""

import threading
import time

from sortedcontainers import SortedDict

versions = SortedDict({1: "first"})
latest = 1


def publish(text):
    global latest
    number = latest + 1
    versions[number] = text
    latest = number


threads = [threading.Thread(target=publish, args=(text,), name=text) for text in ("red", "blue")]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
