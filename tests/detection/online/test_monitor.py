"""Slices and verdicts of growing runs: after every event the same as those of the run so far, off-line."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from possibly.detection.online import search as online_search
from possibly.detection.online.final import is_final
from possibly.detection.online.monitor import Monitor, Possibly, open_vocabulary
from possibly.detection.online.slice import OnlineSlice
from possibly.detection.online.terms import MOST_ALTERNATIVES, alternatives
from possibly.errors import FormulaError, UsageError
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node, Not
from possibly.order.computation import Cut, Place, join, meet
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step
from tests.detection.online.any_slice import GeneralSlice
from tests.detection.online.arrivals import Fields, SoFar, growing_like, least_with, lines_of
from tests.generate import random_atom, random_formula, random_trace
from tests.sampling import sampled


def bound(text: str, growing: Growing) -> Node:
    return bind(parse(text, "ctl"), open_vocabulary(growing)).formula


class Arrivals:
    """A generated run that arrives in a random order, one line at a time."""

    def __init__(self, seed: int, events: int = 7, *, in_order: bool = False) -> None:
        self.random = Random(seed)
        self.trace = random_trace(self.random, events=self.random.randint(0, events))
        self.growing = growing_like(self.trace)
        self.so_far = SoFar(self.growing)
        self.lines = lines_of(self.trace, self.random)
        if not in_order:
            self.random.shuffle(self.lines)

    def conjunction(self, most: int = 3) -> str:
        """Literals that can be followed on-line; few that can be are left out."""
        literals: list[str] = []
        wanted = self.random.randint(1, most)
        while len(literals) < wanted:
            atom = random_atom(self.random, self.trace)[0]
            literal = f"({atom})" if self.random.random() < 0.7 else f"!({atom})"
            literals += [literal] if self.predicate(literal) is not None else []
        return " & ".join(literals)

    def formula(self, text: str) -> Node:
        return bound(text, self.growing)

    def predicate(self, text: str) -> Node | None:
        """The predicate, if it has an on-line form."""
        node = self.formula(text)
        try:
            alternatives(node)
        except FormulaError:
            return None
        return node


# ---- EF ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", range(10))
def test_the_first_moment_and_the_least_cut(batch: int) -> None:
    """After every arrival: possible iff a satisfying cut exists, at the least cut of an alternative."""
    seen: Counter[str] = Counter()
    for seed in range(batch * 100_000, batch * 100_000 + sampled(100)):
        run = Arrivals(seed)
        text = random_formula(run.random, run.trace, ["&", "|"], run.random.randint(0, 2)).text
        node = run.predicate(text)
        seen["refused"] += node is None
        if node is None:
            continue
        search = Possibly(run.growing, node)
        run.growing.follow(search.take)
        for number in range(len(run.lines) + 1):
            if number:
                run.growing.arrive(run.lines[number - 1])
            slices = run.so_far.slices(node)
            least = {part.least for part in slices or () if part.least is not None}
            satisfying = run.so_far.satisfying(node)
            assert search.standing.value == bool(satisfying) == search.standing.is_final, (seed, text)
            if search.moment is not None and search.moment.cut is not None:
                cut = tuple(search.moment.cut.values())
                assert cut in satisfying and (slices is None or cut in least), (seed, text)
            seen["found" if search.moment else "not found"] += 1
        assert run.growing.taken == len(run.lines)
        run.growing.finish()
    assert min(seen["found"], seen["not found"]) > sampled(50) and seen["refused"] < sampled(60)


def test_what_is_dropped_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same when everything that can be dropped is dropped at once."""
    monkeypatch.setattr(online_search, "KEPT_ANYWAY", 0)
    test_the_first_moment_and_the_least_cut(77)


