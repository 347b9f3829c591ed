"""cached_property.threaded_cached_property holds a lock while it computes; two that ask for each other."""

import threading
import time

from cached_property import threaded_cached_property


class Order:
    customer = None

    @threaded_cached_property
    def total(self):
        return 1 if self.customer is None else self.customer.rebate + 1


class Customer:
    order = None

    @threaded_cached_property
    def rebate(self):
        return 1 if self.order is None else self.order.total + 1


order, customer = Order(), Customer()
order.customer, customer.order = Customer(), Order()


def total():
    order.total


def rebate():
    customer.rebate


threads = [threading.Thread(target=total, name="total"), threading.Thread(target=rebate, name="rebate")]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
