# WRONG: move_on_after cancels between debit and credit
import anyio
a, b = 10, 0
async def move():
    global a, b
    a -= 5
    await anyio.sleep(0.1)
    b += 5
async def main():
    with anyio.move_on_after(0.5):
        await move()
        await anyio.sleep(1)
    with anyio.move_on_after(0.2):
        await move()
    assert a + b == 10, (a, b)
anyio.run(main)