def test_long_runs_are_followed_to_the_end() -> None:
    """Several hundred events, arriving late; the off-line slice is asked now and then."""
    for seed in range(sampled(4)):
        random = Random(seed)
        trace = random_trace(random, events=600)
        names = [process.name for process in trace.processes]
        growing = growing_like(trace)
        so_far = SoFar(growing)
        literals = [f"{name}.x {random.choice(['== 1', '!= 0'])}" for name in names]
        node = bound(" & ".join([*literals, "s == 1", "transit() == 0"]), growing)
        slice_, search = OnlineSlice(growing, node), Possibly(growing, node)
        growing.follow(search.take)
        lines = sorted(enumerate(lines_of(trace, random)), key=lambda line: line[0] + random.uniform(0, 30))
        for number, (_, fields) in enumerate(lines):
            growing.arrive(fields)
            if number % 40 == 0:
                parts = so_far.slices(node)
                assert parts is not None and len(parts) < 2
                expected = (parts[0].least, parts[0].greatest) if parts else (None, None)
                assert (slice_.least, slice_.greatest) == expected
                found = search.moment
                assert (tuple(found.cut.values()) if found and found.cut else None) == expected[0]


@pytest.mark.parametrize("batch", range(4))
def test_the_moment_is_the_first(batch: int) -> None:
    """The event it names is the one after which a satisfying cut exists, and none did before."""
    for seed in range(batch * 100_000, batch * 100_000 + sampled(60)):
        run = Arrivals(seed, in_order=True)
        node = run.formula(run.conjunction())
        search = Possibly(run.growing, node)
        run.growing.follow(search.take)
        possible: list[tuple[int, str | None]] = [(0, None)] if run.so_far.satisfying(node) else []
        for fields in run.lines:
            run.growing.arrive(fields)
            if run.so_far.satisfying(node) and not possible:
                possible.append((run.growing.taken, run.so_far.trace.name(run.growing.taken - 1)))
        found = search.moment
        assert ([] if found is None else [(found.events, found.event)]) == possible


# ---- slices -----------------------------------------------------------------------------------------


def check_slice(slice_: OnlineSlice, so_far: SoFar, node: Node, what: object) -> None:
    satisfying = so_far.satisfying(node)
    off_line = so_far.slices(node)
    assert off_line is not None and len(off_line) < 2, what
    assert slice_.is_empty == (not satisfying), what
    assert slice_.least == (min(satisfying, key=sum) if satisfying else None), what
    assert slice_.greatest == (max(satisfying, key=sum) if satisfying else None), what
    for process in range(len(so_far.computation.lengths)):
        found = list(slice_.irreducible(process))
        if off_line:
            assert found == list(off_line[0].irreducible(process)), what
        for position, cut in enumerate(found, start=1):
            assert cut == least_with(satisfying, (process, position)), what
    assert {cut for cut in so_far.cuts if slice_.contains(cut)} == satisfying, what


@pytest.mark.parametrize("batch", range(10))
def test_the_slice_is_that_of_the_run_so_far(batch: int) -> None:
    sliced = 0
    for seed in range(batch * 100_000, batch * 100_000 + sampled(100)):
        run = Arrivals(seed)
        text = run.conjunction()
        node = run.formula(text)
        if len(alternatives(node)) > 1:
            continue
        sliced += 1
        slice_ = OnlineSlice(run.growing, node)
        check_slice(slice_, run.so_far, node, (seed, text))
        for fields in run.lines:
            run.growing.arrive(fields)
            check_slice(slice_, run.so_far, node, (seed, text))
    assert sliced > sampled(60)


def test_the_edges_of_a_slice_give_its_cuts() -> None:
    for seed in range(150):
        run = Arrivals(seed)
        node = run.formula(run.conjunction())
        if len(alternatives(node)) > 1:
            continue
        slice_ = OnlineSlice(run.growing, node)
        for fields in run.lines:
            run.growing.arrive(fields)
        edges = list(slice_.edges())
        closed = {cut for cut in run.so_far.cuts if _is_closed(cut, edges)}
        assert closed == run.so_far.satisfying(node)


def _is_closed(cut: Cut, edges: list[tuple[Place | None, Place | None]]) -> bool:
    def inside(place: Place | None, fictitious: bool) -> bool:
        return fictitious if place is None else cut[place[0]] >= place[1]

    return all(inside(e, False) or not inside(f, True) for e, f in edges)


