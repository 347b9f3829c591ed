"""Two accounts with a lock each: a transfer takes that of its source first."""

import threading


class Wrong:
    """Transfers in both directions at once may wait for each other for ever."""

    def __init__(self):
        self.amounts = [10, 10]
        self.locks = [threading.Lock(), threading.Lock()]

    def transfer(self, source, target, amount):
        with self.locks[source], self.locks[target]:
            self.amounts[source] -= amount
            self.amounts[target] += amount

    def amount(self, account):
        with self.locks[account]:
            return self.amounts[account]


class Right(Wrong):
    """The locks are taken in one order, whatever the direction."""

    def transfer(self, source, target, amount):
        first, second = sorted((source, target))
        with self.locks[first], self.locks[second]:
            self.amounts[source] -= amount
            self.amounts[target] += amount


OPERATIONS = [("transfer", 0, 1, 5), ("transfer", 1, 0, 5), ("amount", 0)]
