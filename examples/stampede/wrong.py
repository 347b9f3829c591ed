"""An asyncio cache stampede: every task that misses the cache loads the value again."""

import asyncio

cache = {}
loads = 0


async def load(key):
    global loads
    loads += 1
    await asyncio.sleep(0)
    return key.upper()


async def fetch(key):
    if key not in cache:
        cache[key] = await load(key)
    return cache[key]


async def client(delay):
    await asyncio.sleep(delay)
    return await fetch("a")


async def main():
    tasks = [asyncio.create_task(client(delay), name=f"client{delay:.2f}") for delay in (0, 0.05)]
    print(await asyncio.gather(*tasks))


if __name__ == "__main__":
    asyncio.run(main())
