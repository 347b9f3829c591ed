# WRONG: get and set in place of incr
import asyncio
import fakeredis


async def add(client):
    seen = int(await client.get("n") or 0)
    await client.set("n", seen + 1)


async def main():
    client = fakeredis.FakeAsyncRedis()
    await asyncio.gather(add(client), add(client))
    found = await client.get("n")
    await client.aclose()
    assert found == b"2", found


asyncio.run(main())
