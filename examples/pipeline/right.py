"""A pipeline of processes: the reader waits for the writer before it says that it is done."""

import multiprocessing

LINES = ["1", "2", *["# a comment"] * 300_000]


def read(numbers, control, written):
    finished = False
    for line in LINES:
        if not line.startswith("#"):
            numbers.put(int(line))
    numbers.put(None)
    written.recv()
    control.send("done")
    finished = True
    assert finished


def write(numbers, answer):
    written = 0
    while numbers.get() is not None:
        written += 1
    answer.send(written)
    return written


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    numbers = context.Queue()
    here, there = context.Pipe()
    asked, answered = context.Pipe()
    reader = context.Process(target=read, args=(numbers, there, asked), name="reader")
    writer = context.Process(target=write, args=(numbers, answered), name="writer")
    writer.start()
    reader.start()
    print(here.recv())
    reader.join()
    writer.join()