def test_an_edge_of_a_slice_is_told_once() -> None:
    """J(e) is kept as what changes along a process: here once, whatever the length."""
    growing = Growing([("P", {"x": 0}), ("Q", {"x": 0})])
    slice_ = OnlineSlice(growing, bound("P.x == 0 & Q.x == 0", growing))
    growing.arrive({"p": "P", "kind": "send", "msg": "m", "to": "Q"})
    growing.arrive({"p": "Q", "kind": "receive", "msg": "m"})
    for _ in range(50):
        growing.arrive({"p": "Q"})
    assert list(slice_.edges()) == [((0, 1), (1, 1))]


def test_a_disjunction_has_no_slice_on_line() -> None:
    growing = Growing([("P", {"x": 0}), ("Q", {"x": 0})])
    with pytest.raises(FormulaError, match="disjunction of 2 regular predicates"):
        OnlineSlice(growing, bound("P.x == 1 | Q.x == 1", growing))


# ---- any predicate: Algo 4.4 ------------------------------------------------------------------------


class Oracle:
    """Tests for EF by visiting every cut; follows the run before the slice does."""

    def __init__(self, so_far: SoFar, node: Node) -> None:
        self.so_far, self.node = so_far, node
        self.satisfying = so_far.satisfying(node)
        so_far.growing.follow(self._take)

    def _take(self, step: Step) -> None:
        self.satisfying = self.so_far.satisfying(self.node)

    def __call__(self, e: Place | None, f: Place | None) -> bool:
        cuts = (cut for cut in self.satisfying if f is None or cut[f[0]] >= f[1])
        return any(e is None or cut[e[0]] < e[1] for cut in cuts)


@pytest.mark.parametrize("batch", range(8))
def test_the_general_slice_is_that_of_the_run_so_far(batch: int) -> None:
    for seed in range(batch * 100_000, batch * 100_000 + sampled(40)):
        run = Arrivals(seed, events=6)
        formula = random_formula(run.random, run.trace, ["&", "|"], run.random.randint(0, 2))
        if "done" in formula.text:
            continue  # its truth at a cut changes as the run grows
        node = run.formula(formula.text)
        general = GeneralSlice(run.growing, Oracle(run.so_far, node))
        check_general(general, run.so_far, node, (seed, formula.text))
        for fields in run.lines:
            asked, taken = general.tests, run.growing.taken
            run.growing.arrive(fields)
            check_general(general, run.so_far, node, (seed, formula.text))
            if run.growing.taken == taken + 1:
                assert general.tests - asked <= most_tests(run.so_far)


def test_what_happened_before_the_new_event_is_passed_at_once() -> None:
    """Figure 4.9: a hundred events before the one that makes the predicate possible cost no tests."""
    growing = Growing([("P", {}), ("Q", {"x": 0})])
    so_far = SoFar(growing)
    general = GeneralSlice(growing, Oracle(so_far, bound("Q.x == 1", growing)))
    for _ in range(100):
        growing.arrive({"p": "P"})
    asked = general.tests
    growing.arrive({"p": "Q", "set": {"x": 1}, "after": ["P:100"]})
    assert general.greatest == general.least == (100, 1)
    assert general.tests - asked <= most_tests(so_far) == 12


def test_the_search_goes_on_from_the_event_before() -> None:
    """Lemma 4.22: along a process F never sinks, so concurrent events are not tried pair by pair."""
    growing = Growing([("P", {}), ("Q", {}), ("R", {"x": 0})])
    so_far = SoFar(growing)
    general = GeneralSlice(growing, Oracle(so_far, bound("R.x == 1", growing)))
    for _ in range(12):
        growing.arrive({"p": "P"})
        growing.arrive({"p": "Q"})
    asked = general.tests
    growing.arrive({"p": "R", "set": {"x": 1}})
    assert general.tests - asked <= most_tests(so_far) == 6 * 24 + 27


def check_general(general: GeneralSlice, so_far: SoFar, node: Node, what: object) -> None:
    satisfying = so_far.satisfying(node)
    lengths = so_far.computation.lengths
    assert general.is_empty == (not satisfying), what
    if not satisfying:
        return
    low = high = next(iter(satisfying))
    for cut in satisfying:
        low, high = meet(low, cut), join(high, cut)
    assert (general.least, general.greatest) == (low, high), what
    for place in so_far.places():
        assert general.irreducible(*place) == least_with(satisfying, place), what
        assert general.first_needing(*place) == tuple(
            first_needing(satisfying, place, process, length) for process, length in enumerate(lengths)
        ), what


