"""How many orders of one customer may be under way at the same time."""

import asyncio
from contextlib import asynccontextmanager

from shop import planted


class TooMany(Exception):
    """The customer has as many orders under way as are allowed."""


class Limit:
    def __init__(self, most):
        self.most = most
        self.under_way = {}

    @asynccontextmanager
    async def one_more(self, customer):
        if self.under_way.get(customer, 0) >= self.most:
            raise TooMany(customer)
        if planted.has("limit"):
            await self._write_down(customer)
            self._count(customer, 1)
        else:
            self._count(customer, 1)
        try:
            if not planted.has("limit"):
                await self._write_down(customer)
            yield
        finally:
            self._count(customer, -1)

    async def _write_down(self, customer):
        """For the record of who orders when; stands for a call to a service that keeps it."""
        await asyncio.sleep(0)

    def _count(self, customer, change):
        number = self.under_way.get(customer, 0) + change
        assert number <= self.most, f"{customer} has {number} orders under way, {self.most} are allowed"
        if number:
            self.under_way[customer] = number
        else:
            self.under_way.pop(customer, None)
