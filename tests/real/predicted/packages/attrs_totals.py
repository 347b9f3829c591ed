"""A class of attrs whose total two threads add to: what one adds is lost if the other reads in between."""

import threading
import time

import attrs


@attrs.define
class Totals:
    amount: int = 0

    def add(self, value):
        self.amount = self.amount + value


totals = Totals()
threads = [threading.Thread(target=totals.add, args=(value,), name=f"add{value}") for value in (1, 2)]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
