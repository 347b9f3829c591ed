"""The others: a supplier who knows prices, and a bank that takes money. Each takes some time to answer."""

import asyncio

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel


class Payment(BaseModel):
    customer: str
    amount: int


class Supplier:
    def __init__(self, **prices):
        self.prices = prices
        self.questions = 0

    def application(self):
        app = FastAPI()

        @app.get("/prices/{name}")
        async def price(name: str):
            self.questions += 1
            price = self.prices.get(name)
            await asyncio.sleep(0.1)
            if price is None:
                raise HTTPException(404)
            return {"price": price}

        return app


class Bank:
    def __init__(self, **accounts):
        self.accounts = accounts

    def application(self):
        app = FastAPI()

        @app.post("/payments")
        async def pay(payment: Payment):
            await asyncio.sleep(0.1)
            if self.accounts.get(payment.customer, 0) < payment.amount:
                raise HTTPException(402)
            self.accounts[payment.customer] -= payment.amount
            return {"paid": payment.amount}

        return app
