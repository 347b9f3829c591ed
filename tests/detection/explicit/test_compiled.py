"""The compiled rows against their plain twin: every operation, also on rows of more than 64 cuts."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.explicit.compiled import CompiledRows, algebra, kernels
from possibly.detection.explicit.laws import LAWS
from possibly.detection.explicit.rowsets import PlainRows, Set
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace

needs_kernels = pytest.mark.skipif(kernels() is None, reason="no C compiler was there at installation")


def long_trace(random: Random) -> Trace:
    """Two to four processes, one of them of up to 300 events, or up to six short ones; with messages."""
    builder = TraceBuilder()
    lengths = [random.randint(0, 6) for _ in range(random.randint(1, 3))] + [random.randint(1, 300)]
    if random.random() < 0.4:
        lengths = [random.randint(0, 4) for _ in range(random.randint(2, 6))]
    builder.header(processes=[(f"P{i}", {}) for i in range(len(lengths))])
    left = {f"P{i}": length for i, length in enumerate(lengths) if length}
    pending: list[tuple[str, str]] = []
    number = 0
    while left:
        process = random.choice(list(left))
        left[process] -= 1
        if not left[process]:
            del left[process]
        receivable = [message for message in pending if message[1] == process]
        if receivable and random.random() < 0.5:
            pending.remove(receivable[0])
            builder.add(process, kind="receive", msg=receivable[0][0])
        elif random.random() < 0.2:
            number += 1
            to = f"P{random.randrange(len(lengths))}"
            builder.add(process, kind="send", msg=f"m{number}", to=to)
            pending.append((f"m{number}", to))
        else:
            builder.add(process)
    return builder.finish()


def ignore(cuts: int) -> None:
    """A visitor that sets no limit."""


class Twins:
    """One lattice in both forms, and random sets of its cuts in both."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lattice = Lattice(Computation(long_trace(self.random)))
        self.plain = PlainRows(self.lattice, ignore)
        compiled = algebra(self.lattice, ignore)
        assert isinstance(compiled, CompiledRows)
        self.compiled = compiled
        self.cuts = list(self.lattice.lexical())

    def local(self) -> tuple[Set, Set]:
        process = self.random.randrange(len(self.lattice.computation.lengths))
        length = self.lattice.computation.lengths[process]
        table = bytearray(self.random.choice([0, 1, 1]) for _ in range(length + 1))
        return self.plain.local(process, table), self.compiled.local(process, table)

    def pair(self) -> tuple[Set, Set]:
        first, second = self.local(), self.local()
        operator = self.random.choice("&|^-")
        return (
            self.plain.combined(operator, first[0], second[0]),
            self.compiled.combined(operator, first[1], second[1]),
        )

    def assert_same(self, pair: tuple[Set, Set]) -> None:
        assert list(self.compiled.row_bits(pair[1])) == pair[0]
        for cut in self.random.sample(self.cuts, min(50, len(self.cuts))):
            assert self.plain.contains(pair[0], cut) == self.compiled.contains(pair[1], cut)


@needs_kernels
@pytest.mark.parametrize("seed", range(40))
def test_operations_agree(seed: int) -> None:
    twins = Twins(seed)
    assert twins.plain.cuts == twins.compiled.cuts == len(twins.cuts)
    twins.assert_same(twins.local())
    twins.assert_same(twins.pair())
    twins.assert_same((twins.plain.everything(), twins.compiled.everything()))
    twins.assert_same((twins.plain.nothing(), twins.compiled.nothing()))
    for law in LAWS.values():
        now, meanwhile = twins.pair(), twins.pair()
        values = (twins.plain.path(law, now[0], meanwhile[0]), twins.compiled.path(law, now[1], meanwhile[1]))
        twins.assert_same(values)
    cuts = twins.pair()
    for process in (None, *range(len(twins.lattice.computation.lengths))):
        twins.assert_same(
            (twins.plain.some_next(cuts[0], process), twins.compiled.some_next(cuts[1], process))
        )
    assert twins.plain.nearest(cuts[0]) == twins.compiled.nearest(cuts[1])


