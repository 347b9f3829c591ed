from __future__ import annotations

from random import Random
from typing import Any

import pytest

from possibly.detection import choose
from possibly.detection.choose import ENGINES, Answer, answer, engines_for
from possibly.detection.limits import Budget
from possibly.errors import UsageError
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.notation import trace

GRID = " | ".join(f"P{i}(x=0): {'_ ' * 9} a{i}{{x=1}}" for i in range(4))
"""Four independent processes of ten events: 11 ** 4 cuts."""
EVERYWHERE = "AG(P0.x >= 0 -> EF(P0.x * P1.x == 1))"


def ask(formula: str, language: str = "ctl", engine: str = "auto", budget: Budget | None = None) -> Answer:
    run = trace(GRID)
    lattice = Lattice(Computation(run))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    node = bind(parse(formula, language), vocabulary(run)).formula
    return answer(language, node, lattice, predicates, budget or Budget(), engine)


def test_auto_answers_from_slices_where_it_can() -> None:
    found = ask("EF(P0.x == 0)")
    assert found.engine == "slice" and found.cuts == 0
    assert found.finding is not None and found.finding.value
    assert ask("G(P0.x <= 1)", "ltl").engine == "slice"


def test_auto_goes_on_with_the_plain_engine_which_stops_early() -> None:
    found = ask("EF(P0.x * P1.x == 0)")
    assert found.engine == "exhaustive" and found.cuts == 1
    assert found.finding is not None and found.finding.value


def test_auto_hands_over_when_too_many_cuts_are_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    from possibly.records import replace

    rows = [replace(row, at_first=1000) if row.at_first else row for row in ENGINES]
    monkeypatch.setattr("possibly.detection.choose.ENGINES", tuple(rows))
    found = ask(EVERYWHERE)
    assert found.engine == "sweep" and found.finding is not None and found.finding.value
    assert "handed over after" in " ".join(found.notes)


def test_slices_alone_say_when_they_do_not_know() -> None:
    found = ask("EF(P0.x * P1.x == 0)", engine="slice")
    assert found.finding is None
    assert found.reason == "the formula is outside the classes of engine slice; use --engine auto"


@pytest.mark.parametrize("engine", ["exhaustive", "sweep"])
def test_engines_agree_on_a_large_lattice(engine: str) -> None:
    found = ask(EVERYWHERE, engine=engine)
    assert found.engine == engine and found.finding is not None and found.finding.value
    assert found.cuts >= 11**4


@pytest.mark.parametrize(
    ("engine", "language", "formula"),
    [("exhaustive", "ctl", EVERYWHERE), ("sweep", "ctl", EVERYWHERE), ("linear", "ltl", "G(P0.x >= 0)")],
)
def test_limit_on_cuts_gives_no_answer_and_says_so(engine: str, language: str, formula: str) -> None:
    found = ask(formula, language, engine, Budget(max_cuts=100))
    assert found.finding is None
    assert found.reason == "more than 100 cuts to visit; raise --max-cuts"


def test_limit_on_time_gives_no_answer_and_says_so() -> None:
    found = ask(EVERYWHERE, budget=Budget(timeout=0.0))
    assert found.finding is None and found.reason == "not decided within 0 s; raise --timeout"


def test_progress_is_told() -> None:
    told: list[int] = []
    ask(EVERYWHERE, budget=Budget(progress=lambda done, total: told.append(done)))
    assert told and told == sorted(told)


def test_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="engine 'magic' does not exist .engines: auto, slice, oracle, "):
        engines_for("ctl", "magic")
    with pytest.raises(UsageError, match="engine 'linear' does not answer ctl properties"):
        engines_for("ctl", "linear")


@pytest.mark.parametrize("seed", range(40))
def test_many_parts_are_answered_on_what_is_left_of_the_run(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts about entries of lists, some with values that are no lists, some out of range."""
    monkeypatch.setattr(choose, "MANY", 0)
    monkeypatch.setattr(choose, "LONG", 0)
    random = Random(seed)
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {"n": 0}), ("R", {"n": 1, "l": [0, 1]})])
    for number in range(7):
        name = random.choice("PQR")
        values: list[Any] = [[0, 1], [1, 1], [2], [1, True], "no list", 3]
        fields = {"l": random.choice(values)} if random.random() < 0.6 else {"n": random.randint(0, 2)}
        after = [f"e{random.randrange(number)}"] if number and random.random() < 0.4 else []
        builder.add(name, id=f"e{number}", set=fields, after=after)
    for name in "PQR":
        builder.add(name, set={"l": [1, 0], "n": 0})
    run = builder.finish()
    operator, way = random.choice([("AG", "&"), ("EF", "|")])
    parts = [f"{operator}({p}.l[{random.randint(0, 1)}] == {q}.n)" for p in "PQR" for q in "QR"]
    formula = bind(parse(f" {way} ".join(parts), "ctl"), vocabulary(run)).formula
    found = {}
    for engine in ("auto", "exhaustive"):
        lattice = Lattice(Computation(run))
        predicates = CutPredicates(lattice, Readings(lattice.computation))
        result = answer("ctl", formula, lattice, predicates, Budget(), engine)
        assert result.finding is not None
        found[engine] = result.finding.value
    assert found["auto"] == found["exhaustive"]
