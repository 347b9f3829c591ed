"""Dining philosophers who all take the left fork first: they can all starve at the table."""

# ruff: noqa: N802, PIE790
from possibly.models.words import atomic, process, wait

N = 5
fork = [True] * N


@process(N)
def Phil(i):
    while True:
        with atomic:
            wait(fork[i])
            fork[i] = False  #: left
        with atomic:
            wait(fork[(i + 1) % N])
            fork[(i + 1) % N] = False  #: right
        pass  #: eat
        fork[i] = True  #: put-left
        fork[(i + 1) % N] = True  #: put-right
