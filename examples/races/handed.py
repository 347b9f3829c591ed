"""Two threads that write one variable: first before it has been to the lock, second after."""

import threading

lock = threading.Lock()
total = 0


def first():
    global total
    total = 1
    with lock:
        pass


def second():
    global total
    with lock:
        pass
    total = 2


threads = [threading.Thread(target=each, name=each.__name__) for each in (first, second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
