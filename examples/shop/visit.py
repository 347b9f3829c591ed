"""Visits to the shop, each with what must be true after it: `possibly explore visit.py cache [right]`.

The first argument says which visit; without a second one the mistake of that name is in the shop.
"""

import asyncio
import sys

VISIT = sys.argv[1]
if "right" in sys.argv[2:]:
    del sys.argv[1]

from shop.app import Shop, application, client_of  # noqa: E402
from shop.services import Bank, Supplier  # noqa: E402
from shop.store import Store  # noqa: E402


async def cache(shop, supplier, bank, visitor):
    """A price changes while somebody looks at it: who looks later sees the new one."""

    async def change():
        await asyncio.sleep(0.1)
        supplier.prices["tea"] = 4
        await visitor.post("/prices/tea/changed")

    await asyncio.gather(visitor.get("/items/tea"), change())
    seen = (await visitor.get("/items/tea")).json()["price"]
    assert seen == 4, f"the price is 4, and the shop says {seen}"


async def cancellation(shop, supplier, bank, visitor):
    """A visitor loses patience: the piece is theirs and written down, or still there."""
    try:
        async with asyncio.timeout(0.2):
            await visitor.post("/orders", json={"customer": "ann", "item": "tea"})
    except TimeoutError:
        pass
    await shop.orders.settled()
    stock, orders = await shop.store.stock_of("tea"), await shop.store.orders_of("ann")
    assert stock + len(orders) == 1, f"{stock} in stock, {len(orders)} sold, of 1"


async def limit(shop, supplier, bank, visitor):
    """Two orders at once, where one is allowed: the other is refused, and both never run at the same time."""
    order = {"customer": "ann", "item": "tea"}
    replies = await asyncio.gather(visitor.post("/orders", json=order), visitor.post("/orders", json=order))
    codes = sorted(reply.status_code for reply in replies)
    assert codes in ([200, 409], [200, 429]), codes


async def main():
    store = await Store.open()
    supplier, bank = Supplier(tea=3), Bank(ann=10)
    try:
        await store.add_item("tea", 1)
        async with (
            client_of(supplier.application(), "supplier") as prices,
            client_of(bank.application(), "bank") as money,
        ):
            shop = Shop(store, prices, money)
            async with client_of(application(shop), "shop") as visitor:
                await globals()[VISIT](shop, supplier, bank, visitor)
    finally:
        await store.close()


asyncio.run(main())
