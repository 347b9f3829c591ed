# RIGHT: incr is one step
import asyncio
import fakeredis


async def add(client):
    await client.incr("n")


async def main():
    client = fakeredis.FakeAsyncRedis()
    await asyncio.gather(add(client), add(client))
    found = await client.get("n")
    await client.aclose()
    assert found == b"2", found


asyncio.run(main())
