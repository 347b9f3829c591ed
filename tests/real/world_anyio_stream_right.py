# RIGHT: memory object stream between two tasks
import anyio
async def producer(s):
    async with s:
        for i in range(3):
            await s.send(i)
async def main():
    send, recv = anyio.create_memory_object_stream(1)
    got = []
    async with anyio.create_task_group() as tg:
        tg.start_soon(producer, send)
        async with recv:
            async for x in recv:
                got.append(x)
    assert got == [0, 1, 2], got
anyio.run(main)
