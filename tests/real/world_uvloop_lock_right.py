# RIGHT: a lock around read, await and write
import asyncio
import uvloop

total = 0


async def add(lock):
    global total
    async with lock:
        seen = total
        await asyncio.sleep(0)
        total = seen + 1


async def main():
    lock = asyncio.Lock()
    await asyncio.gather(add(lock), add(lock), add(lock))
    assert total == 3


uvloop.run(main())
