# WRONG: a child asserts an order
from multiprocessing import Process, Event
def waiter(e):
    assert e.is_set()
if __name__ == "__main__":
    e = Event()
    p = Process(target=waiter, args=(e,)); p.start(); e.set(); p.join()
