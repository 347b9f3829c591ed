"""A group is cancelled from outside while one of its tasks fails: the cancellation is lost."""
# WRONG with CPython 3.11

import asyncio


async def main():
    went_on = []

    async def fail():
        await asyncio.sleep(0.1)
        raise ValueError

    async def outer():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
        except* ValueError:
            pass
        went_on.append("one")
        await asyncio.sleep(0)
        went_on.append("two")

    task = asyncio.create_task(outer())
    await asyncio.sleep(0.1)
    is_cancelled = task.cancel()
    await asyncio.wait([task])
    assert not is_cancelled or task.cancelled(), f"cancelled, and it went on: {went_on}"


asyncio.run(main())
