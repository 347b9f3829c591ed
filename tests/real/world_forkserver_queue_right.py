# RIGHT: what two processes put arrives, in some order
import multiprocessing


def put(queue, number):
    queue.put(number)


if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    queue = context.Queue()
    workers = [context.Process(target=put, args=(queue, number)) for number in range(2)]
    for each in workers:
        each.start()
    assert sorted(queue.get() for _ in workers) == [0, 1]
    for each in workers:
        each.join()
