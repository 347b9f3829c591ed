# RIGHT: to_thread
import trio
def f(): return 3
async def main():
    assert await trio.to_thread.run_sync(f) == 3
trio.run(main)
