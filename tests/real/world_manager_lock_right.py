# RIGHT: the lock of the manager is held from the read to the write
from multiprocessing import Manager, Process


def add(shared, lock):
    with lock:
        shared["n"] = shared["n"] + 1


if __name__ == "__main__":
    with Manager() as manager:
        shared, lock = manager.dict(n=0), manager.Lock()
        workers = [Process(target=add, args=(shared, lock)) for _ in range(2)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        assert shared["n"] == 2
