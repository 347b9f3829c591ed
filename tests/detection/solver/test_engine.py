"""Any predicate by a constraint solver, against the plain engine and by hand."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import product
from random import Random

import pytest

from possibly.detection.choose import Answer, answer
from possibly.detection.limits import Budget, LimitReachedError, MissingExtraError
from possibly.detection.solver.engine import Solver
from possibly.detection.solver.model import Encoding
from possibly.detection.solver.search import TRUE, Linear, Problem, solved
from possibly.detection.solver.tables import tabulated
from possibly.detection.sums.relational import Relational
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace as notated
from tests.detection.sums.test_relational import Bench, random_condition, random_run, random_sum
from tests.detection.test_definition import Case
from tests.generate import CTL, Formula, random_formula
from tests.sampling import sampled
from tests.waiting import PATIENCE


def random_atom(random: Random, run: Trace) -> str:
    """A predicate of no class: products, differences, strings, channels and shared variables mixed."""
    names = [process.name for process in run.processes]
    p, q = random.sample(names, 2)
    number = random.randint(-2, 4)
    operator = random.choice(["==", "!=", "<", ">="])
    return random.choice(
        [
            f"{p}.x * {q}.x {operator} {number}",
            f"{p}.x * {q}.y - s {operator} {number}",
            f"abs({p}.x - {q}.y) {operator} {number}",
            f"max({p}.x, {q}.x, s) {operator} {number}",
            f"{p}.x % 2 == {q}.y % 2",
            f"{p}.x // {q}.x {operator} 1",
            f"transit() * {p}.x {operator} {number}",
            f"transit({p}, {q}) + {q}.x * {p}.y {operator} {number}",
            f"{p}.x in [{q}.x, {q}.y, s]",
            f"{p}.x < {q}.x * s <= {number}",
            f"0.5 * {p}.x + {q}.x {operator} {number}",
            f"s * {p}.y {operator} {number}",
            random_sum(random, run),
        ]
    )


SHAPES = [
    "{a}",
    "!({a})",
    "({a}) & ({b})",
    "({a}) | ({b})",
    "({a}) -> ({b})",
    "({a}) <-> ({b})",
    "{c} & ({a})",
    "!({c} -> ({a})) & ({b})",
    "{c} & {d} & !(({a}) & ({b}))",
    "({a}) & EF({c})",
]


def random_text(random: Random, run: Trace) -> str:
    parts = {name: f"({random_atom(random, run)})" for name in "ab"}
    parts |= {name: random_condition(random, run) for name in "cd"}
    return f"{random.choice(['EF', 'AG'])}({random.choice(SHAPES).format(**parts)})"


@pytest.mark.parametrize("batch", range(4))
def test_answers_and_paths_are_those_of_the_plain_engine(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.detection.solver.nearest.FIRST", [1, 2, 1, 100][batch])
    monkeypatch.setattr("possibly.detection.solver.nearest.CLOCKS", [10**6, 10**6, 0, 0][batch])
    counted: Counter[bool] = Counter()
    for seed in range(sampled(120)):
        random = Random(f"{batch} {seed}")
        bench = Bench(random_run(random, random.choice([1, 3]), odd=random.random() < 0.5))
        text = random_text(random, bench.trace)
        found = Solver(bench.slicing).decide(bench.node(text))
        counted[found is not None] += 1
        if found is not None:
            bench.agrees(found, text)
    assert counted[True] > sampled(110), counted


@pytest.mark.parametrize("operator", ["EF", "AG"])
def test_state_predicates_of_any_form(operator: str) -> None:
    """With the generator of the other engines: joint events, `after`, strings, missing values."""
    for seed in range(sampled(120)):
        random = Random(f"{operator} {seed}")
        case = Case(random.randrange(10**9), CTL, "ctl", 1, 8)
        inner: Formula = random_formula(random, case.trace, [], 3)
        bench = Bench(case.trace)
        found = Solver(bench.slicing).decide(bench.node(f"{operator}({inner.text})"))
        assert found is not None, inner.text
        bench.agrees(found, f"{operator}({inner.text})")
        truths = [case.reference.satisfies(cut, inner) for cut in case.reference.cuts]
        assert found.value == (any(truths) if operator == "EF" else all(truths)), inner.text


# ---- the parts ------------------------------------------------------------------------------------------


def test_the_literals_describe_just_the_cuts_of_the_slice() -> None:
    """With each cut fixed in turn, the constraints of a region can be met iff it is one of its cuts."""
    bench = Bench(notated("A(x=0): a{x=1} send(m){x=2} | B(y=0): _ recv(m){y=1} c{y=0}"))
    region = bench.slicing.slice_of(bench.node("A.x != 1 & B.y == 0"))
    assert region is not None
    computation = bench.lattice.computation
    found = set()
    for cut in product(*(range(length + 1) for length in computation.lengths)):
        encoding = Encoding(bench.slicing, region)
        for process, count in enumerate(cut):
            encoding.clause(encoding.at_least((process, count)))
            encoding.clause(-encoding.at_least((process, count + 1)))
        answer_ = solved(encoding.problem(), 10.0, least=True, workers=1)
        if answer_ is not None:
            assert encoding.cut(answer_) == cut
            found.add(cut)
    assert found == set(region.cuts())


def test_values_that_make_no_difference_are_one_class() -> None:
    bench = Bench(notated("A(x=0): a{x=1} b{x=2} c{x=3} d{x=1} | B(y=1): e{y=5} f{y=6}"))
    computation = bench.lattice.computation
    table = tabulated(bench.slicing, bench.node("A.x * B.y >= 2"), computation.initial, computation.final)
    assert table is not None
    values = [[sorted(axis.values[number][0] for number in members) for members in classes]
              for axis, classes in zip(table.axes, table.classes(), strict=True)]  # fmt: skip
    assert values == [[[0], [1], [2, 3]], [[1], [5, 6]]]


def test_problems_by_hand() -> None:
    problem = Problem(
        4, [(2, 3), (-2, 4)], [Linear(TRUE, ((1, 3), (2, 4)), 2, None)], [(1, 2), (1, 3), (5, 4)]
    )
    found = solved(problem, 10.0, least=True, workers=1)
    assert found is not None and found[2:] == [False, True, True]
    assert solved(Problem(2, [(2,), (-2,)]), 10.0, least=False, workers=1) is None
    assert solved(Problem(2, [()]), 10.0, least=True, workers=1) is None


def test_an_answer_beyond_the_region_is_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among events with two steps in their past the answer has four steps; C offers one of three."""
    monkeypatch.setattr("possibly.detection.solver.nearest.FIRST", 2)
    bench = Bench(notated("A(x=0): _ a{x=1} | B(x=0): _ b{x=1} | C(x=0): _ _ c{x=1}"))
    for text in ("EF(A.x * B.x + C.x >= 1)", "EF(A.x + B.x + 2 * C.x >= 2)"):
        for engine in (Solver(bench.slicing), Relational(bench.slicing)):
            found = engine.decide(bench.node(text))
            if found is not None:
                assert found.path is not None and [move.processes for move in found.path] == [(2,)] * 3


