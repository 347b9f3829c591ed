"""Tasks of an event loop that look at a balance, wait for the bank, and then take the money."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class Wallet:
    owner: str
    balance: int
    log: list = field(default_factory=list)


class Bank:
    def __init__(self):
        self.calls = 0

    async def approve(self, wallet, amount):
        self.calls += 1
        await asyncio.sleep(0)
        return amount <= 100


class Shop:
    def __init__(self, bank):
        self.bank = bank
        self.sales = []

    async def buy(self, wallet, what, price):
        if wallet.balance < price:
            wallet.log.append(("refused", what))
            return False
        if not await self.bank.approve(wallet, price):
            return False
        wallet.balance -= price
        wallet.log.append(("bought", what))
        self.sales.append((wallet.owner, what, price))
        return True


async def customer(shop, wallet, wishes):
    for what, price in wishes:
        await shop.buy(wallet, what, price)


async def main():
    shop, wallet = Shop(Bank()), Wallet("ann", 100)
    family = [[("book", 30), ("pen", 5)], [("lamp", 40)], [("chair", 50)]]
    await asyncio.gather(*(customer(shop, wallet, wishes) for wishes in family))
    assert wallet.balance >= 0, f"{wallet.owner} has {wallet.balance}"


asyncio.run(main())
