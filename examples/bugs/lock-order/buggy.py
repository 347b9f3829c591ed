"""Two transfers in opposite directions take the same two locks in opposite orders."""

import threading


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.lock = threading.Lock()


def transfer(source, target, amount):
    with source.lock, target.lock:
        source.balance -= amount
        target.balance += amount


savings, current = Account(100), Account(100)
there = threading.Thread(target=transfer, args=(savings, current, 10), name="there")
back = threading.Thread(target=transfer, args=(current, savings, 20), name="back")
there.start()
back.start()
there.join()
back.join()
assert savings.balance + current.balance == 200
