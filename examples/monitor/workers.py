"""Two processes that send what they do to a monitor while they run, and know nothing of each other.

possibly watch unix:monitor.sock --connections 2 --spec workers.spec
python workers.py unix:monitor.sock
"""

import sys
from multiprocessing import Process

import possibly


def work(name: str, address: str) -> None:
    with possibly.connect(address, {name: {"critical": False, "done": 0}}) as monitor:
        for number in range(1, 4):
            monitor.event(name, set={"critical": True})
            monitor.event(name, set={"critical": False, "done": number})


if __name__ == "__main__":
    workers = [Process(target=work, args=(name, sys.argv[1])) for name in ("P1", "P2")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
