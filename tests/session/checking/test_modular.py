"""`check --modular`: the same answers as on the whole net, and where the modules were judged apart."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.logic.specification import Specification, property_from_text
from possibly.order.computation import Computation
from possibly.session.checking.check import Options, check_trace
from possibly.session.checking.modular import modules_of
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from possibly.verdict.model import Truth, Verdict
from tests.detection.tasks.reference import known_names, random_net, random_tl
from tests.detection.tasks.test_laws import composed, in_the_fragment

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
THREE = "P(x=0): a{x=1} send(m) | Q: recv(m) | R(y=0): b{y=1} | S(z=0): enter(f) exit(f)"


def verdict(run: Trace, text: str, modular: bool = True) -> Verdict:
    specification = Specification(properties=(property_from_text("tl", text, "it"),))
    return check_trace(run, specification, Options(modular=modular)).verdicts[0]


def is_apart(found: Verdict) -> bool:
    return found.notes[0].startswith("judged by")


def test_modules_are_what_nothing_orders_with_the_rest() -> None:
    computation = Computation(trace(THREE), "sync")
    assert modules_of(computation) == (frozenset("PQ"), frozenset("R"), frozenset("S"))


@pytest.mark.parametrize("wide", [False, True])
def test_random_nets_have_the_answers_that_they_have_as_a_whole(wide: bool) -> None:
    apart = violated = 0
    for seed in range(30 * MANY):
        random = Random(f"modular {wide} {seed}")
        one, two = random_net(random, random.randint(1, 6)), random_net(random, random.randint(1, 5))
        run = composed(one, two, random)
        names = known_names(one)
        operators = ("not", "and", "or", "implies", *(("next", "sometime", "until") if wide else ()))
        own = names if wide else [name for name in names if name in ("x", "f.x")]
        if not own:
            continue
        formula = random_tl(random, own, 2, operators).text
        text = formula if wide else in_the_fragment(random, formula)[0]
        modular, whole = verdict(run, text), verdict(run, text, modular=False)
        assert (modular.truth, modular.observed) == (whole.truth, whole.observed), text
        if is_apart(modular) and modular.witness is not None:
            assert whole.witness is not None and len(modular.witness.path) == len(whole.witness.path)
        apart, violated = apart + is_apart(modular), violated + (modular.truth is Truth.VIOLATED)
    assert apart > 3 and violated > 3


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("t:(x == 1) implies not sometime t:(x == 1)", "time, functions, callers"),
        ("t:(x == 5) if t != w", "time, functions, callers"),
        ("t:(x == 0) or w:(y == 0)", "variables are those of several modules"),
    ],
)
def test_what_the_law_does_not_cover_is_judged_as_a_whole(text: str, why: str) -> None:
    found = verdict(trace(THREE), text)
    assert found.notes[0].startswith("not judged by modules") and why in found.notes[0]


def test_functions_of_one_task_at_a_time() -> None:
    found = verdict(trace(THREE), "t:(in.f) implies t:(z == 1)")
    assert is_apart(found) and found.truth is Truth.VIOLATED
    assert found.witness is not None and dict(found.witness.cut) == {"P": 0, "Q": 0, "R": 0, "S": 1}
    assert found.witness.path == ("S:1",)
