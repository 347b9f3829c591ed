"""Two tellers add to one balance, one at a time."""

import threading

balance = 0
guard = threading.Lock()


def deposit(amount):
    global balance
    with guard:
        balance += amount


tellers = [threading.Thread(target=deposit, args=(10,), name=f"teller-{n}") for n in (1, 2)]
for teller in tellers:
    teller.start()
for teller in tellers:
    teller.join()
assert balance == 20, balance
