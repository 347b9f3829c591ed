"""What a page of a run shows beside the run: gathered from the specification and the answers.

Here belongs the choice: the lattice of a small run, the slices of its predicates, the nets and trees of its
task formulas, the automata and nets of its path expressions; each only as far as it can be seen on a
screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from possibly.errors import PossiblyError
from possibly.logic.languages import PATHS
from possibly.logic.specification import Property, Specification
from possibly.session.checking.cuts import Cuts
from possibly.verdict.model import Report, Truth, Verdict
from possibly.views.web.document import Contents
from possibly.views.web.lattices import lattice_document, marked, slice_documents

if TYPE_CHECKING:
    from possibly.order.computation import Computation
    from possibly.views.export.arcs import Graph
    from possibly.views.export.boxes import Picture

MOST_ACTIONS = 150
"""Events of a run whose state action net is drawn in the page."""
MOST_STATES = 60
"""States of an automaton that is drawn; a larger one is shown as its net."""

Commands = Callable[[Verdict], Sequence[tuple[str, str]]]
Quote = Callable[[str | None], str | None]


def contents_of(
    computation: Computation,
    report: Report,
    specification: Specification | None,
    commands: Commands | None = None,
    quote: Quote | None = None,
) -> Contents:
    """Everything that helps to understand the answers."""
    cuts = Cuts(computation)
    marks = marked(cuts, specification)
    return Contents(
        lattice=lattice_document(cuts, marks),
        slices=slice_documents(cuts, marks),
        pictures=list(_pictures(computation, report, specification)),
        commands=commands,
        quote=quote,
    )


def _pictures(
    computation: Computation, report: Report, specification: Specification | None
) -> Iterator[Picture | Graph]:
    if specification is None:
        return
    yield from _task_pictures(computation, report, specification)
    for each in specification.properties:
        if each.language in PATHS or each.language == "ltl":
            try:
                yield automaton_of(each, computation, specification)
            except PossiblyError:
                continue  # too large to be seen
    yield from _orders_so_far(report)


def _orders_so_far(report: Report) -> Iterator[Picture]:
    """What each `expect` had read when an event did not fit."""
    from possibly.views.export.paths import partial_picture

    for verdict in report.verdicts:
        if verdict.language == "expect" and verdict.truth is Truth.VIOLATED:
            picture = partial_picture(verdict)
            picture.name = f"Order so far of {verdict.name}"
            yield picture


def _task_pictures(
    computation: Computation, report: Report, specification: Specification
) -> Iterator[Picture]:
    formulas = [each for each in specification.properties if each.language == "tl"]
    if not formulas:
        return
    from possibly.order.nets.net import Net
    from possibly.views.export.net import net_picture

    failing = (v.witness for v in report.verdicts if v.witness is not None and v.witness.failure is not None)
    witness = next(failing, None)
    if len(computation.trace) <= MOST_ACTIONS:
        try:
            picture = net_picture(Net(computation.trace), witness.failure if witness is not None else None)
        except PossiblyError:
            return  # too large to be seen
        picture.name = "State action net"
        yield picture
    for each in formulas:
        yield tree_of_formula(each, computation, specification)


def tree_of_formula(found: Property, computation: Computation, specification: Specification) -> Picture:
    """The formula tree of a property of the task logic."""
    from possibly.logic.tasks.bind import bind_tasks
    from possibly.logic.tasks.tree import formula_tree, negated
    from possibly.order.vocabulary import vocabulary
    from possibly.views.export.net import tree_picture

    assert found.formula is not None, "tl properties are parsed when they are read"
    bound = bind_tasks(found.formula, vocabulary(computation.trace), specification.lets, found.source)
    picture = tree_picture(formula_tree(negated(bound.formula)))
    picture.name = f"Formula tree of {found.name}"
    return picture


def automaton_of(found: Property, computation: Computation, specification: Specification) -> Picture | Graph:
    """The automaton of an ltl formula or of a path expression."""
    return (
        path_picture(found, specification)
        if found.language in PATHS
        else _tableau(found, computation, specification)
    )


def _tableau(found: Property, computation: Computation, specification: Specification) -> Graph:
    from possibly.logic.bind import bind_property
    from possibly.logic.ltl.tableau import Tableau
    from possibly.order.vocabulary import vocabulary
    from possibly.views.export.automaton import automaton_graph

    formula = bind_property(found, vocabulary(computation.trace), specification.lets).formula
    return automaton_graph(Tableau(formula), f"Automaton of {found.name}")


def path_picture(found: Property, specification: Specification) -> Picture:
    """What a path expression compiles to: its automaton if that is small, else its net."""
    from possibly.logic.paths.automaton import automaton
    from possibly.logic.paths.compiled import compiled
    from possibly.logic.paths.machine import Machine
    from possibly.logic.paths.nets.net import net
    from possibly.logic.paths.parser import parse_path
    from possibly.views.export.graphs import automaton_picture, path_net_picture

    definitions = {each.name: each for each in specification.definitions}
    expression = compiled(parse_path(found.source, definitions))
    machine = automaton(Machine(expression), MOST_STATES)
    if machine is not None:
        return automaton_picture(machine, f"Automaton of {found.name}")
    return path_net_picture(net(expression), f"Net of {found.name}")
