"""Lassos against the definition: every way to a cut, and every way on to one of the same state."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from possibly.detection.lassos.search import FAIRNESS, Lassos
from possibly.detection.limits import Budget
from possibly.logic.bind import bind_property
from possibly.logic.specification import property_from_text
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.sampling import sampled

ATOMS = ("P.x == 1", "Q.x == 1", "P.x == Q.x", "transit() == 0")
UNARY, BINARY = ("F", "G", "X", "N", "!"), ("U", "R", "W", "&", "|", "->")


def random_run(random: Random) -> Trace:
    builder = TraceBuilder()
    builder.header(processes=[("P", {"x": 0}), ("Q", {"x": 0})])
    waiting: list[tuple[str, str]] = []
    for number in range(random.randint(3, 7)):
        name = random.choice("PQ")
        fields: dict[str, Any] = {"set": {"x": random.randint(0, 1)}} if random.random() < 0.5 else {}
        mine = [message for message, to in waiting if to == name]
        if mine and random.random() < 0.7:
            waiting.remove((mine[0], name))
            builder.add(name, kind="receive", msg=mine[0], **fields)
        elif random.random() < 0.3:
            other = "Q" if name == "P" else "P"
            builder.add(name, kind="send", msg=f"m{number}", to=other, **fields)
            waiting.append((f"m{number}", other))
        else:
            builder.add(name, **fields)
    return builder.finish()


def random_formula(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.15:
        return random.choice(ATOMS)
    if random.random() < 0.5:
        return f"{random.choice(UNARY)}({random_formula(random, depth - 1)})"
    left, right = random_formula(random, depth - 1), random_formula(random, depth - 1)
    return f"(({left}) {random.choice(BINARY)} ({right}))"


class Plain:
    """The definition, with nothing of the engine but the lattice and the truth of predicates."""

    def __init__(self, lattice: Lattice, predicates: CutPredicates, fairness: str) -> None:
        self.lattice, self.predicates, self.fairness = lattice, predicates, fairness

    def has_breaking(self, formula: Node) -> bool:
        return any(not self.holds(formula, stem, loop) for stem, loop in self.lassos())

    def lassos(self) -> Iterator[tuple[list[int], list[int]]]:
        """The cuts before the loop, and those of the loop."""
        for stem in self.ways([self.lattice.initial]):
            for loop in self.ways([stem[-1]]):
                start, end = stem[-1], loop[-1]
                if start != end and self.state(start) == self.state(end) and self.is_fair(start, end):
                    yield stem[:-1], loop[:-1]

    def ways(self, cuts: list[int]) -> Iterator[list[int]]:
        yield cuts
        for following in self.lattice.successors(cuts[-1]):
            yield from self.ways([*cuts, following])

    def state(self, cut: int) -> object:
        run = self.lattice.computation.trace
        counts = self.lattice.unpack(cut)
        found: list[object] = []
        for process, count in enumerate(counts):
            events = run.events_of[process]
            value = 0
            for event in events[:count]:
                value = dict(run.sets(event)).get("x", value)
            found += [value, run.kind[events[count - 1]] if count else None, count == len(events)]
        for send, receive in zip(run.delivery_send, run.delivery_receive, strict=True):
            sent = run.position[send] <= counts[run.process[send]]
            taken = receive >= 0 and run.position[receive] <= counts[run.process[receive]]
            found += [run.process[send]] if sent and not taken else []
        return tuple(found[:6]), tuple(sorted(map(str, found[6:])))

    def is_fair(self, start: int, end: int) -> bool:
        """Who does not move on the loop is unable to at its first cut (weak), at all of its cuts (strong)."""
        before, after = self.lattice.unpack(start), self.lattice.unpack(end)
        able = {move.processes[0] for move in self.lattice.moves(end if self.fairness == "strong" else start)}
        return self.fairness == "any" or not any(before[each] == after[each] for each in able)

    def holds(self, formula: Node, stem: list[int], loop: list[int]) -> bool:
        word = [*stem, *loop]
        return self.truths(formula, word, len(stem))[0]

    def truths(self, node: Node, word: list[int], back: int) -> list[bool]:
        """The truth of a formula at each position of a word whose last position is followed by `back`."""
        following = [*range(1, len(word)), back]
        match node:
            case Not(operand):
                return [not each for each in self.truths(operand, word, back)]
            case And((left, right)):
                return [
                    a and b
                    for a, b in zip(
                        self.truths(left, word, back), self.truths(right, word, back), strict=True
                    )
                ]
            case Or((left, right)):
                return self.truths(Not(And((Not(left), Not(right)))), word, back)
            case Implies(left, right):
                return self.truths(Not(And((left, Not(right)))), word, back)
            case Temporal("X" | "N", (operand,)):
                inner = self.truths(operand, word, back)
                return [inner[each] for each in following]
            case Temporal("F", (operand,)):
                goal = self.truths(operand, word, back)
                return self.least([True] * len(word), goal, following)
            case Temporal("U", (left, right)):
                return self.least(self.truths(left, word, back), self.truths(right, word, back), following)
            case Temporal("G", (operand,)):
                return self.truths(Not(Temporal("F", (Not(operand),))), word, back)
            case Temporal("R", (left, right)):
                return self.truths(Not(Temporal("U", (Not(left), Not(right)))), word, back)
            case Temporal("W", (left, right)):
                return self.truths(Or((Temporal("U", (left, right)), Temporal("G", (left,)))), word, back)
        return [self.predicates(node)(cut) for cut in word]

    def least(self, stays: list[bool], goal: list[bool], following: list[int]) -> list[bool]:
        found = list(goal)
        for _ in found:
            found = [now or (stays[k] and found[following[k]]) for k, now in enumerate(found)]
        return found


def asked(run: Trace, text: str) -> tuple[Lattice, CutPredicates, Node]:
    lattice = Lattice(Computation(run))
    formula = bind_property(property_from_text("ltl", text, "it"), vocabulary(run), ()).formula
    return lattice, CutPredicates(lattice, Readings(lattice.computation)), formula


@pytest.mark.parametrize("fairness", FAIRNESS)
def test_lassos_are_those_of_the_definition(fairness: str) -> None:
    broken = 0
    for seed in range(sampled(120)):
        random = Random(f"{seed} {fairness}")
        text = random_formula(random, 3)
        lattice, predicates, formula = asked(random_run(random), text)
        engine, plain = Lassos(lattice, predicates, Budget(), fairness), Plain(lattice, predicates, fairness)
        lasso = engine.breaking(formula)
        assert (lasso is not None) == plain.has_breaking(formula), (seed, text)
        if lasso is not None:
            broken += 1
            cuts = along(lattice, lasso.path)
            start, end = cuts[lasso.start], cuts[-1]
            assert plain.state(start) == plain.state(end) and plain.is_fair(start, end)
            assert not plain.holds(formula, cuts[: lasso.start], cuts[lasso.start : -1])
    assert broken > 2


def along(lattice: Lattice, path: tuple[Move, ...]) -> list[int]:
    cuts = [lattice.initial]
    for move in path:
        assert move in lattice.moves(cuts[-1])
        cuts.append(cuts[-1] + move.delta)
    return cuts


TURNS = "P(x=0): a{x=1} b{x=0} c{x=1} d{x=0} e{x=5} | Q(y=0): f{y=1}"


@pytest.mark.parametrize(
    ("fairness", "text", "breaks"),
    [
        ("any", "F(Q.y == 1)", True),
        ("weak", "F(Q.y == 1)", False),
        ("strong", "F(Q.y == 1)", False),
        ("weak", "F(P.x == 5)", True),
        ("weak", "G F(P.x == 1)", False),
        ("weak", "F G(P.x == 0)", True),
    ],
)
def test_what_is_fair(fairness: str, text: str, breaks: bool) -> None:
    lattice, predicates, formula = asked(trace(TURNS), text)
    assert (Lassos(lattice, predicates, Budget(), fairness).breaking(formula) is not None) == breaks
