"""What lies between slices, compiled and plain; and that only the slices that can matter are looked at."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.explicit.compiled import CompiledRows, algebra
from possibly.detection.explicit.rowsets import PlainRows, RowAlgebra, Set
from possibly.detection.limits import Budget
from possibly.detection.tasks.check import check_tasks
from possibly.detection.tasks.cuts import Evaluation
from possibly.detection.tasks.local import LocalFormulas
from possibly.detection.tasks.minimal import Minimal, compiled_undisturbed, kernels
from possibly.detection.tasks.slices import SliceSets
from possibly.detection.tasks.window import Windows
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.parser import parse_tasks
from possibly.logic.tasks.tree import formula_tree, negated
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.order.vocabulary import vocabulary
from tests.detection.tasks.reference import F, known_names, random_lsl, random_net, random_tl
from tests.sampling import sampled

needs_kernel = pytest.mark.skipif(kernels() is None, reason="no C compiler was there at installation")


def ignore(cuts: int = 1) -> None:
    """A visitor that sets no limit."""


def random_set(random: Random, rows: RowAlgebra, density: float) -> Set:
    """Some slices, chosen one by one."""
    bits = enumerate(rows.row_bits(rows.everything()))
    addresses = [(row, bit) for row, mask in bits for bit in range(mask.bit_length())]
    return rows.collected([address for address in addresses if random.random() < density])


@needs_kernel
@pytest.mark.parametrize("kind", ["compiled", "plain"])
def test_the_compiled_twin_finds_the_same(kind: str) -> None:
    some = joint = 0
    for seed in range(sampled(80)):
        random = Random(seed)
        lattice = Lattice(Computation(random_net(random, random.randint(1, 14)), "sync"))
        rows = algebra(lattice, ignore) if kind == "compiled" else PlainRows(lattice, ignore)
        if kind == "compiled" and not isinstance(rows, CompiledRows):
            continue
        goal, bad = (random_set(random, rows, random.choice([0.02, 0.1, 0.4])) for _ in range(2))
        found = compiled_undisturbed(rows, lattice, goal, bad, ignore)
        assert found is not None
        minimal = Minimal(rows, lattice, goal, rows.combined("|", goal, bad), ignore)
        for cut in lattice.depth_first():
            counts = lattice.unpack(cut)
            assert rows.contains(found, counts) == minimal.has_goal(cut), (seed, counts)
            some += rows.contains(found, counts)
        joint += bool(lattice.computation.joint)
    assert some > 50 and (joint > 5 or kind == "compiled")


def test_without_the_compiled_twin_the_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(sampled(60)):
        random = Random(seed)
        lattice = Lattice(Computation(random_net(random, random.randint(1, 12)), "sync"))
        sets = SliceSets(lattice, Budget())
        goal, bad = (random_set(random, sets.rows, random.choice([0.05, 0.3])) for _ in range(2))
        within = random_set(random, sets.rows, 0.5)
        with monkeypatch.context() as patch:
            patch.setattr("possibly.detection.tasks.minimal.kernels", lambda: None)
            found = sets.undisturbed(goal, bad, None)
            asked = sets.undisturbed(goal, bad, within)
        minimal = Minimal(sets.rows, lattice, goal, sets.either(goal, bad), ignore)
        for cut in lattice.depth_first():
            counts = lattice.unpack(cut)
            assert sets.contains(found, counts) == minimal.has_goal(cut), (seed, counts)
            if sets.contains(within, counts):
                assert sets.contains(asked, counts) == minimal.has_goal(cut)


def implication(random: Random, names: list[str]) -> F:
    """A local formula that implies a temporal one: the form that hypotheses mostly have."""
    local = F("says", (random_lsl(random, names, 1),), ("t1",))
    operator = random.choice(["next", "sometime", "always", "until", "before"])
    count = 2 if operator in ("until", "before") else 1
    depth = random.choice([0, 1, 2])
    parts = tuple(random_tl(random, names, depth, ("and", "or", "not", "next")) for _ in range(count))
    return F("implies", (local, F(operator, parts)))


def test_slices_outside_the_windows_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every failing cut is found though only a part of the lattice is looked at."""
    monkeypatch.setattr("possibly.detection.tasks.check.WORTH", 0)
    monkeypatch.setattr("possibly.detection.tasks.check.WORTH_BETWEEN", 0)
    smaller = failing = 0
    for seed in range(sampled(150)):
        random = Random(seed)
        run = random_net(random, random.randint(4, 16))
        formula = implication(random, known_names(run))
        node = bind_tasks(parse_tasks(formula.text), vocabulary(run)).formula
        net, budget = Net(run), Budget()
        lattice, local = Lattice(net.computation), LocalFormulas(net, Budget())
        root = formula_tree(negated(node))
        sets = SliceSets(lattice, budget)
        whole, windows = Evaluation(net, local, sets, budget), Windows(net, local, budget)
        union, count = sets.nothing(), 0
        for assignment in whole.assignments(root, root.variables):
            cuts = whole.cuts(root, assignment)
            count += sets.size(cuts)
            union = sets.either(union, cuts)
            window = windows.window(root, assignment)
            smaller += window is None or 2 * window.bound <= windows.whole.bound
        found = check_tasks(net, lattice, node, Budget(), "slices")
        assert found.value == (count == 0), formula.text
        if found.failure is not None:
            assert (found.failure.failing, found.failure.slices) == (count, sets.size(union)), formula.text
        failing += count > 0
    assert smaller > 100 and failing > 30


def test_the_explanation_tells_how_many_slices_were_looked_at() -> None:
    from possibly.trace.build import TraceBuilder

    builder = TraceBuilder()
    builder.header([("P", {"x": 0}), ("Q", {"y": 0})])
    for number in range(1, 41):
        for process, name in (("P", "x"), ("Q", "y")):
            builder.add(process, set={name: number})
    run = builder.finish()
    node = bind_tasks(
        parse_tasks("t1:(x == 20) implies (t1:(x < 22) until t2:(y == 30))"), vocabulary(run)
    ).formula
    net = Net(run)
    found = check_tasks(net, Lattice(net.computation), node, Budget(), "slices")
    assert found.value is False and found.failure is not None
    assert "only the slices that can matter: at most 82 for an assignment" in found.notes
    assert found.visited < 200 and found.failure.all_slices == 41 * 41