@needs_kernels
@pytest.mark.parametrize("largest", [1 << 26, 0])
@pytest.mark.parametrize("seed", range(10))
def test_predicates_on_several_processes_agree(
    seed: int, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("possibly.detection.explicit.compiled.LARGEST_MAP", largest)
    twins = Twins(seed)
    count = len(twins.lattice.computation.lengths)
    support = sorted(twins.random.sample(range(count), min(2, count)))

    def holds(cut: int) -> bool:
        counts = twins.lattice.unpack(cut)
        return sum(counts[process] for process in support) % 3 == 0

    twins.assert_same((twins.plain.several(support, holds), twins.compiled.several(support, holds)))


@needs_kernels
def test_predicates_are_evaluated_at_cuts_that_occur_only() -> None:
    lattice = Lattice(Computation(trace("P: send(m) a | Q: recv(m) b")))
    rows = algebra(lattice, ignore)
    seen: set[tuple[int, ...]] = set()

    def holds(cut: int) -> bool:
        seen.add(lattice.unpack(cut))
        return True

    rows.several([0, 1], holds)
    assert seen == set(lattice.lexical())


@needs_kernels
def test_enumeration_stops_when_told() -> None:
    lattice = Lattice(Computation(trace(" | ".join(f"P{i}: {'_ ' * 12}" for i in range(5)))))

    def stop(cuts: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        algebra(lattice, stop)


@needs_kernels
@pytest.mark.parametrize("seed", range(20))
def test_rows_by_themselves_are_those_of_the_twin(seed: int) -> None:
    """What the task logic reads: keys that ascend, bounds, offsets; and places given by row and bit."""
    twins = Twins(seed)
    key, low, high, offset = twins.compiled.rows
    rows, keys = twins.plain.rows, list(memoryview(key).cast("Q"))
    assert list(memoryview(low).cast("i")) == list(rows.low)
    assert list(memoryview(high).cast("i")) == list(rows.high)
    assert keys == sorted(keys) and memoryview(offset).cast("Q")[-1] == twins.plain.cuts
    addresses = [(row, twins.random.randint(0, rows.high[row] - rows.low[row])) for row in range(len(rows))]
    found = (twins.plain.collected(addresses), twins.compiled.collected(addresses))
    twins.assert_same(found)
    assert [twins.compiled.latest(row) for row in range(len(rows))] == list(
        map(twins.plain.latest, range(len(rows)))
    )


@needs_kernels
def test_counts_beyond_16_bits() -> None:
    """One process of 66,000 events beside a short one: rows of that many cuts."""
    lattice = Lattice(Computation(trace(f"P: a send(m) | Q: {'_ ' * 65_990} recv(m) {'_ ' * 9}")))
    plain, compiled = PlainRows(lattice, ignore), algebra(lattice, ignore)
    assert isinstance(compiled, CompiledRows) and plain.cuts == compiled.cuts
    random = Random(1)
    tables = [bytearray(random.choices([0, 1], [1, 9], k=66_001)) for _ in range(2)]
    both = [(plain.local(1, table), compiled.local(1, table)) for table in tables]
    for law in LAWS.values():
        expected = plain.path(law, both[0][0], both[1][0])
        assert list(compiled.row_bits(compiled.path(law, both[0][1], both[1][1]))) == expected


def test_lattices_that_do_not_fit_are_plain() -> None:
    for text in ("P: a b", "P: a%m | Q: b%m"):
        assert isinstance(algebra(Lattice(Computation(trace(text))), ignore), PlainRows)


def test_rows_work_without_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.detection.explicit.compiled.kernels", lambda: None)
    assert isinstance(algebra(Lattice(Computation(trace("P: a | Q: b"))), ignore), PlainRows)
