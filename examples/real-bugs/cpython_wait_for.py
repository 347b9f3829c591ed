"""A task is cancelled just when what it waits for is done: it goes on as if nobody had cancelled it."""
# WRONG with CPython 3.11

import asyncio


async def main():
    answer = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(asyncio.wait_for(answer, timeout=60))

    async def arrive():
        await asyncio.sleep(0.1)
        answer.set_result("here")

    async def leave():
        await asyncio.sleep(0.1)
        return task.cancel()

    _, is_cancelled = await asyncio.gather(arrive(), leave())
    await asyncio.wait([task])
    assert not is_cancelled or task.cancelled(), "cancelled, and it does not know"


asyncio.run(main())
