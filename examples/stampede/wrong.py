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


async def client(turns):
    for _ in range(turns):  # what the client does before it needs the value
        await asyncio.sleep(0)
    return await fetch("a")


async def main():
    early = asyncio.create_task(client(0), name="early")
    late = asyncio.create_task(client(5), name="late")
    print(await early, await late)


if __name__ == "__main__":
    asyncio.run(main())
