"""An order: a piece is taken from the stock, paid for, and written down; or all is as before."""

import asyncio

from shop import planted


class NotPaid(Exception):
    """The bank has refused."""


class Orders:
    def __init__(self, store, prices, limit, bank):
        self.store = store
        self.prices = prices
        self.limit = limit
        self.bank = bank
        self.under_way = set()

    async def place(self, customer, item):
        async with self.limit.one_more(customer):
            price = await self.prices.of(item)
            if planted.has("cancellation"):
                return await self._fulfil(customer, item, price)
            return await self._whole(self._fulfil(customer, item, price))

    async def _whole(self, steps):
        """The visitor may leave; what was begun is done to its end all the same."""
        task = asyncio.create_task(steps, name="an order")
        self.under_way.add(task)
        task.add_done_callback(self.under_way.discard)
        return await asyncio.shield(task)

    async def settled(self):
        """When no order is half done."""
        while self.under_way:
            await asyncio.wait(self.under_way)

    async def _fulfil(self, customer, item, price):
        await self.store.take(item)
        try:
            await self._pay(customer, price)
        except NotPaid:
            await self.store.put_back(item)
            raise
        number = await self.store.write_order(item, customer, price, "paid")
        return {"number": number, "item": item, "price": price}

    async def _pay(self, customer, price):
        reply = await self.bank.post("/payments", json={"customer": customer, "amount": price})
        if reply.status_code != 200:
            raise NotPaid(customer)
