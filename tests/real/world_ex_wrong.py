# WRONG: ProcessPoolExecutor as_completed order assumed
from concurrent.futures import ProcessPoolExecutor, as_completed
def f(x): return x
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as e:
        r = [x.result() for x in as_completed([e.submit(f, 1), e.submit(f, 2)])]
    assert r == [1, 2], r
