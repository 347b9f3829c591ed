"""A pool of connections: a borrower that gives up after a failure gives its connection back twice."""

import threading
from collections import deque

BORROWERS, SIZE, ROUNDS = 4, 2, 2


class Connection:
    def __init__(self, number):
        self.number = number
        self.users = 0
        self.broken = False


class Pool:
    def __init__(self, size):
        self.lock = threading.Lock()
        self.available = threading.Semaphore(size)
        self.idle = deque(Connection(number) for number in range(size))
        self.lent = []

    def borrow(self):
        self.available.acquire()
        with self.lock:
            connection = self.idle.popleft()
            self.lent.append(connection)
            return connection

    def give_back(self, connection):
        with self.lock:
            if connection in self.lent:
                self.lent.remove(connection)
            self.idle.append(connection)
        self.available.release()

    def repair(self, connection):
        with self.lock:
            connection.broken = False
        self.give_back(connection)


pool = Pool(SIZE)
usage = threading.Lock()


def query(connection, number):
    with usage:
        connection.users += 1
        assert connection.users == 1, f"connection {connection.number} has two users"
    with usage:
        connection.users -= 1
    if number == 0:
        connection.broken = True
        raise OSError("the connection is lost")


def borrower(number):
    for _ in range(ROUNDS):
        connection = pool.borrow()
        try:
            query(connection, number)
        except OSError:
            pool.repair(connection)
        finally:
            if not connection.broken:
                pool.give_back(connection)


threads = [threading.Thread(target=borrower, args=(number,)) for number in range(BORROWERS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
