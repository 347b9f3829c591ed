# WRONG: to_thread increments unlocked
import asyncio, time
n = 0
def add():
    global n
    x = n
    time.sleep(0.001)
    n = x + 1
async def main():
    await asyncio.gather(asyncio.to_thread(add), asyncio.to_thread(add))
    assert n == 2, n
asyncio.run(main())
