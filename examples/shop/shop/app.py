"""The application: its routes, and what it is made of."""

import httpx
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from shop.limits import Limit, TooMany
from shop.orders import NotPaid, Orders
from shop.prices import Prices
from shop.store import SoldOut, UnknownItem

REASONS = {SoldOut: 409, TooMany: 429, NotPaid: 402, UnknownItem: 404}


class Order(BaseModel):
    customer: str
    item: str


class Shop:
    """What the routes share."""

    def __init__(self, store, supplier, bank, most=1):
        self.store = store
        self.prices = Prices(supplier)
        self.orders = Orders(store, self.prices, Limit(most), bank)


def application(shop):
    app = FastAPI()

    @app.get("/items/{name}")
    async def item(name: str):
        try:
            stock, price = await shop.store.stock_of(name), await shop.prices.of(name)
            return {"name": name, "stock": stock, "price": price}
        except UnknownItem as error:
            raise HTTPException(404, str(error)) from error

    @app.post("/orders")
    async def order(order: Order):
        try:
            return await shop.orders.place(order.customer, order.item)
        except tuple(REASONS) as error:
            raise HTTPException(REASONS[type(error)], type(error).__name__) from error

    @app.get("/orders/{customer}")
    async def orders(customer: str):
        return await shop.store.orders_of(customer)

    @app.post("/prices/{name}/changed")
    async def changed(name: str):
        shop.prices.forget(name)
        return {"forgotten": name}

    return app


def client_of(app, name):
    """A client whose requests go to an application in the same process."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=f"http://{name}")
