import threading
import time


class Account:
    def __init__(self, name, balance):
        self.name = name
        self.balance = balance
        self.lock = threading.Lock()


def transfer(source, target, amount):
    with source.lock, target.lock:
        source.balance -= amount
        target.balance += amount


savings, wages = Account("savings", 100), Account("wages", 50)
first = threading.Thread(target=transfer, args=(savings, wages, 10), name="rent")
second = threading.Thread(target=transfer, args=(wages, savings, 5), name="salary")
first.start()
time.sleep(0.5)  # so that all goes well
second.start()
first.join()
second.join()
