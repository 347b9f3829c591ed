"""A bank: transfers lock both accounts, always in the same order."""

import threading


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.lock = threading.Lock()


ann = Account(100)
bob = Account(100)


def move(source, target, amount):
    source.balance -= amount
    target.balance += amount


def transfer(source, target, amount):
    first, second = sorted((source, target), key=id)
    with first.lock, second.lock:
        move(source, target, amount)


if __name__ == "__main__":
    threads = [
        threading.Thread(target=transfer, args=(ann, bob, 10), name="there"),
        threading.Thread(target=transfer, args=(bob, ann, 20), name="back"),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(ann.balance, bob.balance)
