"""The direct order between processes: both ways to find it, on random runs with all that orders events."""

from __future__ import annotations

import os
from array import array
from random import Random

import pytest

from possibly.order.compiled import edge_kernel
from possibly.order.edges import direct_edges
from possibly.records import replace
from possibly.trace.model import Trace
from tests.generate import random_trace
from tests.twins import needs_kernels, plain

CASES = 400 * int(os.environ.get("POSSIBLY_CASES", "1"))


@needs_kernels
@pytest.mark.parametrize("wide", [False, True], ids=["columns", "numbers"])
def test_both_find_the_same_edges(wide: bool) -> None:
    """Messages, `after`, conflicts, joint events and added pairs, in columns as they are and as lists."""
    found = 0
    for seed in range(CASES):
        random = Random(seed)
        trace = with_accesses(random, random_trace(random, random.randint(0, 40)))
        if wide:
            trace = replace(trace, process=list(trace.process))
        places = range(len(trace))
        drawn = [sorted(random.sample(places, 2)) for _ in range(random.randint(0, 3)) if len(places) > 1]
        extra = [(first, second) for first, second in drawn]
        joint = {first: (first, second) for first, second in extra[:1]}
        joint |= {second: both for both in joint.values() for second in both[1:]}
        for order in ("causal", "sync"):
            made = direct_edges(trace, order, joint, extra)
            with plain():
                assert [list(column) for column in made] == [
                    list(column) for column in direct_edges(trace, order, joint, extra)
                ]
            found += len(made[0])
    assert found > CASES


def with_accesses(random: Random, trace: Trace) -> Trace:
    """The same events that also read and write a few variables."""

    def drawn() -> tuple[array[int], array[int]]:
        start, names = array("i", [0]), array("i")
        for _ in range(len(trace)):
            names.extend(random.sample(range(3), random.choice((0, 0, 1, 1, 2))))
            start.append(len(names))
        return start, names

    (read_start, read), (write_start, written) = drawn(), drawn()
    return replace(
        trace,
        strings=[*trace.strings, "x", "y", "z"],
        read_start=read_start,
        read_variable=read,
        write_start=write_start,
        write_variable=written,
        write_value=array("i", bytes(4 * len(written))),
    )


@needs_kernels
def test_edges_of_what_is_not_there_are_an_error() -> None:
    kernel = edge_kernel()
    assert kernel is not None
    process, none = array("b", [0, 1]), array("i")
    for columns in (
        (array("i", [5]), array("i", [1]), None, none, None, none, None, none),
        (array("i", [0]), array("i", [7]), None, none, None, none, None, none),
        (none, none, array("i", [0, 0, 1]), array("i", [9]), None, none, None, none),
        (none, none, array("i", [0, 0, 3]), array("i", [0]), None, none, None, none),
        (none, none, None, none, None, none, array("i", [0, 0, 1]), array("i", [4])),
        (none, none, None, none, array("i", [0, 1, 1]), array("i", [-2]), array("i", [0, 0, 0]), none),
    ):
        with pytest.raises(IndexError):
            kernel.edges(2, b"", process, *columns)
