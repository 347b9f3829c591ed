"""Two tellers add to one balance; an update that falls between read and write is lost."""

import threading

balance = 0


def deposit(amount):
    global balance
    balance += amount


tellers = [threading.Thread(target=deposit, args=(10,), name=f"teller-{n}") for n in (1, 2)]
for teller in tellers:
    teller.start()
for teller in tellers:
    teller.join()
assert balance == 20, balance
