"""Reservations of several goods at once, taken back if one is missing: what is taken back may be too much."""

import threading


class Shelf:
    def __init__(self, goods):
        self.goods = dict(goods)
        self.locks = {name: threading.Lock() for name in goods}

    def take(self, name, count):
        with self.locks[name]:
            if self.goods[name] < count:
                return False
            self.goods[name] -= count
            return True

    def give(self, name, count):
        there = self.goods[name]
        with self.locks[name]:
            self.goods[name] = there + count


shelf = Shelf({"bolt": 4, "nut": 4, "gear": 1})
sold = []


def order(number, wanted):
    taken = []
    for name, count in wanted.items():
        if not shelf.take(name, count):
            for back, amount in taken:
                shelf.give(back, amount)
            return
        taken.append((name, count))
    sold.append(number)


ORDERS = [{"bolt": 1, "nut": 1, "gear": 1}, {"nut": 1, "bolt": 2, "gear": 1}, {"bolt": 1, "nut": 1}]
threads = [threading.Thread(target=order, args=(number, each)) for number, each in enumerate(ORDERS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for name, count in {"bolt": 4, "nut": 4, "gear": 1}.items():
    gone = sum(ORDERS[number].get(name, 0) for number in sold)
    assert shelf.goods[name] + gone == count, f"{name}: {shelf.goods[name]} left, {gone} sold"