def test_a_joint_event_is_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The three lines of the meeting are nearer than two events of D."""
    monkeypatch.setattr("possibly.detection.solver.nearest.FIRST", 2)
    builder = TraceBuilder()
    builder.header(processes=[(name, {"x": 0}) for name in "ABCD"], shared={})
    for name in "ABC":
        builder.add(name, meet="M", set={"x": 1})
    builder.add("D")
    builder.add("D", set={"x": 1})
    bench = Bench(builder.finish())
    found = Solver(bench.slicing).decide(bench.node("EF(A.x * B.x * C.x + D.x == 1)"))
    assert found is not None and found.path is not None and len(found.path) == 1


INTERRUPTED = """
import os, random, signal, threading
from possibly.detection.solver.search import TRUE, Linear, Problem, solved
from tests.sampling import sampled
from ortools.sat.python import cp_model
choose = random.Random(1)
weights = [choose.randint(10**8, 10**9) for _ in range(60)]
half = sum(weights) // 2 + 1
rows = [tuple(zip(choose.sample(weights, 60), range(2, 62))) for _ in range(2)]
hard = Problem(61, [], [Linear(TRUE, row, half + n, half + n) for n, row in enumerate(rows)])
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    print(solved(hard, float("inf"), least=False, workers=1))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_the_user_can_interrupt_the_solver() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout == "interrupted\n"


