"""A pipeline of processes: the reader says that it is done without knowing that the writer has written."""

import multiprocessing
import time


def read(numbers, control):
    finished = False
    for number in range(2):
        numbers.put(number)
    numbers.put(None)
    time.sleep(0.3)  # long enough, usually
    control.send("done")
    finished = True
    assert finished


def write(numbers):
    written = 0
    while numbers.get() is not None:
        written += 1
    return written


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    numbers = context.Queue()
    here, there = context.Pipe()
    reader = context.Process(target=read, args=(numbers, there), name="reader")
    writer = context.Process(target=write, args=(numbers,), name="writer")
    reader.start()
    writer.start()
    print(here.recv())
    reader.join()
    writer.join()
