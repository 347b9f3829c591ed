# RIGHT: the counter changes in one turn
import asyncio
import httpx
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

visits = {"home": 0}


async def home(request):
    await asyncio.sleep(0.001)
    visits["home"] += 1
    return PlainTextResponse("ok")


app = Starlette(routes=[Route("/", home)])


async def main():
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://t") as client:
        await asyncio.gather(client.get("/"), client.get("/"))
    assert visits["home"] == 2, visits


asyncio.run(main())
