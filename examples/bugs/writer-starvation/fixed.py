"""A reader does not stay inside until there is something new: it leaves and looks again."""

import threading

readers = 0
published = False
lock = threading.Lock()


def read():
    global readers
    seen = False
    while not seen:
        with lock:
            readers += 1
            seen = published
            readers -= 1
        if not seen:
            news.wait()


def write():
    global published
    with lock:
        if readers == 0:
            published = True
    news.set()


news = threading.Event()
threads = [threading.Thread(target=read, name="reader"), threading.Thread(target=write, name="writer")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
