# WRONG: a cache that is filled twice: the price is fetched once for each request that finds it empty
import asyncio
import httpx
from fastapi import FastAPI

app = FastAPI()
prices, fetched = {}, []


async def fetch(item):
    fetched.append(item)
    await asyncio.sleep(0.01)
    return 7


@app.get("/price/{item}")
async def price(item: str):
    if item not in prices:
        prices[item] = await fetch(item)
    return {"price": prices[item]}


async def main():
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://t") as client:
        await asyncio.gather(client.get("/price/tea"), client.get("/price/tea"))
    assert fetched == ["tea"], fetched


asyncio.run(main())
