"""`possibly view --svg FILE`, `--png FILE`, `--dot FILE`: one picture as a file, and which one.

Without a further option it is the run itself, with the way of the first witness over it. `--net`,
`--slices` and `--tree` are pictures of the task logic, `--lattice` and `--slice` show cuts, `--automaton`
what a formula or a path expression compiles to. Of a model file the flow graphs are drawn, of a saved tree
the tree. A picture option without a file writes SVG beside the trace (or what `-o` names: SVG, PNG or DOT
by its ending).
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from possibly.errors import UsageError
from possibly.records import dataclass, replace
from possibly.views.cli.files import loaded, named_errors, read_text, write_bytes, write_text
from possibly.views.cli.properties import has_properties, options_of, specification_of

if TYPE_CHECKING:
    from possibly.logic.specification import Property, Specification
    from possibly.order.computation import Computation
    from possibly.trace.model import Trace
    from possibly.verdict.model import Report, Verdict, Witness
    from possibly.views.export.arcs import Graph
    from possibly.views.export.boxes import Picture
    from possibly.views.web.executions import Executions
    from possibly.views.web.models import Tree

FORMS = ("svg", "png", "dot")
PICTURES = ("net", "slices", "tree", "lattice", "slice", "automaton", "model", "partial")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture that can be written in every form."""

    svg: Callable[[], str]
    dot: Callable[[], str]


def add_picture_arguments(parser: argparse.ArgumentParser) -> None:
    files = parser.add_argument_group("a picture as a file, instead of the page")
    for form in FORMS:
        files.add_argument(f"--{form}", metavar="FILE", help=f"write the picture as {form.upper()}")
    group = parser.add_argument_group("which picture (the run with the first witness, unless one is chosen)")
    group.add_argument("--net", action="store_true", help="the state action net, or where a tl fails in it")
    group.add_argument("--slices", action="store_true", help="the slice graph of the net")
    group.add_argument("--tree", action="store_true", help="the formula tree of a tl property")
    group.add_argument("--lattice", action="store_true", help="the Hasse diagram of the cuts")
    group.add_argument("--slice", metavar="PREDICATE", help="the slice for a predicate, as a graph")
    group.add_argument(
        "--automaton",
        metavar="NAME",
        help="the automaton of that ltl property or path expression, or its net",
    )
    group.add_argument(
        "--model", metavar="NAME", help="the semantic model of that path expression: automaton or net"
    )
    group.add_argument(
        "--partial", metavar="NAME", help="the partial order so far of that expect, and what does not fit"
    )


def wanted_picture(arguments: argparse.Namespace) -> str | None:
    """The picture to draw: `run` if only a file is named, None if the page is wanted."""
    found = [name for name in PICTURES if getattr(arguments, name)]
    if len(found) > 1:
        raise UsageError(f"--{found[0]} and --{found[1]} are two pictures: draw one at a time")
    if found:
        return found[0]
    return "run" if any(getattr(arguments, form) for form in FORMS) else None


def draw(arguments: argparse.Namespace, which: str, stem: str) -> Report:
    """Writes the picture and yields the answers to the properties given."""
    from possibly.session.checking.check import check_trace
    from possibly.verdict.model import Report

    files = list(_files(arguments, which, stem))
    trace = loaded(arguments.trace, None)
    specification = specification_of(arguments) if has_properties(arguments) else None
    report = Report(arguments.trace, len(trace.processes), len(trace), ())
    if specification is not None:
        options = options_of(arguments, explain=False)
        report = replace(check_trace(trace, specification, options), trace=arguments.trace)
    drawn = _Drawing(trace, specification, report, arguments).drawn(which)
    _write_all(drawn, files)
    return report


def _write_all(drawn: Drawn, files: Sequence[tuple[str, str]]) -> None:
    for form, path in files:
        write_picture(drawn, form, path)
        if path != "-":
            print(f"Picture: {path}")


def _files(arguments: argparse.Namespace, which: str, stem: str) -> Iterator[tuple[str, str]]:
    named = [(form, path) for form in FORMS if (path := getattr(arguments, form))]
    yield from named
    if arguments.output is not None:
        ending = os.path.splitext(arguments.output)[1][1:]
        yield ending if ending in FORMS else "svg", arguments.output
    elif not named:
        yield "svg", f"{os.path.splitext(stem)[0]}.{which}.svg"


def write_picture(drawn: Drawn, form: str, path: str) -> None:
    """One form of a picture."""
    if form == "png":
        from possibly.views.export.png import painted

        text = drawn.svg()
        write_bytes(path, painted(text, *_size(text)))
    else:
        write_text(path, drawn.dot() if form == "dot" else drawn.svg())


