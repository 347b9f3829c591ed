"""Tasks take two locks in both orders, and wait in between; in this run the second comes later."""

import asyncio


async def move(source, target, wait):
    await asyncio.sleep(wait)
    async with source:
        await asyncio.sleep(0.01)
        async with target:
            pass


async def main():
    rent, salary = asyncio.Lock(), asyncio.Lock()
    await asyncio.gather(move(rent, salary, 0), move(salary, rent, 0.3))


asyncio.run(main())
