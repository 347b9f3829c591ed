"""A task waits for a lock, but not for long; the lock is handed to it just when it gives up."""
# WRONG with anyio==3.3.4, RIGHT with anyio==3.5.0

import anyio


async def main():
    lock = anyio.Lock()

    async def hold():
        async with lock:
            await anyio.sleep(1)

    async def try_for_a_second():
        with anyio.move_on_after(1):
            async with lock:
                pass

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hold)
        tasks.start_soon(try_for_a_second)
    assert not lock.statistics().locked, "nobody uses the lock, and nobody can have it"


anyio.run(main)
