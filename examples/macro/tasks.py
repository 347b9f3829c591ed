"""The same producer, buffer and consumer as tasks of asyncio.

possibly explore --macro examples/macro/tasks.py [right|lossy|stuck] [ITEMS] [CAPACITY]
"""

import asyncio

from threads import CAPACITY, ITEMS, VARIANT, accepted, empty, no_lost_message  # noqa: F401

import possibly


async def producer(inbox, room):
    await asyncio.sleep(0)  # who comes first is open: else it would be the one that was started first
    count = 0
    while count < ITEMS:
        if VARIANT != "lossy":
            await room.get()
        count += 1
        await inbox.put(count)


async def consumer(inbox, output, room, wanted):
    await asyncio.sleep(0)
    received = []
    while len(received) < wanted:
        await inbox.put(None)
        received.append(await output.get())
        await room.put("room")


async def buffer(inbox, output, wanted):
    items, requests = [], 0
    for _ in range(ITEMS + wanted):
        items, requests = accepted(await inbox.get(), items, requests)
        if items and requests:
            requests -= 1
            await output.put(items.pop(0))


async def main():
    inbox, output, room = asyncio.Queue(), asyncio.Queue(), asyncio.Queue()
    for _ in range(CAPACITY):
        await room.put("room")
    wanted = ITEMS - 1 if VARIANT == "stuck" else ITEMS
    workers = [
        asyncio.create_task(producer(inbox, room), name="Producer"),
        asyncio.create_task(buffer(inbox, output, wanted), name="Buffer"),
        asyncio.create_task(consumer(inbox, output, room, wanted), name="Consumer"),
    ]
    possibly.claim("G(no_lost_message) & G(!empty -> F empty)")
    await asyncio.gather(*workers)


if __name__ == "__main__":
    asyncio.run(main())
