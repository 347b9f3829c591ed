"""A task is cancelled in the middle of a critical section and never gives the token back."""

import asyncio

token = None


async def update():
    await token.get()
    await asyncio.sleep(0)  # writes half of a record
    await token.put("token")


async def main():
    global token
    token = asyncio.Queue()
    await token.put("token")
    task = asyncio.create_task(update())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert token.qsize() == 1, "the token is lost"


asyncio.run(main())
