"""Dining philosophers who take the fork of the smaller number first: nobody starves at the table."""

# ruff: noqa: N802, PIE790
from possibly.models.words import atomic, process, wait

N = 5
fork = [True] * N


def take(number):
    with atomic:
        wait(fork[number])
        fork[number] = False


@process(N)
def Phil(i):
    while True:
        take(min(i, (i + 1) % N))
        take(max(i, (i + 1) % N))
        pass  #: eat
        fork[i] = True  #: put-left
        fork[(i + 1) % N] = True  #: put-right
