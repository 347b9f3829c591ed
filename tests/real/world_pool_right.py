# RIGHT: multiprocessing pool map
from multiprocessing import Pool
def f(x): return x + 1
if __name__ == "__main__":
    with Pool(2) as p:
        assert p.map(f, [1, 2, 3]) == [2, 3, 4]
