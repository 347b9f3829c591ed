"""An assertion that fails only if the tasks alternate three times at just the wrong places."""

import threading

a = b = c = 0


def one():
    global a, c
    a = 1
    if b == 1:
        c = 1
        if b == 2:
            a = 2


def two():
    global b
    if a == 1:
        b = 1
        if c == 1:
            b = 2
            assert a != 2


def three():
    assert a != 2


threads = [threading.Thread(target=each, name=each.__name__) for each in (one, two, three)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
