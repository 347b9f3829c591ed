# WRONG: the reply that comes after the time-out is taken by the next request
import trio
async def server(ask, answer):
    async for x in ask:
        await trio.sleep(0.5)
        await answer.send(x)
async def main():
    a_s, a_r = trio.open_memory_channel(2); b_s, b_r = trio.open_memory_channel(2)
    async with trio.open_nursery() as n:
        n.start_soon(server, a_r, b_s)
        await a_s.send(1)
        with trio.move_on_after(0.6):
            await b_r.receive()
        await a_s.send(2)
        got = await b_r.receive()
        n.cancel_scope.cancel()
    assert got == 2, got
trio.run(main)
