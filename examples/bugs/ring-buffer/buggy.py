"""A ring buffer for one producer that two producers use: both write into the same place."""

import threading


class Ring:
    def __init__(self, size):
        self.places = [None] * size
        self.tail = 0

    def put(self, item):
        place = self.tail % len(self.places)
        self.places[place] = item
        self.tail += 1


ring = Ring(4)
producers = [threading.Thread(target=ring.put, args=(name,), name=name) for name in ("one", "two")]
for producer in producers:
    producer.start()
for producer in producers:
    producer.join()
assert sorted(item for item in ring.places if item) == ["one", "two"], ring.places
