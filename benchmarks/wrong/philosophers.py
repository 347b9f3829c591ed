"""Five philosophers; a waiter lets four sit down, but one of them asks for a second helping without him."""

import threading

SEATS = 4


class Table:
    def __init__(self, seats):
        self.forks = [threading.Lock() for _ in range(seats)]
        self.waiter = threading.Semaphore(seats - 1)
        self.meals = [0] * seats
        self.rice = seats * 2

    def eat(self, seat):
        left, right = self.forks[seat], self.forks[(seat + 1) % len(self.forks)]
        with left, right:
            self.meals[seat] += 1
            self.rice -= 1


table = Table(SEATS)


def dine(seat):
    with table.waiter:
        table.eat(seat)
    if seat == 2:
        table.eat(seat)


threads = [threading.Thread(target=dine, args=(seat,), name=f"philosopher-{seat}") for seat in range(SEATS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
