# WRONG: start_soon does not wait for the server to be ready; start would
import trio

ready = False


async def serve():
    global ready
    await trio.sleep(0)
    ready = True


async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        await trio.sleep(0.01)
        assert ready


trio.run(main)
