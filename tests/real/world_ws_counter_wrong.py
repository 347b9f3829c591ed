# WRONG: read-await-write in a websocket handler
import asyncio
from websockets.asyncio.server import serve
from websockets.asyncio.client import connect
count = 0
async def handler(ws):
    global count
    async for m in ws:
        now = count
        await asyncio.sleep(0.01)
        count = now + 1
        await ws.send("ok")
async def client(port):
    async with connect(f"ws://127.0.0.1:{port}") as ws:
        await ws.send("a")
        assert await ws.recv() == "ok"
async def main():
    async with serve(handler, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        await asyncio.gather(client(port), client(port))
    assert count == 2, count
asyncio.run(main())