def _size(svg: str) -> tuple[float, float]:
    """Width and height of an SVG of ours."""
    found = re.search(r'<svg [^>]*\bwidth="([\d.e+]+)" height="([\d.e+]+)"', svg)
    assert found is not None, "our drawings say their size"
    return float(found[1]), float(found[2])


class _Drawing:
    """Makes the pictures of one run."""

    def __init__(
        self,
        trace: Trace,
        specification: Specification | None,
        report: Report,
        arguments: argparse.Namespace,
    ) -> None:
        self.trace = trace
        self.specification = specification
        self.report = report
        self.arguments = arguments

    def drawn(self, which: str) -> Drawn:
        if which == "run":
            return self._run()
        from possibly.views.export.boxes import Picture, render_dot_picture, render_svg_picture

        picture: Picture | Graph = getattr(self, f"_{which}")()
        if not isinstance(picture, Picture):
            return graphs_drawn(picture.title, [picture])
        return Drawn(lambda: render_svg_picture(picture), lambda: render_dot_picture(picture))

    @property
    def _computation(self) -> Computation:
        from possibly.views.cli.drawing.pages import computation_of

        return computation_of(self.trace, self.report, self.arguments.order)

    @property
    def _shown(self) -> Verdict | None:
        """The first answer with a witness, one that fails before others."""
        found = [verdict for verdict in self.report.verdicts if verdict.witness is not None]
        return min(found, key=lambda verdict: verdict.truth.value != "violated", default=None)

    @property
    def _witness(self) -> Witness | None:
        return self._shown.witness if self._shown is not None else None

    def _run(self) -> Drawn:
        from possibly.views.export.dot import render_dot
        from possibly.views.export.svg import render_svg

        computation = self._computation
        caption = f"A way for {self._shown.name}" if self._shown is not None else "The recorded run"
        return Drawn(lambda: render_svg(computation, self._witness, caption), lambda: render_dot(computation))

    # ---- the task logic -------------------------------------------------------------------------

    def _net(self) -> Picture:
        from possibly.order.nets.net import Net
        from possibly.views.export.net import net_picture

        failing = self._failing()
        return net_picture(Net(self.trace), failing.failure if failing is not None else None)

    def _slices(self) -> Picture:
        from possibly.order.lattice import Lattice
        from possibly.order.nets.net import Net
        from possibly.views.export.net import slice_picture

        net, witness = Net(self.trace), self._failing()
        lattice = Lattice(net.computation)
        marked = [lattice.pack([witness.cut[task] for task in net.tasks])] if witness is not None else []
        return slice_picture(lattice, marked)

    def _failing(self) -> Witness | None:
        """The witness of the first task formula that fails."""
        found = (v.witness for v in self.report.verdicts if v.witness is not None)
        return next((witness for witness in found if witness.failure is not None), None)

    def _tree(self) -> Picture:
        from possibly.views.web.contents import tree_of_formula

        found = self._first(("tl",))
        if found is None or self.specification is None:
            hint = "give one with --tl FORMULA or --spec FILE"
            raise UsageError(f"--tree draws a property of the task logic: {hint}")
        return tree_of_formula(found, self._computation, self.specification)

    def _first(self, languages: tuple[str, ...], name: str | None = None) -> Property | None:
        properties = self.specification.properties if self.specification is not None else ()
        found = (each for each in properties if each.language in languages)
        return next((each for each in found if name in (None, each.name)), None)

    # ---- cuts and paths -------------------------------------------------------------------------

    def _lattice(self) -> Picture:
        from possibly.session.checking.cuts import Cuts
        from possibly.views.export.graphs import lattice_picture
        from possibly.views.web.lattices import MOST_CUTS, lattice_document, marked

        cuts = Cuts(self._computation)
        document = lattice_document(cuts, marked(cuts, self.specification)[:1])
        if document is None:
            raise UsageError(
                f"the run has more than {MOST_CUTS} cuts: too many to draw",
                hint="draw a slice: --slice PREDICATE",
            )
        mark = document["marks"][0] if document["marks"] else None
        return lattice_picture(document, mark, list(self._way()))

    def _way(self) -> Iterator[tuple[int, ...]]:
        """The cuts along the witness."""
        if self._witness is None:
            return
        cut = [0] * len(self.trace.processes)
        yield tuple(cut)
        for event in map(self.trace.find, self._witness.path):
            assert event is not None, "a witness names events of its trace"
            cut[self.trace.process[event]] += 1
            yield tuple(cut)

    def _slice(self) -> Picture:
        from possibly.order.lattice import Lattice
        from possibly.session.checking.slicing import slice_trace
        from possibly.views.export.graphs import slice_graph_picture
        from possibly.views.web.lattices import slice_document

        predicate = self.arguments.slice
        found = slice_trace(self.trace, predicate, self.arguments.order, "PREDICATE").slice
        document = slice_document(found, predicate, None, Lattice(found.computation))
        return slice_graph_picture(document, found.computation)

    def _automaton(self) -> Picture | Graph:
        from possibly.logic.languages import PATHS
        from possibly.views.web.contents import automaton_of

        found = self._first((*PATHS, "ltl"), self.arguments.automaton)
        if found is None or self.specification is None:
            raise UsageError(
                f"no ltl property and no path expression is called {self.arguments.automaton!r}",
                hint="give it with --ltl, --expect, --never, --watch or --spec FILE",
            )
        return automaton_of(found, self._computation, self.specification)

    def _model(self) -> Picture:
        from possibly.views.export.paths import model_picture

        found = self._path(self.arguments.model)
        assert self.specification is not None
        return model_picture(found, self.specification)

    def _partial(self) -> Picture:
        from possibly.views.export.paths import partial_picture

        name = self._path(self.arguments.partial).name
        return partial_picture(next(verdict for verdict in self.report.verdicts if verdict.name == name))

    def _path(self, name: str) -> Property:
        from possibly.logic.languages import PATHS

        found = self._first(PATHS, name)
        if found is None:
            raise UsageError(
                f"no path expression is called {name!r}", hint="give it with --expect, --never or --watch"
            )
        return found


