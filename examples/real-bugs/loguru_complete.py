"""Two tasks wait until all of their messages are written, by a sink that is a coroutine."""
# WRONG with loguru==0.6.0, RIGHT with loguru==0.7.1

import asyncio

from loguru import logger


async def write(message):
    await asyncio.sleep(0)


async def work(number):
    logger.info("message {}", number)
    await logger.complete()


async def main():
    logger.remove()
    logger.add(write)
    await asyncio.gather(work(1), work(2))


asyncio.run(main())
