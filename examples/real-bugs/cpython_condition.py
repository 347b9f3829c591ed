"""Two wait; the first is notified and cancelled at the same time, and the second is never told."""
# WRONG with CPython 3.11

import asyncio


async def main():
    condition = asyncio.Condition()

    async def wait():
        async with condition:
            await condition.wait()

    async def notify():
        await asyncio.sleep(0.1)
        async with condition:
            condition.notify()

    async def leave():
        await asyncio.sleep(0.1)
        first.cancel()

    first, second = asyncio.create_task(wait()), asyncio.create_task(wait())
    await asyncio.gather(notify(), leave())
    await asyncio.wait([first])
    if first.cancelled():
        await second


asyncio.run(main())
