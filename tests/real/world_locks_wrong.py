# WRONG: two locks in opposite order between processes: deadlock
from multiprocessing import Process, Lock
def f(a, b):
    with a:
        with b: pass
if __name__ == "__main__":
    a, b = Lock(), Lock()
    p = Process(target=f, args=(a, b)); q = Process(target=f, args=(b, a))
    p.start(); q.start(); p.join(); q.join()
