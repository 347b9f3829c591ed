# WRONG: a visit counter is read, the template is loaded, and the counter is written
import asyncio
import httpx
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

visits = {"home": 0}


async def home(request):
    seen = visits["home"]
    await asyncio.sleep(0.001)
    visits["home"] = seen + 1
    return PlainTextResponse(str(seen))


app = Starlette(routes=[Route("/", home)])


async def main():
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://t") as client:
        await asyncio.gather(client.get("/"), client.get("/"))
    assert visits["home"] == 2, visits


asyncio.run(main())
