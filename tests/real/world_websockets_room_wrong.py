# WRONG: the room is full for one, but two may look before either has entered
import asyncio
import websockets

room = []


async def handle(connection):
    if len(room) < 1:
        await connection.send("welcome")
        await asyncio.sleep(0)
        room.append(connection)
    else:
        await connection.send("full")


async def main():
    async with websockets.serve(handle, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]

        async def enter():
            async with websockets.connect(f"ws://127.0.0.1:{port}") as connection:
                return await connection.recv()

        answers = await asyncio.gather(enter(), enter())
    assert sorted(answers) == ["full", "welcome"], answers


asyncio.run(main())
