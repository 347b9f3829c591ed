"""Two values that belong together are written one after the other, by two threads."""

import threading
import time

left = right = 0


def set_both(number, delay):
    global left, right
    time.sleep(delay)
    left = number
    right = number


threads = [threading.Thread(target=set_both, args=(n + 1, n * 0.3), name=f"set{n}") for n in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
