"""Pictures of what path expressions compile to, of the lattice of cuts, of slices, and of trees.

Here belongs how these become boxes and arrows. An automaton is drawn as in figures 4-1 to 4-11 of Modeling
Concurrency in Parallel Debugging: an arc carries an event and its predecessors, final states have two rings.
In a net a place is a circle with its tokens and a transition a bar. The lattice of cuts is drawn as a Hasse
diagram: a cut of the slice has two rings, a satisfying one is marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from possibly.views.export.boxes import Arrow, Box, Picture

if TYPE_CHECKING:
    from possibly.logic.paths.automaton import Automaton
    from possibly.logic.paths.nets.net import Net
    from possibly.order.computation import Computation
    from possibly.views.web.models import Tree


def automaton_picture(automaton: Automaton, name: str = "automaton") -> Picture:
    """The states and transitions, from the initial state to the right."""
    picture = Picture(name, direction="LR")
    for each in automaton.transitions:
        picture.arrows.append(Arrow(f"q{each.source}", f"q{each.target}", label=f"({each.label})"))
    kinds = {f"q{s}": "double" if s in automaton.final else "circle" for s in range(automaton.states)}
    _place(picture, {state: (state[1:],) for state in kinds}, kinds)
    return picture


def path_net_picture(net: Net, name: str = "net") -> Picture:
    """Places with their tokens, transitions and arcs; a zero test is dashed."""
    picture = Picture(name, direction="LR")
    lines: dict[str, tuple[str, ...]] = {
        f"p{place}": ("•" * tokens or " ",) for place, tokens in enumerate(net.initial)
    }
    kinds = dict.fromkeys(lines, "circle")
    for number, each in enumerate(net.transitions):
        lines[f"t{number}"] = () if each.label is None else (each.label,)
        kinds[f"t{number}"] = "action" if each.label else "bar"
        picture.arrows += [Arrow(f"p{place}", f"t{number}") for place in each.inputs]
        picture.arrows += [Arrow(f"t{number}", f"p{place}") for place in each.outputs]
        picture.arrows += [Arrow(f"p{place}", f"t{number}", "order", "= 0") for place in each.empty]
    _place(picture, lines, kinds)
    return picture


def _place(picture: Picture, lines: Mapping[str, tuple[str, ...]], kinds: Mapping[str, str]) -> None:
    """A column for each distance from the start, in it the boxes in the order in which they are reached."""
    following: dict[str, list[str]] = {}
    for arrow in picture.arrows:
        following.setdefault(arrow.first, []).append(arrow.second)
    column = _distances(lines, following)
    rows: dict[int, int] = {}
    for name in sorted(lines, key=column.__getitem__):
        here = column[name]
        row = rows[here] = rows.get(here, -1) + 1
        picture.boxes[name] = Box(lines[name], here, row, kinds[name])


def _distances(names: Iterable[str], following: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How far each is from the first that nothing else reaches."""
    found: dict[str, int] = {}
    reached = {name for names in following.values() for name in names}
    for start in sorted(names, key=reached.__contains__):
        level = [] if start in found else [start]
        found.setdefault(start, 0)
        while level:
            fresh = [n for name in level for n in following.get(name, ()) if n not in found]
            for name in level:
                found.update({n: found[name] + 1 for n in following.get(name, ()) if n not in found})
            level = list(dict.fromkeys(fresh))
    return found


# ---- cuts and slices ----------------------------------------------------------------------------


def lattice_picture(
    document: Mapping[str, Any], mark: Mapping[str, Any] | None, path: Sequence[Sequence[int]] = ()
) -> Picture:
    """The Hasse diagram of the cuts, the initial one at the top; `path` is drawn in."""
    cuts = [tuple(cut) for cut in document["cuts"]]
    inside = set(mark["slice"]) if mark is not None else set()
    satisfying = set(mark["satisfying"]) if mark is not None else set()
    picture = Picture(f"cuts that satisfy {mark['text']}" if mark is not None else "cuts")
    depth = {0: 0}
    for first, second, _ in document["edges"]:
        depth[second] = depth[first] + 1
    rows: dict[int, list[int]] = {}
    for number in range(len(cuts)):
        rows.setdefault(depth.get(number, 0), []).append(number)
    for row, numbers in rows.items():
        for place, number in _across(rows, numbers, cuts):
            kind = "double" if number in inside else "circle"
            text = (" ".join(map(str, cuts[number])),)
            picture.boxes[f"c{number}"] = Box(text, place, row, kind, marked=number in satisfying)
    way = set(zip(map(tuple, path), map(tuple, path[1:]), strict=False))
    for first, second, _ in document["edges"]:
        kind = "path" if (cuts[first], cuts[second]) in way else "flow"
        picture.arrows.append(Arrow(f"c{first}", f"c{second}", kind))
    return picture