def first_needing(satisfying: set[Cut], e: Place, process: int, length: int) -> int:
    """F(e)[j] by its definition."""
    without = [cut[process] for cut in satisfying if cut[e[0]] < e[1]]
    return max(without) + 1 if without else 0


def most_tests(so_far: SoFar) -> int:
    """Section 4.4: for each pair of processes the concurrent events of both, and a constant."""
    computation, last = so_far.computation, len(so_far.trace) - 1
    concurrent = [
        sum(computation.concurrent(event, last) for event in events) for events in so_far.trace.events_of
    ]
    return sum(c + d + 3 for c in concurrent for d in concurrent)


# ---- verdicts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", range(8))
def test_verdicts_are_those_of_the_run_so_far_and_final_ones_stay(batch: int) -> None:
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in range(batch * 100_000, batch * 100_000 + sampled(80)):
        run = Arrivals(seed)
        node = run.formula(combination(run))
        try:
            monitor = Monitor(run.growing, node)
        except FormulaError:
            continue
        settled: bool | None = None
        for number in range(len(run.lines) + 1):
            if number:
                run.growing.arrive(run.lines[number - 1])
            standing = monitor.standing
            assert standing.value == run.so_far.holds(node), (seed, node)
            assert settled is None or standing.value == settled, (seed, node)
            if is_final(node, standing.value):
                assert standing.is_final, (seed, node)
            settled = standing.value if standing.is_final else settled
            seen[standing.value, standing.is_final] += 1
    assert len(seen) == 4 and min(seen.values()) > sampled(20), seen


def combination(run: Arrivals) -> str:
    def part() -> str:
        operator = run.random.choice(["EF", "AG", "EG", "AF"])
        inner = run.conjunction(2)
        return f"{operator}({inner if operator in ('EF', 'EG') else f'!({inner})'})"

    match run.random.randint(0, 5):
        case 0:
            return f"{part()} & {part()}"
        case 1:
            return f"{part()} | !{part()}"
        case 2:
            return f"{part()} -> {part()}"
        case 3:
            return f"{part()} <-> {run.conjunction(1)}"
    return part()


@pytest.mark.parametrize("batch", range(8))
def test_what_is_called_final_never_changes(batch: int) -> None:
    """Any formula of branching time, evaluated on every beginning of a run by visiting cuts."""
    finals = 0
    for seed in range(batch * 100_000, batch * 100_000 + sampled(60)):
        run = Arrivals(seed, events=6)
        operators = ["EF", "AF", "EG", "AG", "EX", "AX", "EX[]", "EU", "AU"]
        text = random_formula(run.random, run.trace, operators, run.random.randint(1, 2)).text
        node = run.formula(text)
        values = [run.so_far.holds(node)]
        for fields in run.lines:
            run.growing.arrive(fields)
            values.append(run.so_far.holds(node))
        for number, value in enumerate(values):
            if is_final(node, value):
                finals += 1
                assert set(values[number:]) == {value}, (seed, text)
    assert finals > sampled(40)


@pytest.mark.parametrize(
    ("text", "when_true", "when_false"),
    [
        ("EF(P.x == 1)", True, False),
        ("AG(P.x == 1)", False, True),
        ("EG(P.x == 1 & Q.x == 1)", False, True),
        ("EG(P.x == 1 | Q.x == 1)", False, False),
        ("EG(transit(P, Q) <= 1)", False, False),
        ("AF(P.x == 1 | Q.x == 1)", True, False),
        ("AF(P.x == 1 & Q.x == 1)", False, False),
        ("E[P.x == 0 U Q.x == 1]", True, False),
        ("A[P.x == 0 U Q.x == 1]", False, False),
        ("EX(EF(P.x == 1))", True, False),
        ("AX(P.x == 1)", False, True),
        ("EF(AG(P.x == 1))", False, False),
        ("EF(P.x == 1) & !AG(Q.x == 1)", True, False),
        ("EF(P.x == 1) -> AG(Q.x == 1)", False, True),
        ("EF(done(P))", False, False),
        ("P.x == 1", True, True),
        ("(P.x == 1) <-> EF(P.x == 1)", False, False),
    ],
)
def test_which_answers_are_final(text: str, when_true: bool, when_false: bool) -> None:
    node = bound(text, Growing([("P", {"x": 0}), ("Q", {"x": 0})]))
    assert (is_final(node, True), is_final(node, False)) == (when_true, when_false)


