# WRONG: both processes see that the other has not begun, and both begin
from multiprocessing import Array, Process, Value


def enter(wants, me, inside):
    if not wants[1 - me]:
        wants[me] = 1
        inside.value += 1


if __name__ == "__main__":
    wants, inside = Array("i", 2, lock=False), Value("i", 0)
    workers = [Process(target=enter, args=(wants, me, inside)) for me in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert inside.value == 1, inside.value
