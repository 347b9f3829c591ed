# WRONG: cancelled between debit and credit
import trio
a, b = 10, 0
async def move():
    global a, b
    a -= 5
    await trio.sleep(0.1)
    b += 5
async def main():
    async with trio.open_nursery() as n:
        n.start_soon(move)
        await trio.sleep(0.05)
        n.cancel_scope.cancel()
    assert a + b == 10, (a, b)
trio.run(main)
