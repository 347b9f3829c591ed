"""Next, until, AF of conjunctions and nested EF and AG on-line: after every event those of the run so far."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from possibly.detection.online.monitor import Monitor, open_vocabulary
from possibly.detection.online.parts import Clocks
from possibly.errors import FormulaError
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.computation import Place
from possibly.order.growing.computation import Growing
from tests.detection.online.test_monitor import Arrivals
from tests.generate import random_atom, random_formula
from tests.sampling import sampled

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 130 * MANY if MANY > 1 else 30


def local(run: Arrivals) -> str:
    """A literal on one process."""
    while True:
        atom = random_atom(run.random, run.trace)[0]
        owners = {part.split(".")[0] for part in atom.split() if "." in part}
        if len(owners) == 1 and "transit" not in atom:
            return f"({atom})" if run.random.random() < 0.6 else f"!({atom})"


def locals_(run: Arrivals, word: str) -> str:
    has_locals = any("x" in process.init for process in run.trace.processes)
    return word.join(local(run) for _ in range(run.random.randint(1, 4))) if has_locals else "true"


def predicate(run: Arrivals) -> str:
    return random_formula(run.random, run.trace, ["&", "|"], run.random.randint(0, 1)).text


def formula(run: Arrivals, kind: str) -> str:
    choice = run.random.choice
    match kind:
        case "next":
            process = choice(run.trace.processes).name
            return f"{choice(['EX', 'AX', f'EX[{process}]'])}({predicate(run)})"
        case "until":
            return f"E[({run.conjunction(2)}) U ({predicate(run)})]"
        case "always until":
            return f"A[({predicate(run)}) U (!({run.conjunction(2)}))]"
        case "definitely":
            inner = locals_(run, " & ")
            return choice([f"AF({inner})", f"EG(!({inner}))", f"EG({locals_(run, ' | ')})"])
        case "combination":
            parts = [formula(run, choice(KINDS[:5])) for _ in range(2)]
            return f"({parts[0]}) {choice(['&', '|', '->', '<->'])} ({parts[1]})"
    first, second = predicate(run), predicate(run)
    inner = choice(["EF", "AG"])
    return choice(
        [
            f"AG(({first}) -> {inner}({second}))",
            f"EF(({first}) & {inner}({second}))",
            f"EF(({first}) & EF({second}) & EF({predicate(run)}))",
            f"EF(({first}) & AG({second}) & !EF({predicate(run)}))",
            f"{choice(['EF', 'AG'])}(({first}) {choice(['|', '<->', '&'])} {inner}({second}))",
            f"{choice(['EF', 'AG'])}({inner}({first}))",
        ]
    )


KINDS = ["next", "until", "always until", "definitely", "nested", "combination"]


@pytest.mark.parametrize("batch", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_verdicts_are_those_of_the_run_so_far_and_final_ones_stay(kind: str, batch: int) -> None:
    """With POSSIBLY_CASES=20 more than 10,000 of each kind."""
    seen: Counter[tuple[bool, bool]] = Counter()
    cases = 0
    seed = batch * 10_000_000
    while cases < CASES:
        seed += 1
        run = Arrivals(seed, events=6)
        text = formula(run, kind)
        node = run.formula(text)
        try:
            monitor = Monitor(run.growing, node)
        except FormulaError:
            continue
        cases += 1
        settled: bool | None = None
        for number in range(len(run.lines) + 1):
            if number:
                run.growing.arrive(run.lines[number - 1])
            standing = monitor.standing
            assert standing.value == run.so_far.holds(node), (seed, text, number)
            assert settled is None or standing.value == settled, (seed, text, number)
            settled = standing.value if standing.is_final else settled
            seen[standing.value, standing.is_final] += 1
    assert min(seen[True, True] + seen[False, True], seen[True, False] + seen[False, False]) > CASES // 5, (
        seen
    )


@pytest.mark.parametrize("batch", range(4))
def test_clocks_are_those_of_the_run(batch: int) -> None:
    for seed in range(batch * 100_000, batch * 100_000 + sampled(20)):
        run = Arrivals(seed, events=9)
        clocks = Clocks()
        run.growing.follow(clocks.take)
        for fields in run.lines:
            run.growing.arrive(fields)
        computation = run.so_far.computation
        for place in run.so_far.places():
            clock = computation.clock(computation.at(*place))
            for other in run.so_far.places():
                if other[0] != place[0]:
                    assert clocks.knows(place, other) == (clock[other[0]] >= other[1]), (seed, place, other)


def monitored(growing: Growing, text: str) -> Monitor:
    return Monitor(growing, bind(parse(text, "ctl"), open_vocabulary(growing)).formula)


def test_af_of_a_conjunction_may_change_until_its_intervals_are_over() -> None:
    growing = Growing([("P", {"x": 0}), ("Q", {"x": 0})])
    monitor = monitored(growing, "AF(P.x == 1 & Q.x == 1)")
    growing.arrive({"p": "P", "set": {"x": 1}})
    growing.arrive({"p": "Q", "set": {"x": 1}})
    assert (monitor.standing.value, monitor.standing.is_final) == (True, False)
    growing.arrive({"p": "P", "set": {"x": 0}})
    assert (monitor.standing.value, monitor.standing.is_final) == (False, False), "P may be over before Q"
    growing.arrive({"p": "P", "set": {"x": 1}})
    growing.arrive({"p": "P", "kind": "send", "msg": "m", "to": "Q"})
    growing.arrive({"p": "Q", "kind": "receive", "msg": "m"})
    assert not monitor.standing.is_final, "Q need not have begun when P ends"
    growing.arrive({"p": "Q", "kind": "send", "msg": "n", "to": "P"})
    growing.arrive({"p": "P", "kind": "receive", "msg": "n"})
    assert (monitor.standing.value, monitor.standing.is_final) == (True, True)
    assert monitor.standing.moment is not None and monitor.standing.moment.event == "P:5"


def test_an_until_is_final_as_soon_as_its_goal_is_there() -> None:
    growing = Growing([("P", {"x": 0}), ("Q", {"x": 0})])
    holds, fails = monitored(growing, "E[P.x == 0 U Q.x == 1]"), monitored(growing, "E[Q.x == 1 U P.x == 1]")
    assert (fails.standing.value, fails.standing.is_final) == (False, True), "it does not wait at first"
    growing.arrive({"p": "P", "set": {"x": 1}})
    assert not holds.standing.is_final
    growing.arrive({"p": "Q", "set": {"x": 1}})
    assert (holds.standing.value, holds.standing.is_final) == (True, True)
    assert holds.standing.moment is not None and holds.standing.moment.cut == {"P": 0, "Q": 1}


def test_every_request_can_still_be_answered() -> None:
    growing = Growing([("P", {"asks": False}), ("Q", {"free": True})])
    monitor = monitored(growing, "AG(P.asks -> EF(Q.free))")
    growing.arrive({"p": "Q", "kind": "send", "msg": "taken", "to": "P", "set": {"free": False}})
    assert monitor.standing.value
    growing.arrive({"p": "P", "kind": "receive", "msg": "taken"})
    growing.arrive({"p": "P", "set": {"asks": True}})
    assert (monitor.standing.value, monitor.standing.is_final) == (False, False)
    growing.arrive({"p": "Q", "set": {"free": True}})
    assert (monitor.standing.value, monitor.standing.is_final) == (True, False)


def test_memory_of_a_decided_until_is_given_back() -> None:
    growing = Growing([("P", {"x": 0}), ("Q", {"x": 0})])
    monitor = monitored(growing, "E[P.x == 0 U Q.x == 1]")
    growing.arrive({"p": "Q", "set": {"x": 1}})
    places: list[Place] = []
    growing._listeners.append(lambda step: places.extend(line.place for line in step))
    for number in range(200):
        growing.arrive({"p": "P", "kind": "send", "msg": f"m{number}", "to": "Q"})
        growing.arrive({"p": "Q", "kind": "receive", "msg": f"m{number}"})
    assert len(places) == 400 and monitor.standing.is_final
    assert not monitor._part._needed_by  # type: ignore[attr-defined]