def _across(
    rows: Mapping[int, Sequence[int]], numbers: Sequence[int], cuts: Sequence[tuple[int, ...]]
) -> list[tuple[int, int]]:
    """Where the cuts of a row stand: of two processes as on a grid, else in the middle."""
    if len(cuts[0]) == 2:
        least = min(second - first for first, second in cuts)
        return [(cuts[number][1] - cuts[number][0] - least, number) for number in numbers]
    widest = max(map(len, rows.values()))
    return [(2 * column + widest - len(numbers), number) for column, number in enumerate(numbers)]


def slice_graph_picture(document: Mapping[str, Any], computation: Computation) -> Picture:
    """The components of a slice that a page would show; edges that the slice adds are dashed and red."""
    picture = Picture(f"slice for {document['text']}", direction="LR")
    titles = {"bottom": ["in every cut"], "top": ["in no cut"]}
    lines, kinds = {}, {}
    for node in document["nodes"]:
        events = [computation.trace.name(event) for event in node["events"]]
        left_out = node["size"] - len(events)
        more = [f"... {left_out} more"] if left_out and node["kind"] != "run" else []
        texts = (
            [" … ".join(events)] if node["kind"] == "run" else [*titles.get(node["kind"], []), *events, *more]
        )
        name = f"n{node['id'] + 2}"
        lines[name], kinds[name] = tuple(texts), "state" if node["kind"] == "run" else "action"
    for first, second, added in document["edges"]:
        picture.arrows.append(Arrow(f"n{first + 2}", f"n{second + 2}", "added" if added else "flow"))
    _place(picture, lines, kinds)
    return picture


# ---- trees --------------------------------------------------------------------------------------

SIGNS = {"true": "+", "false": "-", "unknown": "?"}


def tree_model_picture(tree: Tree) -> Picture:
    """A tree with its branches and verdicts: a sign a claim, `+` true, `-` false, `?` not decided."""
    picture = Picture(tree.title, is_tree=True)
    children: dict[str, list[str]] = {}
    for node in tree.nodes:
        if node.parent is not None:
            children.setdefault(node.parent, []).append(node.id)
            picture.arrows.append(Arrow(f"n{node.parent}", f"n{node.id}", label=node.branch))
    columns = _columns(tree, children)
    rows: dict[str, int] = {}
    for node in tree.nodes:
        rows[node.id] = 0 if node.parent is None else rows[node.parent] + 1
        signs = " ".join(SIGNS[verdict] for verdict in node.verdicts)
        again = [f"again: {command}" for name, command in node.facts if name == "again"]
        lines = tuple(filter(None, (f"|| {node.text}" if node.stopped else node.text, signs, *again)))
        failed = "false" in node.verdicts
        picture.boxes[f"n{node.id}"] = Box(lines, columns[node.id], rows[node.id], marked=failed)
    return picture


def _columns(tree: Tree, children: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """A leaf takes the next column; a node stands over the middle of what is below it."""
    found: dict[str, int] = {}
    order: list[str] = []
    pending = [node.id for node in tree.nodes if node.parent is None][::-1]
    while pending:
        name = pending.pop()
        order.append(name)
        pending.extend(reversed(children.get(name, ())))
    leaves = (name for name in order if name not in children)
    found.update({name: 2 * number for number, name in enumerate(leaves)})
    for name in reversed(order):
        if name in children:
            below = [found[child] for child in children[name]]
            found[name] = (below[0] + below[-1]) // 2
    return found
