# RIGHT: event then read
import trio
box = []
async def setter(e):
    box.append(1)
    e.set()
async def main():
    e = trio.Event()
    async with trio.open_nursery() as n:
        n.start_soon(setter, e)
        await e.wait()
        assert box == [1]
trio.run(main)
