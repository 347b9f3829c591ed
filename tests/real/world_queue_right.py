# RIGHT: items of two processes come in any order
import multiprocessing as mp, queue, sys, time
lengths = list(map(float, sys.argv[1:]))
def pause(number): time.sleep(lengths[number] if lengths else 0)
def started(*processes):
    for each in processes: each.start()
    return processes
def joined(processes):
    for each in processes: each.join()

def put(items, number):
    pause(number)
    items.put(number)
    items.put(number + 10)
items = mp.Queue()
processes = started(*(mp.Process(target=put, args=(items, each)) for each in range(2)))
print([items.get() for _ in range(4)])
joined(processes)