def test_a_channel_may_be_emptied_by_an_event_that_arrives_later() -> None:
    """Why EG of a channel predicate is not final when it is false."""
    growing = Growing([("P", {}), ("Q", {})])
    so_far = SoFar(growing)
    node = bound("EG(transit(P, Q) <= 1)", growing)
    values = []
    for fields in sends_and_a_receive():
        growing.arrive(fields)
        values.append(so_far.holds(node))
    assert values == [True, False, True]


def sends_and_a_receive() -> list[Fields]:
    send: Fields = {"p": "P", "kind": "send", "to": ["Q"]}
    return [{**send, "msg": "a"}, {**send, "msg": "b"}, {"p": "Q", "kind": "receive", "msg": "a"}]


def test_the_violation_is_reported_with_its_first_moment() -> None:
    growing = Growing([("P", {"cs": False}), ("Q", {"cs": False})])
    monitor = Monitor(growing, bound("AG(!(P.cs & Q.cs))", growing))
    assert (monitor.standing.value, monitor.standing.is_final) == (True, False)
    growing.arrive({"p": "P", "set": {"cs": True}})
    growing.arrive({"p": "P", "set": {"cs": False}})
    growing.arrive({"p": "P", "set": {"cs": False}})
    assert (monitor.standing.value, monitor.standing.is_final) == (True, False)
    growing.arrive({"p": "Q", "id": "enter", "set": {"cs": True}})
    growing.arrive({"p": "Q", "set": {"cs": False}})
    standing = monitor.standing
    assert (standing.value, standing.is_final) == (False, True)
    assert standing.moment is not None
    assert (standing.moment.cut, standing.moment.event, standing.moment.events) == (
        {"P": 1, "Q": 1},
        "enter",
        4,
    )


def test_two_writes_of_one_step_are_never_seen_apart() -> None:
    growing = Growing([("P", {}), ("Q", {})], {"s": 0})
    so_far = SoFar(growing)
    nodes = [bound(text, growing) for text in ("EG(s != 1)", "EF(s == 1)", "AF(s == 2)")]
    monitors = [Monitor(growing, node) for node in nodes]
    both: Fields = {"meet": "m", "parties": ["P", "Q"]}
    growing.arrive({"p": "P", "write": {"s": 1}, **both})
    growing.arrive({"p": "Q", "write": {"s": 2}, **both})
    values = [monitor.standing.value for monitor in monitors]
    assert values == [True, False, True] == [so_far.holds(node) for node in nodes]


def test_labels_and_the_stack_of_functions_are_followed() -> None:
    growing = Growing([("P", {})])
    texts = ('at(P, "m1")', "start(P, f)", "inside(P, f) & !start(P, f)", "term(P, f)", "inside(P, g)")
    monitors = [Monitor(growing, bound(f"EF({text})", growing)) for text in texts]
    found: list[list[bool]] = []
    for fields in (
        {"kind": "enter", "fn": "f"},
        {"label": "m1"},
        {"kind": "exit", "fn": "f"},
        {"kind": "enter", "fn": "g"},
    ):
        growing.arrive({"p": "P", **fields})
        found.append([monitor.standing.value for monitor in monitors])
    no, yes = False, True
    assert found == [
        [no, yes, no, no, no],
        [yes, yes, yes, no, no],
        [yes, yes, yes, yes, no],
        [yes, yes, yes, yes, yes],
    ]


def test_faults_are_listed() -> None:
    growing = Growing([("P", {"x": 1})])
    monitor = Monitor(growing, bound("EF(P.x + 1 > 5)", growing))
    growing.arrive({"p": "P", "set": {"x": "a"}})
    assert monitor.standing.value is False
    assert len(monitor.faults) == 1 and "P.x + 1 > 5" in monitor.faults[0]


