# WRONG: value += without the lock
from multiprocessing import Process, Value
def add(v):
    v.value += 1
if __name__ == "__main__":
    v = Value("i", 0)
    ps = [Process(target=add, args=(v,)) for _ in range(2)]
    [p.start() for p in ps]; [p.join() for p in ps]
    assert v.value == 2, v.value
