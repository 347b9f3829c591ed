"""A reply is shown only if no newer question was asked meanwhile."""

import asyncio

shown = None
newest = 0


async def search(number, question, delay):
    global shown
    await asyncio.sleep(delay)
    if number == newest:
        shown = f"results for {question}"


async def main():
    global newest
    newest = 1
    first = asyncio.create_task(search(1, "ca", 0.01))
    newest = 2
    second = asyncio.create_task(search(2, "cat", 0.02))
    await asyncio.wait([first, second])
    assert shown == "results for cat", shown


asyncio.run(main())
