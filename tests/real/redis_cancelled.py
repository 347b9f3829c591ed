# mypy: ignore-errors
"""A command of redis-py that is cancelled, and the one after it; the server is in the same process."""

from __future__ import annotations

import asyncio
import os
import sys

sys.path.insert(0, os.environ["REDIS"])
import redis.asyncio as redis


async def serve(reader, writer):
    values = {b"a": b"1", b"b": b"2"}
    while True:
        line = await reader.readline()
        if not line:
            break
        count = int(line[1:])
        words = []
        for _ in range(count):
            size = int((await reader.readline())[1:])
            words.append((await reader.readexactly(size + 2))[:-2])
        if words[0].upper() == b"GET":
            value = values[words[1]]
            writer.write(b"$%d\r\n%s\r\n" % (len(value), value))
        else:
            writer.write(b"+OK\r\n")
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 7777)
    client = redis.Redis(host="127.0.0.1", port=7777, single_connection_client=True)
    await client.initialize()
    task = asyncio.create_task(client.get("a"))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    assert await client.get("b") == b"2"
    await client.close()
    server.close()


asyncio.run(main())
