"""The same two tasks, each of which does its part in one go."""

import threading

a = b = c = 0
lock = threading.Lock()


def one():
    global a, c
    with lock:
        a = 1
        if b == 1:
            c = 1
            if b == 2:
                a = 2


def two():
    global b
    with lock:
        if a == 1:
            b = 1
            if c == 1:
                b = 2
                assert a != 2


def three():
    with lock:
        assert a != 2


threads = [threading.Thread(target=each, name=each.__name__) for each in (one, two, three)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
