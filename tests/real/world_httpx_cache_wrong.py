# WRONG: cache stampede with httpx over ASGI (starlette): fetched twice
import asyncio, httpx
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
hits = 0
async def price(request):
    global hits
    hits += 1
    await asyncio.sleep(0.001)
    return PlainTextResponse("7")
app = Starlette(routes=[Route("/price", price)])
cache = {}
async def get(client, key):
    if key not in cache:
        r = await client.get("/price")
        cache[key] = r.text
    return cache[key]
async def main():
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://x") as c:
        async def late():
            await asyncio.sleep(0.5)
            return await get(c, "a")
        await asyncio.gather(get(c, "a"), late())
    assert hits == 1, hits
asyncio.run(main())
