"""The arrangement by process: against its meaning, and the compiled twin against the plain one."""

from __future__ import annotations

import os
from contextlib import nullcontext
from random import Random
from typing import Any

import pytest

from possibly.trace.index import Assignments, Course, Links, code_for, courses, linked
from possibly.trace.model import NONE, Trace
from tests.generate import random_trace
from tests.twins import needs_kernels, plain

CASES = 300 * int(os.environ.get("POSSIBLY_CASES", "1"))


def arranged(trace: Trace) -> list[Any]:
    """Everything that is arranged, computed anew."""
    fresh = Trace(**{name: trace.__dict__[name] for name in Trace.__record_fields__})  # type: ignore[attr-defined]
    chains = [list(chain) for chain in fresh.events_of]
    links = [
        (list(found.start), list(found.position), list(found.end), found.end.typecode, found.shift)  # type: ignore[attr-defined]
        for found in (fresh.receives, fresh.sends)
    ]
    values = {key: (course.position and list(course.position), list(course.number)) for key, course in
              fresh.courses.items()}  # fmt: skip
    return [list(fresh.lengths), list(fresh.position), chains, links, values]


@needs_kernels
def test_the_twins_arrange_alike() -> None:
    for seed in range(CASES):
        random = Random(seed)
        trace = random_trace(random, random.randint(0, 30))
        compiled = arranged(trace)
        with plain():
            assert arranged(trace) == compiled, seed


@pytest.mark.parametrize("twin", [nullcontext, plain])
def test_links_are_the_messages_between_processes(twin: Any) -> None:
    with twin():
        for seed in range(CASES // 3):
            trace = random_trace(Random(seed), 20)
            expected = sorted(
                ((trace.process[b], trace.position[b]), (trace.process[a], trace.position[a]))
                for a, b in zip(trace.delivery_send, trace.delivery_receive, strict=True)
                if b != NONE and trace.process[a] != trace.process[b]
            )
            assert _pairs(trace.receives) == expected
            assert _pairs(trace.sends) == sorted((b, a) for a, b in expected)


def _pairs(links: Links) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return [((p, near), far) for p in range(len(links.start) - 1) for near, far in links.of(p)]


@pytest.mark.parametrize("twin", [nullcontext, plain])
def test_courses_give_the_value_after_each_event(twin: Any) -> None:
    with twin():
        for seed in range(CASES // 3):
            trace = random_trace(Random(seed), 25)
            for process in range(len(trace.processes)):
                now, expected = NONE, []
                for event in trace.events_of[process]:
                    for name, value in trace.sets(event):
                        now = trace.values.index(value) if name == "x" else now
                    expected.append(now)
                number = trace.course_numbers.get((process, "x"))
                found = [] if number is None else _numbers(trace.courses[process, number], len(expected))
                assert found == (expected if number is not None else [])


def _numbers(course: Course, length: int) -> list[int]:
    if course.position is None:
        return list(course.number)
    found = [NONE] * length
    for position, number in zip(course.position, course.number, strict=True):
        found[position - 1 :] = [number] * (length - position + 1)
    return found


def test_a_rarely_set_variable_is_sparse() -> None:
    process = [0] * 100
    start = [0] * 50 + [1] * 51
    columns = Assignments(process, start, [7], [3])
    with plain():
        found = courses(columns, 1, 4)
    assert found == {(0, 7): Course(found[0, 7].position, found[0, 7].number)}
    assert list(found[0, 7].position or ()) == [50]
    assert list(found[0, 7].number) == [3]


def test_ends_take_64_bits_where_32_do_not_suffice() -> None:
    assert code_for(20, 1 << 12) == "I"
    assert code_for(20, (1 << 12) + 1) == "Q"
    links = linked([((0, 5), (4096, 9))], 4097, 20)
    assert list(links.of(0)) == [(5, (4096, 9))]
