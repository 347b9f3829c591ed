# WRONG: manager dict read-modify-write
from multiprocessing import Process, Manager
def add(d):
    d["n"] = d["n"] + 1
if __name__ == "__main__":
    with Manager() as m:
        d = m.dict(n=0)
        ps = [Process(target=add, args=(d,)) for _ in range(2)]
        [p.start() for p in ps]; [p.join() for p in ps]
        assert d["n"] == 2, d["n"]
