# RIGHT: a pool of spawned processes
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

begun = []


def double(number):
    begun.append(number)
    return 2 * number


if __name__ == "__main__":
    begun.append("parent")
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.map(double, [1, 2]) == [2, 4]
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert list(pool.map(double, [3])) == [6]
    assert begun == ["parent"]
