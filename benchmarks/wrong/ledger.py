"""Transfers between accounts with a lock each, and an audit that adds them up one by one."""

import threading

ACCOUNTS, START = 4, 100


class Account:
    def __init__(self, number):
        self.number = number
        self.lock = threading.Lock()
        self.balance = START
        self.history = []

    def change(self, amount, why):
        with self.lock:
            self.balance += amount
            self.history.append((why, amount))

    def look(self):
        with self.lock:
            return self.balance


accounts = [Account(number) for number in range(ACCOUNTS)]
audits = []


def transfer(source, target, amount):
    """The money is on its way between the two changes, and in no account."""
    accounts[source].change(-amount, "to")
    accounts[target].change(amount, "from")


def audit():
    total = sum(account.look() for account in accounts)
    audits.append(total)


def clerk(first):
    for step in range(2):
        transfer((first + step) % ACCOUNTS, (first + step + 1) % ACCOUNTS, 10)


def auditor():
    audit()
    assert audits[-1] <= ACCOUNTS * START, f"money from nowhere: {audits[-1]}"


threads = [threading.Thread(target=clerk, args=(first,)) for first in (0, 1, 3)]
threads.append(threading.Thread(target=auditor))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sum(account.balance for account in accounts) == ACCOUNTS * START
