"""A counter that is read and written in two steps."""

import threading
import time

total = 0


def add(amount, delay):
    global total
    time.sleep(delay)
    seen = total
    total = seen + amount


threads = [threading.Thread(target=add, args=(n + 1, n * 0.3), name=f"add{n}") for n in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
