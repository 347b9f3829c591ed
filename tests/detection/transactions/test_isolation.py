"""Isolation levels against their definition: every order of the transactions, every moment to begin."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations, product
from random import Random
from typing import Any

import pytest

from possibly.detection.limits import Budget
from possibly.detection.transactions.isolation import Isolation, Level, isolation_of
from possibly.errors import TraceError
from possibly.trace.histories.model import History, Keyword, Operation, Outcome
from possibly.trace.histories.read import read_history
from possibly.trace.histories.transactions import Act, Transaction, Verb, transactions_of

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 500 * MANY if MANY > 1 else 125
State = dict[str, Any]


def answer(transactions: Sequence[Transaction], level: str) -> Isolation:
    return isolation_of(transactions, Level(level), Budget(100_000))


# ---- the judge ----------------------------------------------------------------------------------


def outcome_of(state: State, transaction: Transaction) -> State | None:
    """The state after it, None if it would have read something else."""
    state = dict(state)
    for act in transaction.acts:
        if act.verb is Verb.APPEND:
            state[act.key] = (*state.get(act.key, ()), act.value)
        elif act.verb is Verb.WRITE:
            state[act.key] = act.value
        elif transaction.outcome is Outcome.OK and state.get(act.key) != act.value:
            return None
    return state


def in_a_row(order: Sequence[Transaction]) -> bool:
    state: State | None = {}
    for each in order:
        state = outcome_of(state or {}, each)
        if state is None:
            return False
    return True


def in_real_time(order: Sequence[Transaction]) -> bool:
    return in_a_row(order) and all(
        second.operation.returned is None or second.operation.returned > first.operation.called
        for first, second in combinations(order, 2)
    )


def on_snapshots(order: Sequence[Transaction]) -> bool:
    """In the order of their ends; each begins before, and meets no writer of the same key since."""
    return any(_is_run(order, starts) for starts in product(*(range(n + 1) for n in range(len(order)))))


def _is_run(order: Sequence[Transaction], starts: Sequence[int]) -> bool:
    states: list[State] = [{}]
    for number, each in enumerate(order):
        keys = written(each)
        if any(keys & written(other) for other in order[starts[number] : number]):
            return False
        after = outcome_of(states[starts[number]], each)
        if after is None:
            return False
        states.append({**states[-1], **{key: after[key] for key in keys}})
    return True


def written(transaction: Transaction) -> set[str]:
    return {act.key for act in transaction.acts if act.verb is not Verb.READ}


JUDGES: dict[str, Callable[[Sequence[Transaction]], bool]] = {
    "serializable": in_a_row, "strict": in_real_time, "snapshot": on_snapshots,
}  # fmt: skip


def truth(transactions: Sequence[Transaction], level: str) -> bool:
    certain = [each for each in transactions if each.outcome is Outcome.OK]
    unknown = [each for each in transactions if each.outcome is Outcome.UNKNOWN]
    return any(
        JUDGES[level](order)
        for count in range(len(unknown) + 1)
        for some in combinations(unknown, count)
        for order in permutations([*certain, *some])
    )


# ---- generated transactions ---------------------------------------------------------------------


def generated(random: Random, verb: Verb) -> list[Transaction]:
    """A few transactions on two keys, with reads that are often right for some order."""
    count = random.randint(2, 4)
    values = iter(range(1, 100))
    shapes = [[(random.choice((verb, Verb.READ)), random.choice("xy")) for _ in range(random.randint(1, 3))]
              for _ in range(count)]  # fmt: skip
    given = [[(v, key, next(values) if v is verb else None) for v, key in shape] for shape in shapes]
    order = random.sample(range(count), count)
    reads = _reads(random, given, order, verb)
    outcomes = [random.choices(list(Outcome), (8, 1, 1))[0] for _ in range(count)]
    return [_made(n, given[n], reads[n], outcomes[n], order, random) for n in range(count)]


def _reads(random: Random, given: list[Any], order: list[int], verb: Verb) -> list[list[Any]]:
    found: list[list[Any]] = [[] for _ in given]
    states: list[State] = [{}]
    for place, number in enumerate(order):
        begun = random.choice((place, place, max(0, place - 1)))
        view, last = dict(states[begun]), dict(states[-1])
        for v, key, value in given[number]:
            if v is Verb.READ:
                found[number].append(view.get(key))
            elif verb is Verb.APPEND:
                view[key] = (*(view.get(key) or ()), value)
                last[key] = (*(last.get(key) or ()), value)
            else:
                view[key] = last[key] = value
        states.append(last)
    return found


def _made(
    number: int, acts: list[Any], reads: list[Any], outcome: Outcome, order: list[int], random: Random
) -> Transaction:
    values = iter(reads)
    is_known = outcome is Outcome.OK
    told = tuple(
        Act(verb, key, (next(values) if is_known else None) if verb is Verb.READ else value)
        for verb, key, value in acts
    )
    called = 2 * order.index(number) - random.randint(0, 3)
    returned = called + random.randint(1, 5) if outcome is not Outcome.UNKNOWN else None
    operation = Operation(f"p{number}", "txn", (), (), outcome, called * 10 + number, None)
    if returned is not None:
        operation = Operation(
            f"p{number}", "txn", (), (), outcome, called * 10 + number, returned * 10 + number
        )
    return Transaction(number, told, operation)


@pytest.mark.parametrize("level", JUDGES)
@pytest.mark.parametrize("verb", [Verb.APPEND, Verb.WRITE])
def test_the_answer_is_that_of_the_definition(verb: Verb, level: str) -> None:
    random, seen = Random(f"{verb} {level}"), set()
    for _ in range(CASES):
        transactions = generated(random, verb)
        found = answer(transactions, level)
        seen.add(found.holds)
        if found.holds is not None:
            assert found.holds is truth(transactions, level), transactions
            assert bool(found.anomalies) is not found.holds
    assert False in seen
    assert (True in seen) or (verb is Verb.WRITE and level == "snapshot")


def test_a_cycle_leads_back_to_its_beginning() -> None:
    random = Random("cycles")
    for _ in range(CASES):
        cycle = answer(generated(random, Verb.APPEND), "strict").cycle
        for first, second in _around(cycle):
            assert first.second == second.first


def _around(cycle: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(cycle, [*cycle[1:], *cycle[:1]], strict=True)


# ---- examples -----------------------------------------------------------------------------------


def history(*rows: str) -> list[Transaction]:
    """Transactions one after another, unless a row begins with a process and a type of its own."""
    lines = [
        f"{{:process {n}, :type :{t}, :f :txn, :value {row}}}"
        for n, row in enumerate(rows)
        for t in ("invoke", "ok")
    ]
    return transactions_of(read_history("\n".join(lines)))


@pytest.mark.parametrize(
    ("rows", "name", "levels"),
    [
        (("[[:append 1 1]]", "[[:r 1 [1]]]"), None, "serializable strict snapshot"),
        (("[[:r 1 [1]] [:append 2 1]]", "[[:r 2 [1]] [:append 1 1]]"), "G1c", ""),
        (("[[:r 1 nil] [:append 2 1]]", "[[:r 2 nil] [:append 1 1]]"), "G2", "snapshot"),
        (("[[:append 1 1]]", "[[:r 1 nil]]"), "G-single-realtime", "serializable snapshot"),
        (("[[:r 1 nil] [:append 1 1]]", "[[:r 1 nil] [:append 1 2]]", "[[:r 1 [1 2]]]"), "G-single", ""),
        (("[[:append 1 1] [:append 1 2]]", "[[:r 1 [1]]]"), "G1b", ""),
        (("[[:append 1 1] [:r 1 nil]]",), "internal", ""),
        (("[[:r 1 [7]]]",), "garbage", ""),
        (("[[:append 1 1]]", "[[:append 1 2]]", "[[:r 1 [1 2]]]", "[[:r 1 [2]]]"), "incompatible order", ""),
        (("[[:w 1 1]]", "[[:r 1 1] [:w 1 2]]", "[[:r 1 1] [:w 1 3]]"), "G2", ""),
        (("[[:w 1 1]]", "[[:r 1 2]]", "[[:w 1 2]]"), "G1c-realtime", "serializable"),
    ],
)  # fmt: skip
def test_anomalies_have_their_names(rows: tuple[str, ...], name: str | None, levels: str) -> None:
    transactions = history(*rows)
    holding = [level for level in JUDGES if answer(transactions, level).holds]
    assert holding == levels.split()
    told = {each.name for level in JUDGES for each in answer(transactions, level).anomalies}
    assert name is None or name in told


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("[[:append 1 1]]", "[[:append 1 1]]"), "appended twice"),
        (("[[:w 1 1]]", "[[:w 1 1]]"), "written twice"),
        (("[[:w 1 1] [:append 2 1]]",), "appends or writes, not both"),
        (("[[:pop 1 1]]",), "no act 'pop'"),
        (("7",), "no list of reads and writes"),
        (("[[1 2]]",), r"\[verb key value\]"),
    ],
)
def test_errors_say_what_is_wrong(rows: tuple[str, ...], message: str) -> None:
    with pytest.raises(TraceError, match=message):
        answer(history(*rows), "serializable")


def test_keywords_and_texts_name_verbs() -> None:
    made = Operation("p", "txn", None, ((Keyword("r"), 1, 2), ("w", 1, 3)), Outcome.OK, 0, 1)
    (found,) = transactions_of(History((made,), 2))
    assert [act.verb for act in found.acts] == [Verb.READ, Verb.WRITE]