def test_a_process_that_comes_later_takes_part_in_the_order() -> None:
    growing = Growing([("P", {"x": 0}), ("Q", {"x": 0})])
    node = bound("P.x == 1 & Q.x == 1", growing)
    slice_, search = OnlineSlice(growing, node), Possibly(growing, node)
    growing.follow(search.take)
    for fields in (
        {"p": "P", "id": "a", "set": {"x": 1}},
        {"p": "P", "id": "b", "set": {"x": 0}},
        {"p": "new", "id": "c", "after": ["b"]},
        {"p": "Q", "id": "d", "set": {"x": 1}, "after": ["c"]},
    ):
        growing.arrive(fields)
    assert slice_.is_empty and search.moment is None
    growing.arrive({"p": "P", "set": {"x": 1}})
    assert slice_.least == (3, 1, 1) == slice_.greatest
    assert search.moment is not None and search.moment.cut == {"P": 3, "Q": 1, "new": 1}


# ---- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("EF(done(P))", "done\\(P\\) cannot be followed on-line: P may go on"),
        ("EF(P.x == Q.x)", "no combination of predicates on one process"),
        ("EF(transit() == 1)", "of all messages together only whether there are none"),
        ("EF(transit(P, Q) > 1e9)", "numbers of messages go up to"),
        ("EF(transit(P, Q) % 2 == 0)", "no combination"),
        ("EF(AF(P.x == 1))", "cannot be followed on-line inside another temporal operator"),
        ("EF(EF(P.x == 1) & AG(Q.x == 1))", "EF and AG beside each other"),
        ("EX(EF(P.x == 1))", "cannot be followed on-line"),
        ("EX(transit() == 0)", "cannot be followed on-line inside EX"),
        ("E[P.x == 1 | Q.x == 1 U P.x == 2]", "an until that waits through"),
        ("AF(P.x == 1 & s == 1)", "cannot be followed on-line"),
        ("EG(transit(P, Q) <= 1)", "EG\\(transit\\(P, Q\\) <= 1\\) cannot be followed on-line"),
        ("EG(P.x == 1 | s == 1)", "cannot be followed on-line"),
        ("done(P) & EF(P.x == 1)", "done\\(P\\)"),
    ],
)
def test_what_cannot_be_followed_is_refused(text: str, reason: str) -> None:
    growing = Growing([("P", {"x": 0}), ("Q", {"x": 0})])
    with pytest.raises(FormulaError, match=reason):
        Monitor(growing, bound(text, growing))


@pytest.mark.parametrize("text", ["EF(R.x == 1)", 'EF(at(R, "m"))', "EF(transit(P, R) == 0)"])
def test_a_formula_speaks_of_the_processes_of_the_header(text: str) -> None:
    growing = Growing([("P", {"x": 0})], {"a.b": 1})
    with pytest.raises(FormulaError, match="no event ever sets R.x|there is no process R"):
        bound(text, growing)
    assert Monitor(growing, bound("EF(a.b == 1 & P.y != 0)", growing)).standing.value is False


def test_too_many_alternatives_are_refused() -> None:
    names = [f"P{number}" for number in range(18)]
    growing = Growing([(name, {"x": 0}) for name in names])
    text = " & ".join(f"({p}.x == 1 | {q}.x == 1)" for p, q in zip(names[::2], names[1::2], strict=True))
    with pytest.raises(FormulaError, match=f"more than {MOST_ALTERNATIVES} alternatives"):
        Possibly(growing, bound(text, growing))
    with pytest.raises(FormulaError, match=f"more than {MOST_ALTERNATIVES} alternatives"):
        Possibly(growing, Not(bound(text.replace("&", "@").replace("|", "&").replace("@", "|"), growing)))


