"""Readers may always enter while another one reads: a writer that polls can be kept out for ever."""

import threading

readers = 0
published = False
lock = threading.Lock()


def read():
    global readers
    with lock:
        readers += 1
    while not published:  # reads on until there is something new
        pass
    with lock:
        readers -= 1


def write():
    global published
    while True:
        with lock:
            if readers == 0:
                published = True
                return


threads = [threading.Thread(target=read, name="reader"), threading.Thread(target=write, name="writer")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
