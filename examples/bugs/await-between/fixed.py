"""Looking at the balance and taking the money happen under one lock."""

import asyncio

balance = 100


async def withdraw(amount, lock):
    global balance
    async with lock:
        if balance >= amount:
            await asyncio.sleep(0.01)  # asks the bank
            balance -= amount


async def main():
    lock = asyncio.Lock()
    await asyncio.gather(withdraw(80, lock), withdraw(80, lock))
    assert balance >= 0, balance


asyncio.run(main())
