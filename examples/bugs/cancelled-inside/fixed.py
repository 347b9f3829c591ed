"""Whatever happens in the critical section, the token is given back."""

import asyncio

token = None


async def update():
    await token.get()
    try:
        await asyncio.sleep(0)  # writes half of a record
    finally:
        token.put_nowait("token")


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
