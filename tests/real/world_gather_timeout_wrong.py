# WRONG: the reply comes after the time-out, and is taken for the next one's
import asyncio


async def server(requests, replies):
    while (request := await requests.get()) is not None:
        await asyncio.sleep(0.9)
        await replies.put(request)


async def ask(requests, replies, what):
    await requests.put(what)
    return await asyncio.wait_for(replies.get(), 1)


async def main():
    requests, replies = asyncio.Queue(), asyncio.Queue()
    task = asyncio.create_task(server(requests, replies))
    try:
        await ask(requests, replies, "a")
    except asyncio.TimeoutError:
        pass
    answer = await ask(requests, replies, "b")
    await requests.put(None)
    await task
    assert answer == "b", answer


asyncio.run(main())
