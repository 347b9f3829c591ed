"""A feed whose readers are cancelled when they are slow: an item that was taken is lost with its reader."""

import asyncio


class Feed:
    def __init__(self):
        self.queue = asyncio.Queue()
        self.handled = []
        self.lost = 0

    async def reader(self):
        while True:
            item = await self.queue.get()
            await self.handle(item)

    async def handle(self, item):
        await asyncio.sleep(0)
        self.handled.append(item)
        self.queue.task_done()


async def producer(feed, count):
    for number in range(count):
        await feed.queue.put(number)
        await asyncio.sleep(0)


async def supervisor(feed, readers):
    await asyncio.sleep(0)
    readers[0].cancel()
    await asyncio.gather(readers[0], return_exceptions=True)


async def main():
    feed = Feed()
    readers = [asyncio.create_task(feed.reader()) for _ in range(2)]
    await asyncio.gather(producer(feed, 3), supervisor(feed, readers))
    await feed.queue.join()
    readers[1].cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    assert sorted(feed.handled) == [0, 1, 2], feed.handled


asyncio.run(main())