def test_faults_are_told_where_a_cut_has_them() -> None:
    """x = 0 and y = 7 are never there together, x = 0 and y = 3 are."""
    bench = Bench(notated("A(x=1): a{x=0} b{x=2} send(m) | B(y=3): recv(m){y=7}"))
    found = Solver(bench.slicing).decide(bench.node("AG(!(B.y // A.x > 8))"))
    assert found is not None and found.value
    assert bench.predicates.faults == ("B.y // A.x > 8: division by zero",)
    bench = Bench(notated('A(x=1): a{x="a"} b{x=2} send(m) | B(y=null): recv(m){y=7}'))
    found = Solver(bench.slicing).decide(bench.node("AG(!(A.x * B.y + B.y * 2 == 99))"))
    assert found is not None and found.value
    assert not any("str" in fault and "int" in fault for fault in bench.predicates.faults)


def test_a_table_that_would_be_too_large_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(notated("A(x=0): a{x=1} | B(y=0): c{y=2}"))
    monkeypatch.setattr("possibly.detection.solver.tables.MOST_COMBINATIONS", 3)
    assert Solver(bench.slicing).decide(bench.node("EF(A.x * B.y == 2)")) is None


def test_an_empty_slice_of_the_regular_conjuncts_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    bench = Bench(notated("A(x=0): a{x=1} | B(y=0): c{y=2}"))
    found = Solver(bench.slicing).decide(bench.node("EF(A.x == 1 & A.x == 0 & A.x * B.y == 2)"))
    assert found is not None and not found.value
    with pytest.raises(MissingExtraError, match=r'pip install "possibly\[solver\]"'):
        Solver(bench.slicing).decide(bench.node("EF(A.x * B.y == 2)"))


# ---- the table of engines ---------------------------------------------------------------------------------

GRID = " | ".join(
    f"P{i}(x=0): {' '.join(f'e{i}_{k}{{x={k * k % 11}}}' for k in range(1, 13))}" for i in range(6)
)
"""Six independent processes of twelve events: 13 ** 6 cuts."""


def ask(formula: str, engine: str = "auto", budget: Budget | None = None, text: str = GRID) -> Answer:
    bench = Bench(notated(text))
    return answer("ctl", bench.node(formula), bench.lattice, bench.predicates, budget or Budget(), engine)


PRODUCT = "P0.x * P1.x * P2.x == 125 & P3.x * P4.x == 81"
SUM = " + ".join(f"P{i}.x" for i in range(6))


def test_auto_asks_where_there_are_many_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(f"EF({PRODUCT})").engine == "values"
    monkeypatch.setattr("possibly.detection.slices.by_values.MOST_COMBINATIONS", 0)
    found = ask(f"EF({PRODUCT})")
    assert found.engine == "solver" and found.cuts == 0
    assert found.finding is not None and found.finding.path is not None and len(found.finding.path) == 18
    assert ask(f"AG({SUM} <= 54)").engine == "relational"
    assert ask(f"EF({SUM} == 54)").engine == "relational"


def test_auto_visits_where_there_are_few_cuts() -> None:
    assert ask("EF(A.x * B.x == 1)", text="A(x=0): a{x=1} | B(x=0): c{x=1}").engine == "exhaustive"


def test_max_cuts_does_not_stop_an_engine_that_visits_none() -> None:
    found = ask(f"AG(!({PRODUCT}))", budget=Budget(max_cuts=10))
    assert found.finding is not None and not found.finding.value


def test_timeout_gives_no_answer_and_says_so() -> None:
    found = ask(f"EF({PRODUCT})", "solver", Budget(timeout=0.0))
    assert found.finding is None and found.reason == "not decided within 0 s; raise --timeout"


def test_a_solver_that_runs_out_of_time_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library itself is given no time: it says that it does not know, and so do we."""
    monkeypatch.setattr(Solver, "_left", lambda solver: 0.0)
    bench = Bench(notated(GRID))
    with pytest.raises(LimitReachedError, match="not decided"):
        Solver(bench.slicing, Budget(timeout=3.0)).decide(bench.node(f"EF({PRODUCT})"))


@pytest.mark.parametrize(("engine", "module"), [("solver", "sat"), ("relational", "graph")])
def test_without_the_library_others_go_on_and_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, engine: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, f"ortools.{module}.python", None)
    monkeypatch.setattr("possibly.detection.slices.by_values.MOST_COMBINATIONS", 0)
    formula = f"EF({PRODUCT})" if engine == "solver" else f"EF({SUM} < 0)"
    alone = ask(formula, engine)
    assert alone.finding is None
    reason = f'engine {engine} needs OR-Tools, which is not installed: pip install "possibly[solver]"'
    assert alone.reason == reason
    assert reason in ask(formula, budget=Budget(max_cuts=1000)).notes
