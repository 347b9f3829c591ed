# WRONG: dask threaded scheduler, shared list length used as id
import dask, time
ids = []
@dask.delayed
def f(x):
    i = len(ids)
    time.sleep(0.001)
    ids.append(i)
    return i
r = dask.compute(f(1), f(2), scheduler="threads", num_workers=2)
assert len(set(r)) == 2, r