@pytest.mark.parametrize(("count", "is_followed"), [(23, True), (24, False)])
def test_mutual_exclusion_of_all_pairs(count: int, is_followed: bool) -> None:
    growing = Growing([(f"P{number}", {"cs": False}) for number in range(count)])
    node = bound('AG(forall i, j in "P*" if i != j: !(i.cs & j.cs))', growing)
    if not is_followed:
        with pytest.raises(FormulaError, match="alternatives"):
            Monitor(growing, node)
        return
    monitor = Monitor(growing, node)
    for number in range(5):  # one after the other, in every order
        before = [f"P{number - 1}:2"] if number else []
        growing.arrive({"p": f"P{number}", "set": {"cs": True}, "after": before})
        growing.arrive({"p": f"P{number}", "set": {"cs": False}})
        assert not monitor.standing.is_final
    growing.arrive({"p": "P20", "set": {"cs": True}, "after": ["P2:2"]})
    standing = monitor.standing
    assert standing.is_final and not standing.value and standing.moment is not None
    assert standing.moment.cut is not None
    assert {name: number for name, number in standing.moment.cut.items() if number} == {
        **dict.fromkeys(["P0", "P1", "P2"], 2),
        "P3": 1,
        "P20": 1,
    }


def test_the_example_of_the_chapter_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[3] / "docs/online.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    exec(block, {})  # noqa: S102 - our own chapter
    shown = [line.partition("  # ")[2] for line in block.splitlines() if line.startswith("print")]
    assert capsys.readouterr().out.splitlines() == shown


def test_shared_variables_need_the_causal_order() -> None:
    for text in ("EF(turn == 1)", "EG(turn == 0)"):
        growing = Growing([("P", {})], {"turn": 0}, "sync")
        with pytest.raises(FormulaError, match="shared variable turn cannot be followed on-line"):
            Monitor(growing, bound(text, growing))


def test_a_run_is_followed_from_its_beginning() -> None:
    growing = Growing([("P", {"x": 0})])
    growing.arrive({"p": "P"})
    with pytest.raises(UsageError, match="from its first event on"):
        Monitor(growing, bound("EF(P.x == 1)", growing))


# ---- cost -------------------------------------------------------------------------------------------


def test_memory_is_that_of_the_events_beyond_the_least_cut() -> None:
    """Both processes go on in step: what is kept does not grow with the run."""
    growing = Growing([("P", {"x": 0}), ("Q", {"x": 0})], remember=False)
    search = Possibly(growing, bound("P.x == 1 & Q.x == 1 & transit(P, Q) >= 1", growing))
    growing.follow(search.take)
    kept = []
    for number in range(3_000):
        growing.arrive({"p": "P", "kind": "send", "msg": f"m{number}", "to": "Q", "set": {"x": number % 2}})
        growing.arrive({"p": "Q", "kind": "receive", "msg": f"m{number}", "set": {"x": 0}})
        kept.append(search.size)
    assert search.moment is None
    assert max(kept) < 300
    growing.arrive({"p": "Q", "set": {"x": 1}})
    assert search.moment is None
    growing.arrive({"p": "P", "kind": "send", "to": "Q", "set": {"x": 1}})
    assert search.moment is not None and search.moment.cut == {"P": 3_001, "Q": 3_001}
    assert search.size == 0


def test_no_edge_is_read_twice() -> None:
    """A run on which the least cut rises with every event: each arc is read once by the search."""
    growing = Growing([(f"P{number}", {"x": 0}) for number in range(4)])
    search = Possibly(growing, bound(" & ".join(f"P{n}.x == 1" for n in range(4)), growing))
    growing.follow(search.take)
    read = CountingNeeds(search)
    edges = 0
    for number in range(400):
        p, q = f"P{number % 4}", f"P{(number + 1) % 4}"
        growing.arrive({"p": p, "kind": "send", "msg": f"m{number}", "to": q})
        growing.arrive({"p": q, "kind": "receive", "msg": f"m{number}"})
        edges += 1
    assert 0 < read.count <= edges


class CountingNeeds:
    """Counts how often the search looks at what an event needs."""

    def __init__(self, search: Possibly) -> None:
        self.count = 0
        (following, _), *_ = search._followed
        ground = following.ground
        add = ground.add

        def counted(line, needs, is_allowed):  # type: ignore[no-untyped-def]
            add(line, _Counted(needs, self), is_allowed)

        ground.add = counted  # type: ignore[method-assign]


class _Counted(list):  # type: ignore[type-arg]
    def __init__(self, needs: object, counter: CountingNeeds) -> None:
        super().__init__(needs)  # type: ignore[call-overload]
        self.counter = counter

    def __iter__(self):  # type: ignore[no-untyped-def]
        self.counter.count += len(self)
        return super().__iter__()
