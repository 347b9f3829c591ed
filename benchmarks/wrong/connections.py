"""Tasks that share a connection and open it again when it broke: two of them do so at once."""

import asyncio


class Connection:
    opened = 0

    def __init__(self):
        Connection.opened += 1
        self.number = Connection.opened
        self.is_broken = False
        self.sent = []


class Client:
    def __init__(self):
        self.connection = None
        self.lock = asyncio.Lock()
        self.retries = 0

    async def connect(self):
        if self.connection is None or self.connection.is_broken:
            async with self.lock:
                await asyncio.sleep(0)
                self.connection = Connection()
        return self.connection

    async def send(self, message):
        connection = await self.connect()
        if connection.is_broken:
            self.retries += 1
            connection = await self.connect()
        connection.sent.append(message)


async def user(client, number):
    for each in range(2):
        await client.send((number, each))
        await asyncio.sleep(0)


async def breaker(client):
    await asyncio.sleep(0)
    if client.connection is not None:
        client.connection.is_broken = True


async def main():
    client = Client()
    await client.connect()
    await asyncio.gather(*(user(client, number) for number in range(3)), breaker(client))
    assert Connection.opened <= 2, f"{Connection.opened} connections were opened"


asyncio.run(main())
