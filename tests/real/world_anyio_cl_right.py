# RIGHT: anyio.Lock
import anyio
n = 0
async def add(lock):
    global n
    async with lock:
        x = n
        await anyio.sleep(0.01)
        n = x + 1
async def main():
    lock = anyio.Lock()
    async with anyio.create_task_group() as tg:
        tg.start_soon(add, lock); tg.start_soon(add, lock)
    assert n == 2, n
anyio.run(main)
