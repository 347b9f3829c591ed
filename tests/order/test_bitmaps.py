"""Bitmaps read like bytes; packing along a course equals evaluating at each state, in both twins."""

from __future__ import annotations

import os
from array import array
from contextlib import nullcontext
from random import Random

import pytest

from possibly.order.bitmaps import UNKNOWN, Bits, packed
from possibly.trace.index import Course
from possibly.trace.model import NONE
from tests.twins import needs_kernels, plain

CASES = 500 * int(os.environ.get("POSSIBLY_CASES", "1"))
SIZES = [0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 5000]


def truths(random: Random, length: int) -> bytes:
    share = random.choice([0.0, 0.01, 0.5, 0.99, 1.0])
    return bytes(random.random() < share for _ in range(length))


def test_bits_read_like_bytes() -> None:
    for seed in range(CASES):
        random = Random(seed)
        length = random.choice(SIZES)
        plain_bytes = truths(random, length)
        bits = Bits.of(plain_bytes)
        assert bits.truths() == bytes(bits) == plain_bytes
        assert len(bits) == length and bits.any() == any(plain_bytes)
        assert [bits[state] for state in range(min(length, 200))] == list(plain_bytes[:200])
        for _ in range(5):
            truth, start, end = random.randint(0, 1), random.randint(0, length), random.randint(0, length + 1)
            assert bits.find(truth, start) == plain_bytes.find(truth, start)
            assert bits.find(truth, start, end) == plain_bytes.find(truth, start, end)
            assert bits.rfind(truth) == plain_bytes.rfind(truth)
            assert bits.rfind(truth, start, end) == plain_bytes.rfind(truth, start, end)


def test_bits_combine() -> None:
    for seed in range(CASES):
        random = Random(seed)
        length = random.choice(SIZES[1:])
        one, two = truths(random, length), truths(random, length)
        assert Bits.of(one).negated().truths() == bytes(1 - truth for truth in one)
        assert Bits.of(one).both(Bits.of(two)).truths() == bytes(map(min, one, two))
        assert Bits.of(one).shifted().truths() == one[1:] + b"\0"
        assert Bits.of(Bits.of(one)) == Bits.of(one)
        assert (Bits.of(one) == Bits.of(two)) == (one == two)


def test_there_is_no_state_beyond_the_last() -> None:
    with pytest.raises(IndexError):
        Bits.of(b"\1\1")[2]


class Packing:
    """A course with a predicate of its values, some of them known."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.length = random.choice(SIZES)
        self.values = random.choice([1, 3, 100, 127, 128, 129, 300, 40_000])
        code = "b" if self.values <= 128 else "h" if self.values <= 1 << 15 else "i"
        few = [0, self.values // 2, self.values - 1]
        if random.random() < 0.5 or not self.length:
            numbers = [random.choice([*few, NONE]) for _ in range(self.length)]
            self.course = Course(None, array(code, numbers))
        else:
            places = sorted(random.sample(range(1, self.length + 1), random.randint(1, min(30, self.length))))
            self.course = Course(array("i", places), array(code, [random.choice(few) for _ in places]))
        self.first = random.random() < 0.5
        self.known = bytearray(
            number % 3 == 0 if random.random() < 0.5 else UNKNOWN for number in range(self.values)
        )
        self.asked: list[int] = []

    def evaluate(self, number: int) -> bool:
        self.asked.append(number)
        return number % 3 == 0

    def bits(self) -> tuple[Bits, bytearray, list[int]]:
        known = bytearray(self.known)
        self.asked = []
        bits = packed(self.course, self.length, known, self.first, self.evaluate)
        return bits, known, sorted(self.asked)

    def expected(self) -> bytes:
        found, now, position = [int(self.first)], NONE, 0
        changes = (
            dict(enumerate(self.course.number, start=1))
            if self.course.position is None
            else dict(zip(self.course.position, self.course.number, strict=True))
        )
        for position in range(1, self.length + 1):
            now = changes.get(position, now)
            found.append(int(self.first) if now == NONE else int(now % 3 == 0))
        return bytes(found)


def test_packing_equals_evaluating_at_each_state() -> None:
    for seed in range(CASES):
        case = Packing(seed)
        with plain():
            bits, _, asked = case.bits()
        assert bits.truths() == case.expected(), seed
        assert len(set(asked)) == len(asked), "a value is evaluated once"


@needs_kernels
def test_the_twins_pack_alike() -> None:
    for seed in range(CASES):
        case = Packing(seed)
        compiled = case.bits()
        with plain():
            assert case.bits() == compiled, seed


@pytest.mark.parametrize("number", [-2, 5, 100])
def test_a_number_that_is_no_value(number: int) -> None:
    for course in (Course(None, array("b", [number] * 4)), Course(array("i", [2]), array("b", [number]))):
        with pytest.raises(IndexError):
            packed(course, 4, bytearray(5), False, bool)
        with plain(), pytest.raises(IndexError):
            packed(course, 4, bytearray(5), False, bool)


@needs_kernels
def test_one_value_set_apart_packs_alike() -> None:
    """As == and != do, or none: the kernel takes eight states at a time, unless a number is no value."""
    for seed in range(CASES):
        random = Random(seed)
        values, length = random.choice([1, 2, 3, 5, 126, 127, 128]), random.choice(SIZES)
        numbers = [random.randrange(values) for _ in range(length)]
        if random.random() < 0.3:
            numbers[: random.randint(0, length)] = [NONE] * random.randint(0, 3)
        if random.random() < 0.1 and numbers:
            numbers[random.randrange(len(numbers))] = random.choice([min(values, 127), -2])
        truth = bytearray([random.randint(0, 1)]) * values
        truth[random.randrange(values)] ^= random.random() < 0.7
        course, first = Course(None, array("b", numbers)), random.random() < 0.5
        assert _packed(course, truth, first) == _packed(course, truth, first, slowly=True), seed


def _packed(course: Course, truth: bytearray, first: bool, slowly: bool = False) -> Bits | str:
    with plain() if slowly else nullcontext():
        try:
            return packed(course, len(course.number), bytearray(truth), first, bool)
        except IndexError:
            return "no value"
