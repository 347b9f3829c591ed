"""Each execution of a random walk has a seed of its own, the same again for the same walk."""

from __future__ import annotations

from possibly.control.schedulers.random import RandomWalk


def test_seeds_differ_and_come_again() -> None:
    seeds = {
        number: [RandomWalk.plan(walk).seed for _ in range(20)]
        for number in range(5)
        for walk in [RandomWalk(number)]
    }
    assert len({seed for each in seeds.values() for seed in each}) == 100
    again = RandomWalk(3)
    assert [again.plan().seed for _ in range(20)] == seeds[3]
