"""A bounded buffer as a ring: one producer, one consumer, two semaphores."""

# ruff: noqa: N802
from possibly.models.words import process, wait

SIZE = 3
ring = [0] * SIZE
free = SIZE
filled = 0
consumed = 0


@process
def Producer():
    global free, filled
    put = 0
    item = 0
    while True:
        wait(free > 0)  #: claim
        free -= 1  #: claimed
        item = (item + 1) % 4  #: make
        ring[put] = item  #: put
        put = (put + 1) % SIZE
        filled += 1  #: publish


@process
def Consumer():
    global free, filled, consumed
    take = 0
    while True:
        wait(filled > 0)  #: await
        filled -= 1  #: taken
        assert ring[take] == (consumed + 1) % 4  #: check
        consumed = ring[take]  #: take
        take = (take + 1) % SIZE
        free += 1  #: release
