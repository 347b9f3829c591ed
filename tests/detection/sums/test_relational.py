"""Sums against constants: the flow engine and the solver against the plain engine, and by hand."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from possibly.detection.branching import decide
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.finding import Finding
from possibly.detection.limits import Budget, MissingExtraError
from possibly.detection.slices.sliced import Sliced
from possibly.detection.slices.slicing import Slicing
from possibly.detection.solver.sums import LARGEST, ranges_of
from possibly.detection.sums.flow import least_total
from possibly.detection.sums.relational import Relational
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Slice, whole
from possibly.order.state import Readings
from possibly.order.tied import components
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace as notated
from tests.sampling import sampled

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


@dataclass
class Bench:
    """A trace with what engines need."""

    trace: Trace
    lattice: Lattice = field(init=False)
    predicates: CutPredicates = field(init=False)
    slicing: Slicing = field(init=False)

    def __post_init__(self) -> None:
        self.lattice = Lattice(Computation(self.trace))
        self.predicates = CutPredicates(self.lattice, Readings(self.lattice.computation))
        self.slicing = Slicing(self.lattice, self.predicates)

    def node(self, text: str) -> Node:
        return bind(parse(text, "ctl"), vocabulary(self.trace)).formula

    def plain(self, node: Node) -> Finding:
        return decide(Exhaustive(self.lattice, self.predicates, Budget()), node)

    def agrees(self, found: Finding, text: str) -> None:
        """The same answer, and a path that is possible, as short, and shows it."""
        node = self.node(text)
        plain = self.plain(node)
        story = f"{text}\n" + "\n".join(str(self.trace.event(e)) for e in range(len(self.trace)))
        assert found.value == plain.value, story
        assert (found.path is None) == (plain.path is None), story
        if found.path is None or plain.path is None:
            return
        assert len(found.path) == len(plain.path), story
        cut = self.lattice.initial
        for move in found.path:
            assert move in list(self.lattice.moves(cut)), story
            cut += move.delta
        if found.shows is not None:
            holds = Exhaustive(self.lattice, self.predicates, Budget()).at(found.shows.what, cut)
            assert holds == ("true" in found.shows.how), story


def random_run(random: Random, steps: int, odd: bool = False) -> Trace:
    """Processes with numbers x and y, some missing at first, that change by `steps` at most; joint events.

    `odd` adds values that are no integers.
    """
    names = [f"P{i}" for i in range(1, random.randint(2, 4) + 1)]
    builder = TraceBuilder()
    now: dict[tuple[str | None, str], Any] = {}
    for name in names:
        now |= {(name, v): random.randint(0, 2) for v in "xy" if random.random() < 0.7}
    now[None, "s"] = 0
    inits = [(name, {v: now[name, v] for v in "xy" if (name, v) in now}) for name in names]
    builder.header(processes=inits, shared={"s": 0})
    pending: list[tuple[str, str]] = []

    def changed(name: str | None, variable: str) -> Any:
        value = now.get((name, variable), random.randint(0, 2)) + random.randint(-steps, steps)
        now[name, variable] = value
        if random.random() < 0.1:
            return bool(value % 2) if random.random() < 0.5 else value
        return random.choice(["a", 0.5, None]) if odd and random.random() < 0.2 else value

    for name in names:  # every variable is known to the trace
        builder.add(name, set={v: changed(name, v) for v in "xy" if (name, v) not in now})
    for number in range(random.randint(0, 6)):
        name = random.choice(names)
        fields: dict[str, Any] = {"set": {v: changed(name, v) for v in "xy" if random.random() < 0.5}}
        if random.random() < 0.2:
            fields["write"] = {"s": changed(None, "s")}
        mine = [message for message in pending if message[1] == name]
        if random.random() < 0.1:
            for line in random.sample(names, 2):
                builder.add(line, meet=f"M{number}", set={"x": changed(line, "x")})
        elif mine and random.random() < 0.6:
            pending.remove(mine[0])
            builder.add(name, kind="receive", msg=mine[0][0], **fields)
        elif random.random() < 0.4:
            pending.append((f"m{number}", random.choice(names)))
            builder.add(name, kind="send", msg=f"m{number}", to=pending[-1][1], **fields)
        else:
            builder.add(name, **fields)
    return builder.finish()


def random_sum(random: Random, run: Trace) -> str:
    names = [process.name for process in run.processes]
    terms = [f"{name}.{variable}" for name in names for variable in "xy"]
    terms += ["s", "transit()", f"transit({names[0]}, {names[1]})", f"abs({names[0]}.x - {names[0]}.y)"]
    chosen = random.sample(terms, random.randint(2, 4))
    factors = [random.choice(["", "", "", "2 * ", "-", "-3 * "]) for _ in chosen]
    left = " + ".join(f"{factor}{term}" for factor, term in zip(factors, chosen, strict=True))
    operator = random.choice(["==", "!=", "<", "<=", ">", ">="])
    if random.random() < 0.1:
        return f"{random.randint(-3, 1)} <= {left} {random.choice(['<', '<='])} {random.randint(0, 4)}"
    return f"{left} {operator} {random.randint(-4, 6)}"


def random_condition(random: Random, run: Trace) -> str:
    name = random.choice(run.processes).name
    return random.choice(
        [f"{name}.x > 0", f"{name}.y != 1", "s <= 0", f"!({name}.x == 2)", "transit() == 0", f"done({name})"]
    )


SHAPES = [
    "{a}",
    "!({a})",
    "({a}) & {c}",
    "({a}) | {c}",
    "{c} -> ({a})",
    "({a}) <-> {c}",
    "{c} & {d} & !({a})",
]


def formula(random: Random, run: Trace) -> str:
    parts = {
        "a": random_sum(random, run),
        "c": random_condition(random, run),
        "d": random_condition(random, run),
    }
    return f"{random.choice(['EF', 'AG'])}({random.choice(SHAPES).format(**parts)})"


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("odd", [False, True])
def test_answers_and_paths_are_those_of_the_plain_engine(
    steps: int, odd: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("possibly.detection.solver.nearest.FIRST", steps)
    counted: Counter[str] = Counter()
    cases = 300 * MANY if MANY > 1 else 75
    for seed in range(cases):
        random = Random(f"{steps} {odd} {seed}")
        bench = Bench(random_run(random, steps, odd))
        text = formula(random, bench.trace)
        found = Relational(bench.slicing).decide(bench.node(text))
        by_slices = Sliced(Slicing(bench.lattice, bench.predicates)).decide(bench.node(text))
        counted["answered" if found is not None else "open"] += 1
        if found is not None:
            bench.agrees(found, text)
            counted["beyond slices"] += by_slices is None
    assert counted["beyond slices"] > (0.15 if odd else 0.5) * cases, counted


# ---- the extremes themselves ----------------------------------------------------------------------------


def random_slice(random: Random, bench: Bench) -> Slice:
    """The slice of a random conjunction, which has forbidden states, bounds and edges."""
    parts = [random_condition(random, bench.trace) for _ in range(random.randint(0, 2))]
    found = bench.slicing.slice_of(bench.node(" & ".join(parts) or "true"))
    return found if found is not None else whole(bench.lattice.computation)


def test_flow_finds_the_least_cut_where_the_sum_is_least() -> None:
    seen: Counter[str] = Counter()
    for seed in range(sampled(300)):
        random = Random(seed)
        bench = Bench(random_run(random, 3))
        part = random_slice(random, bench)
        events = [bench.lattice.computation.place(event) for event in range(len(bench.trace))]
        changes = {place: random.randint(-3, 3) for place in events if random.random() < 0.7}
        cuts = list(part.cuts())
        found = least_total(part, changes)
        if found is None:
            assert not cuts
            seen["empty"] += 1
            continue

        def total(cut: tuple[int, ...], changes: dict[tuple[int, int], int] = changes) -> int:
            return sum(change for (process, count), change in changes.items() if cut[process] >= count)

        least = min(map(total, cuts))
        assert found in cuts and total(found) == least
        assert all(
            all(a <= b for a, b in zip(found, cut, strict=True)) for cut in cuts if total(cut) == least
        )
        seen["moved" if found != part.least else "least"] += 1
    assert min(seen["empty"], seen["moved"], seen["least"]) > sampled(5), seen


def test_components_are_the_smallest_steps_of_a_slice() -> None:
    """Added one after another they pass only cuts of the slice, and no cut of it lies between two of them."""
    from possibly.detection.sums.flow import needs_of

    groups = 0
    for seed in range(sampled(150)):
        random = Random(seed)
        bench = Bench(random_run(random, 1))
        part = random_slice(random, bench)
        if part.least is None or part.greatest is None:
            continue
        cut = list(part.least)
        for group in components(part.least, part.greatest, needs_of(part, part.least, part.greatest)):
            before = tuple(cut)
            for process, count in group:
                cut[process] = max(cut[process], count)
            assert part.contains(cut)
            between = [
                c for c in part.cuts() if all(map(int.__le__, before, c)) and all(map(int.__le__, c, cut))
            ]
            assert sorted(between) == sorted([before, tuple(cut)])
            groups += len(group) > 1
        assert tuple(cut) == part.greatest
    assert groups > sampled(20)


# ---- by hand --------------------------------------------------------------------------------------------

BANK = "A(x=5): take{x=3} send(m){x=0} | B(y=1): got{y=2} recv(m){y=7} | C(z=0): _ _ c{z=1}"


@pytest.mark.parametrize(
    ("text", "value", "steps"),
    [
        ("EF(A.x + B.y <= 2)", True, 2),
        ("EF(A.x + B.y <= 0)", False, None),
        ("AG(A.x + B.y <= 7)", True, None),
        ("AG(A.x + B.y < 7)", False, 1),
        ("EF(A.x + B.y + C.z == 8)", True, 4),
        ("EF(2 * A.x - B.y - transit(A, B) >= 10)", False, None),
        ("EF(2 * A.x - B.y - transit(A, B) >= 9)", True, 0),
        ("EF(A.x + B.y < 2 & C.z == 1)", True, 5),
        ("AG(0 < A.x + B.y <= 7)", True, None),
        ("EF(A.x + B.y < 2) & AG(A.x + B.y < 8)", True, None),
    ],
)
def test_answers_by_hand(text: str, value: bool, steps: int | None) -> None:
    bench = Bench(notated(BANK))
    found = Relational(bench.slicing).decide(bench.node(text))
    assert found is not None and found.value == value
    assert (None if found.path is None else len(found.path)) == steps


def test_equality_is_open_where_a_move_jumps_over_it() -> None:
    bench = Bench(notated("A(x=0): a{x=5} b{x=0} | B(y=0): c{y=5}"))
    decide_ = Relational(bench.slicing).decide
    assert decide_(bench.node("EF(A.x + B.y == 7)")) is None
    closed, beyond = decide_(bench.node("EF(A.x + B.y == 10)")), decide_(bench.node("EF(A.x + B.y == 11)"))
    assert closed is not None and closed.value and beyond is not None and not beyond.value


def test_equality_is_always_answered_where_a_step_changes_the_sum_by_one() -> None:
    met = 0
    for seed in range(sampled(150)):
        random = Random(seed)
        names = ["A", "B", "C"]
        now = dict.fromkeys(names, 0)
        builder = TraceBuilder()
        builder.header(processes=[(name, {"x": 0}) for name in names])
        for number in range(random.randint(2, 9)):
            name = random.choice(names)
            now[name] += random.choice([-1, 1])
            after = [f"E{random.randrange(number)}"] if number and random.random() < 0.4 else []
            builder.add(name, id=f"E{number}", set={"x": now[name]}, after=after)
        bench = Bench(builder.finish())
        for text in (f"{op}(A.x + B.x - C.x {sign} {random.randint(-4, 4)})" for op, sign in
                     (("EF", "=="), ("AG", "!="), ("EF", "!="), ("AG", "=="))):  # fmt: skip
            found = Relational(bench.slicing).decide(bench.node(text))
            assert found is not None, text
            bench.agrees(found, text)
            met += found.path is not None and len(found.path) > 0
    assert met > sampled(50)


def test_equality_inside_a_slice_counts_the_moves_of_the_slice() -> None:
    """Each event changes the sum by one, but x = 1 is forbidden, so in the slice it goes from 0 to 2."""
    bench = Bench(notated("A(x=0): a{x=1} b{x=2} | B(y=0): c{y=0}"))
    text = "EF(A.x + B.y == 1 & A.x != 1)"
    assert Relational(bench.slicing).decide(bench.node(text)) is None
    assert not bench.plain(bench.node(text)).value


def test_sums_are_read_only_where_they_are_exact() -> None:
    run = "A(x=0): a{x=1} | B(y=0): c{y=%s}"
    for value, is_sum in [("2", True), ("true", True), ("0.5", False), ('"a"', False), (str(LARGEST), False)]:
        bench = Bench(notated(run % value))
        assert (ranges_of(bench.slicing, bench.node("A.x + B.y < 3")) is not None) == is_sum, value
    bench = Bench(notated(run % "2"))
    for text in ["A.x + B.y < 2.5", "0.5 * A.x + B.y < 2", "A.x * B.y < 2", "A.x // A.x + B.y < 2"]:
        assert ranges_of(bench.slicing, bench.node(text)) is None, text


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ortools.graph.python", None)
    bench = Bench(notated(BANK))
    with pytest.raises(MissingExtraError, match=r'pip install "possibly\[solver\]"'):
        Relational(bench.slicing).decide(bench.node("EF(A.x + B.y <= 0)"))


def test_a_long_run_gets_a_valid_path_that_stops_at_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.detection.sums.relational.EXACT", 0)
    longer = 0
    for seed in range(sampled(150)):
        random = Random(seed)
        bench = Bench(random_run(random, 3))
        text = f"EF({random_sum(random, bench.trace)})"
        found = Relational(bench.slicing).decide(bench.node(text))
        if found is None or found.path is None:
            continue
        shortest = bench.plain(bench.node(text)).path
        assert shortest is not None and len(found.path) >= len(shortest)
        longer += len(found.path) > len(shortest)
        cut = bench.lattice.initial
        holds = bench.predicates(bench.node(text).operands[0])  # type: ignore[attr-defined]
        for move in found.path:
            assert not holds(cut) and move in list(bench.lattice.moves(cut))
            cut += move.delta
        assert holds(cut)
    assert longer
