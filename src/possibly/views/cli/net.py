"""`possibly view TRACE --net`, `--slices`, `--tree`: pictures of the task logic, as SVG or DOT."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from possibly.errors import UsageError
from possibly.records import replace
from possibly.views.cli.files import loaded, write_text
from possibly.views.cli.properties import has_properties, options_of, specification_of

if TYPE_CHECKING:
    from possibly.detection.tasks_tree import TreeNode
    from possibly.logic.specification import Property, Specification
    from possibly.trace.model import Trace
    from possibly.verdict.model import Report, Verdict
    from possibly.views.export.boxes import Picture

PICTURES = ("net", "slices", "tree")


def add_picture_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pictures of the task logic, as SVG, or as DOT if FILE ends in .dot")
    group.add_argument(
        "--net", action="store_true", help="draw the state action net, or where a tl fails in it"
    )
    group.add_argument("--slices", action="store_true", help="draw the slice graph of the net")
    group.add_argument("--tree", action="store_true", help="draw the formula tree of a tl property")


def wanted_picture(arguments: argparse.Namespace) -> str | None:
    found = [name for name in PICTURES if getattr(arguments, name)]
    if len(found) > 1:
        raise UsageError(f"--{found[0]} and --{found[1]} are two pictures: draw one at a time")
    return found[0] if found else None


def draw(arguments: argparse.Namespace, which: str, stem: str) -> Report:
    """Writes the picture and yields the answers to the properties given."""
    from possibly.session.check import check_trace
    from possibly.verdict.model import Report
    from possibly.views.export.boxes import render_dot_picture, render_svg_picture

    trace = loaded(arguments.trace, None)
    specification = specification_of(arguments) if has_properties(arguments) else None
    report = Report(arguments.trace, len(trace.processes), len(trace), ())
    if specification is not None:
        options = options_of(arguments, explain=False)
        report = replace(check_trace(trace, specification, options), trace=arguments.trace)
    picture = _picture(which, trace, specification, report)
    output = arguments.output or f"{os.path.splitext(stem)[0]}.{which}.svg"
    render = render_dot_picture if output.endswith(".dot") else render_svg_picture
    write_text(output, render(picture))
    if output != "-":
        print(f"Picture: {output}")
    return report


def _picture(which: str, trace: Trace, specification: Specification | None, report: Report) -> Picture:
    from possibly.order.lattice import Lattice
    from possibly.order.net import Net
    from possibly.views.export.net import net_picture, slice_picture, tree_picture

    if which == "tree":
        return tree_picture(_tree(trace, specification))
    net, failing = Net(trace), _failing(report)
    witness = failing.witness if failing is not None else None
    if which == "net":
        return net_picture(net, witness.failure if witness is not None else None)
    lattice = Lattice(net.computation)
    marked = [lattice.pack([witness.cut[task] for task in net.tasks])] if witness is not None else []
    return slice_picture(lattice, marked)


def _failing(report: Report) -> Verdict | None:
    """The first task formula that fails."""
    found = (v for v in report.verdicts if v.witness is not None and v.witness.failure is not None)
    return next(found, None)


def _tree(trace: Trace, specification: Specification | None) -> TreeNode:
    from possibly.detection.tasks_tree import formula_tree, negated
    from possibly.logic.tasks_bind import bind_tasks
    from possibly.order.vocabulary import vocabulary

    found = _first_tl(specification)
    assert found.formula is not None and specification is not None
    bound = bind_tasks(found.formula, vocabulary(trace), specification.lets, found.source)
    return formula_tree(negated(bound.formula))


def _first_tl(specification: Specification | None) -> Property:
    properties = specification.properties if specification is not None else ()
    for found in properties:
        if found.language == "tl":
            return found
    raise UsageError("--tree draws a property of the task logic: give one with --tl FORMULA or --spec FILE")
