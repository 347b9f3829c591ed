"""Between looking at the balance and taking the money the task waits, and others go on."""

import asyncio

balance = 100


async def withdraw(amount):
    global balance
    if balance >= amount:
        await asyncio.sleep(0.01)  # asks the bank
        balance -= amount


async def main():
    await asyncio.gather(withdraw(80), withdraw(80))
    assert balance >= 0, balance


asyncio.run(main())
