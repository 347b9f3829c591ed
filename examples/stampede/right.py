"""The cache with a lock around looking and loading: a value is loaded once."""

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


async def client(delay, lock):
    await asyncio.sleep(delay)
    async with lock:
        return await fetch("a")


async def main():
    lock = asyncio.Lock()
    tasks = [asyncio.create_task(client(delay, lock), name=f"client{delay:.2f}") for delay in (0, 0.05)]
    print(await asyncio.gather(*tasks))


if __name__ == "__main__":
    asyncio.run(main())
