# WRONG: a new event is made after it was waited for: who waits on the old one is never woken
import anyio

state = {"event": anyio.Event(), "items": []}


async def consume():
    while not state["items"]:
        await anyio.sleep(0)
        await state["event"].wait()


async def produce():
    await anyio.sleep(0.01)
    state["event"] = anyio.Event()
    state["items"].append(1)
    state["event"].set()


async def main():
    async with anyio.create_task_group() as group:
        group.start_soon(consume)
        group.start_soon(produce)


anyio.run(main)
