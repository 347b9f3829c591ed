# WRONG: anyio task group, read checkpoint write
import anyio
n = 0
async def add():
    global n
    x = n
    await anyio.sleep(0)
    n = x + 1
async def main():
    async with anyio.create_task_group() as tg:
        tg.start_soon(add); tg.start_soon(add)
    assert n == 2, n
anyio.run(main)
