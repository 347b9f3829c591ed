"""One connection at a time: a worker asks twice, a visitor gives up just when it is their turn."""
# WRONG with aiohttp==3.10.10, RIGHT with aiohttp==3.10.11

import asyncio

import aiohttp
from aiohttp import web


async def answer(request):
    await asyncio.sleep(1)
    return web.Response(text="done")


async def ask(session, url):
    async with session.get(url) as response:
        return await response.text()


async def work(session, url):
    return [await ask(session, url), await ask(session, url)]


async def main():
    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as session:
        worker = asyncio.create_task(work(session, url))
        visitor = asyncio.create_task(asyncio.wait_for(ask(session, url), 1))
        await asyncio.wait([visitor])
        await asyncio.wait([worker], timeout=30)
        assert worker.done(), "the connection is free, and the worker waits for it"
    await runner.cleanup()


asyncio.run(main())
