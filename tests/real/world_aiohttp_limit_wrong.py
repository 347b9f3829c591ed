# WRONG: the limit of two requests is checked before an await and counted after it
import asyncio
import aiohttp
from aiohttp import web

active, most = 0, 0


async def handle(request):
    global active, most
    if active >= 1:
        return web.Response(status=429)
    await asyncio.sleep(0)
    active += 1
    most = max(most, active)
    await asyncio.sleep(0)
    active -= 1
    return web.Response(text="ok")


async def main():
    app = web.Application()
    app.router.add_get("/", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]

    async def ask():
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/") as answer:
            return answer.status

    await asyncio.gather(ask(), ask())
    await runner.cleanup()
    assert most <= 1, most


asyncio.run(main())
