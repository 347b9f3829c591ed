# WRONG: the first free place of a shared list is looked for and then taken
from multiprocessing import Manager, Process


def take(places, name):
    for index in range(2):
        if places[index] == "":
            places[index] = name
            return


if __name__ == "__main__":
    with Manager() as manager:
        places = manager.list(["", ""])
        workers = [Process(target=take, args=(places, name)) for name in ("ann", "bob")]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        assert sorted(places) == ["ann", "bob"], list(places)
