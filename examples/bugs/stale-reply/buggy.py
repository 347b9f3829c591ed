"""Two searches are under way; the reply that comes last is shown, whichever question it answers."""

import asyncio

shown = None


async def search(question, delay):
    global shown
    await asyncio.sleep(delay)
    shown = f"results for {question}"


async def main():
    first = asyncio.create_task(search("ca", 0.01))
    second = asyncio.create_task(search("cat", 0.02))
    await asyncio.wait([first, second])
    assert shown == "results for cat", shown


asyncio.run(main())
