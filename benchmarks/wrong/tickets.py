"""Seats are held, paid and given back: a sweeper takes back a hold that is being paid."""

import threading


class Theatre:
    def __init__(self, seats):
        self.lock = threading.Lock()
        self.free = set(range(seats))
        self.held = {}
        self.sold = {}

    def hold(self, person):
        with self.lock:
            if not self.free:
                return None
            seat = min(self.free)
            self.free.discard(seat)
            self.held[seat] = person
            return seat

    def pay(self, person, seat):
        with self.lock:
            if self.held.get(seat) != person:
                return False
        return self.charge(person, seat)

    def charge(self, person, seat):
        with self.lock:
            self.held.pop(seat, None)
            assert seat not in self.sold, f"seat {seat} is sold twice"
            self.sold[seat] = person
            return True

    def sweep(self):
        with self.lock:
            for seat in list(self.held):
                del self.held[seat]
                self.free.add(seat)


theatre = Theatre(2)


def visitor(name):
    seat = theatre.hold(name)
    if seat is not None:
        theatre.pay(name, seat)


threads = [threading.Thread(target=visitor, args=(name,)) for name in ("ann", "bob", "cid")]
threads.append(threading.Thread(target=theatre.sweep))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
