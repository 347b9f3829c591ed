# RIGHT: a process that polls until its parent says stop
import time
from multiprocessing import Event, Process, Value


def work(stop, rounds):
    while not stop.is_set():
        time.sleep(0.1)
    rounds.value = 1


if __name__ == "__main__":
    stop, rounds = Event(), Value("i", 0)
    worker = Process(target=work, args=(stop, rounds))
    worker.start()
    stop.set()
    worker.join()
    assert rounds.value == 1
