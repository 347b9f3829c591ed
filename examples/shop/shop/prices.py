"""Prices, which a supplier knows; what was asked is kept until the supplier says that it has changed."""

import asyncio

from shop import planted


class Prices:
    def __init__(self, supplier):
        self.supplier = supplier
        self.kept = {}
        self.asking = {}
        self.versions = {}

    async def of(self, item):
        if item in self.kept:
            return self.kept[item]
        if planted.has("cache"):
            price = await self._ask(item)
            self.kept[item] = price
            return price
        return await self._asked_once(item)

    async def _asked_once(self, item):
        """One question is under way at a time; its answer is kept only if nothing has changed meanwhile."""
        task = self.asking.get(item)
        if task is None:
            task = self.asking[item] = asyncio.create_task(self._ask_and_keep(item), name=f"asks for {item}")
        return await asyncio.shield(task)

    async def _ask_and_keep(self, item):
        version = self.versions.get(item, 0)
        try:
            price = await self._ask(item)
        finally:
            if self.asking.get(item) is asyncio.current_task():
                del self.asking[item]
        if self.versions.get(item, 0) == version:
            self.kept[item] = price
        return price

    async def _ask(self, item):
        reply = await self.supplier.get(f"/prices/{item}")
        reply.raise_for_status()
        return reply.json()["price"]

    def forget(self, item):
        """The supplier has a new price."""
        self.versions[item] = self.versions.get(item, 0) + 1
        self.asking.pop(item, None)
        self.kept.pop(item, None)
