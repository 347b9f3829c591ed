"""Transfers between accounts: each locks its two accounts in the order in which they are named."""

import threading


class Account:
    def __init__(self, name, balance):
        self.name = name
        self.balance = balance
        self.lock = threading.Lock()
        self.history = []

    def book(self, amount, text):
        self.balance += amount
        self.history.append((amount, text))


class Bank:
    def __init__(self, names):
        self.accounts = {name: Account(name, 100) for name in names}
        self.statistics = {"transfers": 0, "refused": 0}
        self.statistics_lock = threading.Lock()

    def count(self, what):
        with self.statistics_lock:
            self.statistics[what] += 1

    def transfer(self, source, target, amount):
        giver, taker = self.accounts[source], self.accounts[target]
        with giver.lock:
            if giver.balance < amount:
                self.count("refused")
                return False
            with taker.lock:
                giver.book(-amount, f"to {target}")
                taker.book(amount, f"from {source}")
        self.count("transfers")
        return True

    def total(self):
        return sum(account.balance for account in self.accounts.values())


bank = Bank(["ann", "bob", "cid", "dan"])


def clerk(orders):
    for source, target, amount in orders:
        bank.transfer(source, target, amount)


ORDERS = [
    [("ann", "bob", 10), ("bob", "cid", 20)],
    [("bob", "cid", 5), ("cid", "dan", 200)],
    [("cid", "dan", 30), ("dan", "ann", 5)],
    [("dan", "ann", 15), ("ann", "cid", 1)],
]
threads = [threading.Thread(target=clerk, args=(orders,)) for orders in ORDERS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert bank.total() == 400
