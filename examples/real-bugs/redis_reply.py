"""A command is cancelled after it was sent; the next command must not get its reply."""
# WRONG with redis==4.5.1, RIGHT with redis==4.5.5

import asyncio

import redis.asyncio as redis

STORE = {b"ann": b"1", b"bob": b"2"}


async def serve(reader, writer):
    while line := await reader.readline():
        words = []
        for _ in range(int(line[1:])):
            length = int((await reader.readline())[1:])
            words.append((await reader.readexactly(length + 2))[:-2])
        if words[0] == b"GET":
            value = STORE[words[1]]
            writer.write(b"$%d\r\n%s\r\n" % (len(value), value))
        else:
            writer.write(b"+OK\r\n")
        await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = redis.Redis(port=port, single_connection_client=True)
    await client.ping()
    looking = asyncio.create_task(client.get("ann"), name="looking")
    await asyncio.sleep(0.05)  # the user closes the page a little later
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)
    answer = await client.get("bob")
    assert answer == b"2", f"bob sees what belongs to ann: {answer}"
    await client.close()
    server.close()


asyncio.run(main())
