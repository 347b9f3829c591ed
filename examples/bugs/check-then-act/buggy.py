"""The last seat is sold twice: each buyer looks first and takes it later."""

import threading


class Flight:
    def __init__(self, seats):
        self.seats = seats
        self.sold = []

    def book(self, buyer):
        if self.seats > 0:
            self.seats -= 1
            self.sold.append(buyer)


flight = Flight(1)
buyers = [threading.Thread(target=flight.book, args=(name,), name=name) for name in ("Ada", "Bob")]
for buyer in buyers:
    buyer.start()
for buyer in buyers:
    buyer.join()
assert len(flight.sold) == 1, flight.sold
