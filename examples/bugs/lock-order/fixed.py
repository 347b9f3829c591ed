"""Two transfers in opposite directions take the locks in one order, that of the accounts' numbers."""

import threading


class Account:
    def __init__(self, number, balance):
        self.number = number
        self.balance = balance
        self.lock = threading.Lock()


def transfer(source, target, amount):
    first, second = sorted((source, target), key=lambda account: account.number)
    with first.lock, second.lock:
        source.balance -= amount
        target.balance += amount


savings, current = Account(1, 100), Account(2, 100)
there = threading.Thread(target=transfer, args=(savings, current, 10), name="there")
back = threading.Thread(target=transfer, args=(current, savings, 20), name="back")
there.start()
back.start()
there.join()
back.join()
assert savings.balance + current.balance == 200
