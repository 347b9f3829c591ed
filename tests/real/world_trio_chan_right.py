# RIGHT: trio memory channel
import trio
async def prod(s):
    async with s:
        for i in range(2): await s.send(i)
async def main():
    s, r = trio.open_memory_channel(0)
    got = []
    async with trio.open_nursery() as n:
        n.start_soon(prod, s)
        async for x in r: got.append(x)
    assert got == [0, 1]
trio.run(main)
