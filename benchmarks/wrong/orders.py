"""Orders that are paid, shipped and cancelled by several threads: each step is checked before the lock."""

import threading
from enum import Enum


class State(Enum):
    NEW = "new"
    PAID = "paid"
    SHIPPED = "shipped"
    CANCELLED = "cancelled"


ALLOWED = {
    State.NEW: {State.PAID, State.CANCELLED},
    State.PAID: {State.SHIPPED, State.CANCELLED},
    State.SHIPPED: set(),
    State.CANCELLED: set(),
}


class Order:
    def __init__(self, number):
        self.number = number
        self.state = State.NEW
        self.history = [State.NEW]
        self.lock = threading.Lock()

    def to(self, state):
        if state not in ALLOWED[self.state]:
            return False
        with self.lock:
            self.state = state
            self.history.append(state)
        return True


class Shop:
    def __init__(self, size):
        self.orders = [Order(number) for number in range(size)]
        self.stock = 10
        self.refunds = 0
        self.lock = threading.Lock()

    def cashier(self):
        for order in self.orders:
            order.to(State.PAID)

    def packer(self):
        for order in self.orders:
            if order.to(State.SHIPPED):
                with self.lock:
                    self.stock -= 1

    def hotline(self):
        for order in self.orders[1:]:
            if order.to(State.CANCELLED):
                with self.lock:
                    self.refunds += 1


shop = Shop(3)
threads = [threading.Thread(target=each) for each in (shop.cashier, shop.packer, shop.hotline)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for order in shop.orders:
    steps = list(zip(order.history, order.history[1:], strict=False))
    assert all(after in ALLOWED[before] for before, after in steps), f"order {order.number}: {order.history}"
