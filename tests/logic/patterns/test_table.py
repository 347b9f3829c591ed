"""The patterns against their definitions: stretches of a run, looked at state by state."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from random import Random

import pytest

import possibly
from possibly.logic.patterns.table import BY_NAME, PATTERNS, SCOPES, Pattern
from possibly.logic.specification import Property, Specification, read_specification
from possibly.session.checking.check import Options, check_trace
from possibly.trace import TraceBuilder

State = dict[str, bool]
LETTERS = "pstqr"
RUNS = 40


def stretches(run: list[State], scope: str) -> Iterator[list[State]]:
    """The parts of a run that a scope speaks of."""
    ends = [n for n, state in enumerate(run) if state["r"]]
    if scope == "globally":
        yield run
    elif scope == "before":
        yield from ([run[: ends[0]]] if ends else [])
    elif scope == "after":
        begins = [n for n, state in enumerate(run) if state["q"]]
        yield from ([run[begins[0] :]] if begins else [])
    else:
        for n, state in enumerate(run):
            if state["q"] and not state["r"]:
                end = next((each for each in ends if each > n), None)
                if end is not None or scope == "until":
                    yield run[n:end]


def has(part: list[State], *letters: str) -> bool:
    """The letters are true one strictly after the other."""
    if not letters:
        return True
    return any(state[letters[0]] and has(part[n + 1 :], *letters[1:]) for n, state in enumerate(part))


def first(part: list[State], letter: str) -> int:
    return next((n for n, state in enumerate(part) if state[letter]), len(part))


def rises(part: list[State]) -> int:
    return sum(now["p"] and not before["p"] for before, now in zip([{"p": False}, *part], part, strict=False))


def answered(part: list[State], *letters: str) -> bool:
    return all(has(part[n:], *letters) for n, state in enumerate(part) if state["p"])


def chain_before(part: list[State]) -> bool:
    """Before the first p there is s, and t after that, at the latest together with p."""
    end = first(part, "p")
    if end == len(part):
        return True
    return any(part[j]["s"] and has(part[j + 1 : end + 1], "t") for j in range(end))


MEANINGS: dict[str, Callable[[list[State]], bool]] = {
    "absence": lambda part: not has(part, "p"),
    "universality": lambda part: all(state["p"] for state in part),
    "existence": lambda part: has(part, "p"),
    "response": lambda part: answered(part, "s"),
    "precedence": lambda part: first(part, "s") <= first(part, "p"),
    "response_chain": lambda part: answered(part, "s", "t"),
    "precedence_chain": chain_before,
    "exactly_once": lambda part: rises(part) == 1,
    "at_most_once": lambda part: rises(part) <= 1,
    "bounded_existence": lambda part: rises(part) <= 2,
    "quiescence": lambda part: part[-1]["p"],
    "request_reply": lambda part: answered(part, "s") and first(part, "p") <= first(part, "s"),
}
WORDS = {
    "globally": "",
    "before": " before A.r",
    "after": " after A.q",
    "between": " between A.q and A.r",
    "until": " after A.q until A.r",
}


def random_run(chance: Random) -> list[State]:
    weights = {letter: chance.choice((0.15, 0.4, 0.7)) for letter in LETTERS}
    states = range(chance.randint(1, 9))
    return [{letter: chance.random() < weights[letter] for letter in LETTERS} for _ in states]


def recorded(run: list[State]) -> possibly.RecordedRun:
    builder = TraceBuilder("run.jsonl")
    builder.header([("A", run[0])], {})
    for state in run[1:]:
        builder.add("A", set=state)
    return possibly.RecordedRun(builder.finish())


def line_of(name: str, scope: str) -> str:
    given = {"n": "2"} | {letter: f"A.{letter}" for letter in LETTERS}
    return f"pattern {name}({', '.join(given[each] for each in BY_NAME[name].parameters)}){WORDS[scope]}"


CASES = [(name, scope) for name in MEANINGS for scope in SCOPES[: len(BY_NAME[name].templates)]]


@pytest.mark.parametrize(("name", "scope"), CASES)
def test_a_pattern_says_what_it_is_defined_to_say(name: str, scope: str) -> None:
    chance = random.Random(f"{name} {scope}")
    ((found,),) = [read_specification(line_of(name, scope)).properties]
    answers = set()
    for _ in range(RUNS):
        run = random_run(chance)
        expected = all(MEANINGS[name](part) for part in stretches(run, scope))
        assert possibly.check(recorded(run), ltl=found.text).holds is expected, (run, found.text)
        answers.add(expected)
    assert answers == {True, False}


def judged(run: possibly.RecordedRun, found: Property) -> bool | None:
    report = check_trace(run.trace, Specification(properties=(found,)), Options())
    return report.verdicts[0].holds


GROUP = '"W*"'
RUN_OF_THREE = [(1, True), (2, True), (1, False), (3, True), (2, False), (3, False)]


def of_workers(steps: list[tuple[int, bool]]) -> possibly.RecordedRun:
    """One thing after the other, so that there is one order."""
    builder = TraceBuilder("run.jsonl")
    builder.header([(f"W{n}", {"on": False}) for n in (1, 2, 3)], {"turn": 0})
    for number, (worker, value) in enumerate(steps):
        builder.add(f"W{worker}", kind="write", set={"on": value}, write={"turn": number})
    return possibly.RecordedRun(builder.finish())


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        (f"mutex({GROUP}.on)", False),
        (f"at_most(1, {GROUP}.on)", False),
        (f"at_most(2, {GROUP}.on)", True),
        (f"leadership({GROUP}.on)", False),
        (f"at_most_once({GROUP}.on)", True),
        (f"absence({GROUP}.on)", False),
        ("lock_order(W1.on, W2.on)", True),
        ("lock_order(W2.on, W1.on)", False),
    ],
)
def test_groups_of_processes(line: str, holds: bool) -> None:
    (found,) = read_specification(f"pattern {line}").properties
    assert judged(of_workers(RUN_OF_THREE), found) is holds


def test_one_at_a_time_is_a_mutex_and_a_leadership() -> None:
    run = of_workers([(1, True), (1, False), (2, True), (2, False)])
    for line in (f"mutex({GROUP}.on)", f"leadership({GROUP}.on)"):
        (found,) = read_specification(f"pattern {line}").properties
        assert judged(run, found)


@pytest.mark.parametrize(
    ("received", "holds"), [([], True), ([1], True), ([1, 2], True), ([2], False), ([1, 2, 3], False)]
)
def test_fifo(received: list[int], holds: bool) -> None:
    builder = TraceBuilder("run.jsonl")
    builder.header([("A", {"sent": [1, 2], "got": []})], {})
    for end in range(len(received)):
        builder.add("A", set={"got": received[: end + 1]})
    (found,) = read_specification("pattern fifo(A.sent, A.got)").properties
    assert possibly.check(builder.finish(), ctl=found.text).holds is holds


def test_messages() -> None:
    builder = TraceBuilder("run.jsonl")
    builder.header([("A", {}), ("B", {})], {})
    for name in ("m1", "m2"):
        builder.add("A", kind="send", msg=name, to="B")
    builder.add("B", kind="receive", msg="m1")
    run = builder.finish()
    for line, holds in (("no_lost_message()", False), ("in_flight(1)", False), ("in_flight(2)", True)):
        (found,) = read_specification(f"pattern {line}").properties
        assert judged(possibly.RecordedRun(run), found) is holds


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_every_example_can_be_read(pattern: Pattern) -> None:
    (found,) = read_specification(f"pattern {pattern.example}").properties
    assert found.name == pattern.name
