"""A pipeline of processes: the reader says that it is done without knowing that the writer has written."""

import multiprocessing

LINES = ["1", "2", *["# a comment"] * 300_000]


def read(numbers, control):
    finished = False
    for line in LINES:
        if not line.startswith("#"):
            numbers.put(int(line))
    numbers.put(None)
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
    writer.start()
    reader.start()
    print(here.recv())
    reader.join()
    writer.join()
