# RIGHT: one value, one lock, two spawned processes
import multiprocessing


def add(value):
    with value.get_lock():
        value.value += 1


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    value = context.Value("i", 0)
    workers = [context.Process(target=add, args=(value,)) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert value.value == 2
