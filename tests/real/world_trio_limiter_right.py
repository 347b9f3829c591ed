# RIGHT: a limiter of one token guards what must not be done twice at a time
import trio

inside = 0


async def work(limiter):
    global inside
    async with limiter:
        inside += 1
        assert inside == 1
        await trio.sleep(0.01)
        inside -= 1


async def main():
    limiter = trio.CapacityLimiter(1)
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(work, limiter)


trio.run(main)
