"""A warehouse: six threads take orders, stock, pack, bill, ship and refund; payments may be lost."""

import queue
import threading
from collections import Counter, deque
from dataclasses import dataclass, field


@dataclass
class Order:
    number: int
    item: str
    count: int
    price: int
    done: list = field(default_factory=list)


class Ledger:
    def __init__(self):
        self.balance = 0
        self.entries = []

    def pay(self, amount, text):
        before = self.balance
        self.entries.append((amount, text))
        self.balance = before + amount


class Stock:
    def __init__(self, items):
        self.items = dict(items)
        self.lock = threading.Lock()
        self.reserved = Counter()

    def reserve(self, item, count):
        with self.lock:
            if self.items.get(item, 0) < count:
                return False
            self.items[item] -= count
            self.reserved[item] += count
            return True

    def release(self, item, count):
        with self.lock:
            self.reserved[item] -= count


class Journal:
    def __init__(self):
        self.lines = deque(maxlen=50)
        self.lock = threading.Lock()

    def note(self, text):
        with self.lock:
            self.lines.append(text)


ledger = Ledger()
stock = Stock({"nut": 5, "bolt": 5, "gear": 2})
journal = Journal()
incoming, packing, billing, shipping, closing = (queue.Queue() for _ in range(5))
shipped = 0


def rule_0(order):
    """Rule 0 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("n"):
        total += 0
    elif total > 10:
        total -= 0
    else:
        total = max(total, 0)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_1(order):
    """Rule 1 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("b"):
        total += 1
    elif total > 11:
        total -= 1
    else:
        total = max(total, 1)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_2(order):
    """Rule 2 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("g"):
        total += 2
    elif total > 12:
        total -= 2
    else:
        total = max(total, 2)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_3(order):
    """Rule 3 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("n"):
        total += 3
    elif total > 13:
        total -= 3
    else:
        total = max(total, 0)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_4(order):
    """Rule 4 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("b"):
        total += 4
    elif total > 14:
        total -= 0
    else:
        total = max(total, 1)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_5(order):
    """Rule 5 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("g"):
        total += 5
    elif total > 15:
        total -= 1
    else:
        total = max(total, 2)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_6(order):
    """Rule 6 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("n"):
        total += 6
    elif total > 16:
        total -= 2
    else:
        total = max(total, 0)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_7(order):
    """Rule 7 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("b"):
        total += 7
    elif total > 17:
        total -= 3
    else:
        total = max(total, 1)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_8(order):
    """Rule 8 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("g"):
        total += 8
    elif total > 18:
        total -= 0
    else:
        total = max(total, 2)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_9(order):
    """Rule 9 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("n"):
        total += 9
    elif total > 19:
        total -= 1
    else:
        total = max(total, 0)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_10(order):
    """Rule 10 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("b"):
        total += 10
    elif total > 20:
        total -= 2
    else:
        total = max(total, 1)
    if order.count > 1:
        total -= order.count // 2
    return total


def rule_11(order):
    """Rule 11 of the trade: what a price is worth."""
    total = order.price * order.count
    if order.item.startswith("g"):
        total += 11
    elif total > 21:
        total -= 3
    else:
        total = max(total, 2)
    if order.count > 1:
        total -= order.count // 2
    return total


RULES = [rule_0, rule_1, rule_2, rule_3, rule_4, rule_5, rule_6, rule_7, rule_8, rule_9, rule_10, rule_11]


def price_of(order):
    totals = [rule(order) for rule in RULES]
    return sorted(totals)[len(totals) // 2]


def intake(orders):
    for order in orders:
        journal.note(f"in {order.number}")
        incoming.put(order)
    incoming.put(None)


def stocker():
    while (order := incoming.get()) is not None:
        if stock.reserve(order.item, order.count):
            order.done.append("stocked")
            packing.put(order)
    packing.put(None)


def packer():
    while (order := packing.get()) is not None:
        order.done.append("packed")
        billing.put(order)
        journal.note(f"packed {order.number}")
    billing.put(None)


def biller():
    while (order := billing.get()) is not None:
        ledger.pay(price_of(order), f"order {order.number}")
        shipping.put(order)
    shipping.put(None)


def shipper():
    global shipped
    while (order := shipping.get()) is not None:
        stock.release(order.item, order.count)
        shipped += 1
    closing.put(None)


def refunder():
    ledger.pay(-1, "refund")
    journal.note("refund")


def main():
    orders = [Order(1, "nut", 1, 4), Order(2, "gear", 1, 7)]
    workers = [
        threading.Thread(target=intake, args=(orders,), name="intake"),
        threading.Thread(target=stocker, name="stocker"),
        threading.Thread(target=packer, name="packer"),
        threading.Thread(target=biller, name="biller"),
        threading.Thread(target=shipper, name="shipper"),
        threading.Thread(target=refunder, name="refunder"),
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