# ---- models and trees ---------------------------------------------------------------------------


def draw_other(arguments: argparse.Namespace, which: str, stem: str) -> None:
    """Writes the flow graphs of a model file, or the tree of a saved one."""
    if which != "run":
        raise UsageError(f"--{which} is a picture of a trace; this file is none")
    path = arguments.trace
    if is_tree_file(path):
        from possibly.views.export.boxes import render_dot_picture, render_svg_picture
        from possibly.views.export.graphs import tree_model_picture

        picture = tree_model_picture(tree_of(path))
        drawn = Drawn(lambda: render_svg_picture(picture), lambda: render_dot_picture(picture))
        _write_all(drawn, list(_files(arguments, "tree", stem)))
        return
    _write_all(graphs_drawn(path, flow_graphs_of(path)), list(_files(arguments, "flow", stem)))


def is_tree_file(path: str) -> bool:
    """Whether a file is a saved tree, by its name or by how it begins."""
    if path.endswith((".json", ".py")):
        return path.endswith(".json")
    try:
        with open(path, "rb") as stream:
            return re.match(rb'\{\s*"format":\s*"possibly-(tree|executions)"', stream.read(100)) is not None
    except OSError:
        return False


def tree_of(path: str) -> Tree:
    """The tree that was saved in a file: of macro-steps, or of the executions of a search."""
    executions = executions_of(path)
    if executions is not None:
        from possibly.views.web.explored import picture as explored

        return explored(executions)
    from possibly.control.macro.tree import Tree
    from possibly.views.web.macro import picture

    with named_errors(path):
        return picture(Tree.load(path), "Macro-step tree")


def write_tree_page(path: str, output: str, title: str, files: Sequence[str] = ()) -> None:
    """The page of a saved tree, with those of other files beside it: see `views.web.macro.tree_page`."""
    from possibly.control.macro.tree import Tree
    from possibly.views.text.source import Sources
    from possibly.views.web.macro import tree_page

    with named_errors(path):
        tree = Tree.load(path)
    shown = [tree_of(file) for file in files or (path,)]
    replay = f"{shlex.join(['possibly', 'replay', path])} --breakpoint {{}}"
    write_text(output, tree_page(title, tree, shown, replay, Sources(("",)).quote))


def executions_of(path: str) -> Executions | None:
    """The executions of a search, if that is what the file holds."""
    import json

    from possibly.views.web.executions import FORMAT, loaded_executions

    try:
        document = json.loads(read_text(path))
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    return loaded_executions(document, path)


def flow_graphs_of(path: str) -> list[Graph]:
    """The flow graphs of the processes of a model file."""
    from possibly.models.reader import is_model, read_model
    from possibly.views.export.flowgraph import flow_graphs

    text = read_text(path)
    if not is_model(text):
        raise UsageError(
            "this is no model: no function of it has @process",
            file=path,
            hint="a program is stepped through live: possibly view FILE --serve",
        )
    return flow_graphs(read_model(text, path))


def graphs_drawn(title: str, graphs: Sequence[Graph]) -> Drawn:
    """Graphs of columns, one beside the other."""
    from possibly.views.export.arcs import render_dot_graphs, render_svg_graphs

    return Drawn(lambda: render_svg_graphs(title, graphs), lambda: render_dot_graphs(title, graphs))
