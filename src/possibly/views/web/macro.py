"""The tree of macro-steps for the page: as a picture, and live with buttons.

`picture` fills the page's neutral tree; `LiveMacroTree` stands behind it in the live page, where a
breakpoint can be replayed to, marked and stepped on from, and the tree traversed further. It is saved only
below the folder in which the server was started, and never over a file that is no tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from possibly.control.macro.explore import Plan
from possibly.control.macro.model import Seen
from possibly.control.macro.tree import FORMAT, TreeNode
from possibly.control.macro.tree import Tree as MacroTree
from possibly.control.macro.why import Violation, violations
from possibly.errors import UsageError
from possibly.order.computation import Computation
from possibly.session.macro_steps.diagram import PathRun, path_run
from possibly.session.macro_steps.tree import MacroSession, claims_of, node_words, summary
from possibly.views.text.macro import choice_words, difference_words, violation_lines
from possibly.views.text.words import value_text
from possibly.views.web.columns import packed
from possibly.views.web.document import Contents, picture_document
from possibly.views.web.models import Action, Fact, Node, Tree
from possibly.views.web.page import page_of

WORDS = {True: "true", False: "false", None: "unknown"}
OUTCOMES = {True: "holds", False: "fails", None: "open"}


def picture(
    tree: MacroTree, title: str, current: int | None = None, session: MacroSession | None = None
) -> Tree:
    claims = claims_of(tree)
    joined = OUTCOMES[True] if tree.verdict is True else None
    nodes = tuple([_node(tree, node, claims, session, joined) for node in tree.nodes])
    counts = summary(tree)
    notes = [f"{counts['executions']} executions, {counts['paths']} paths, open branches: {counts['open']}"]
    notes += [f"not controlled: {each}" for each in tree.uncontrolled]
    notes += [difference_words(tree, each) for each in violations(tree) if each.difference is not None]
    return Tree(
        title,
        tuple([claim for claim, _ in claims]),
        nodes,
        None if current is None else str(current),
        tuple(notes),
        _tree_actions() if session is not None else (),
    )


def tree_page(
    title: str, tree: MacroTree, shown: Sequence[Tree], replay: str, quote: Callable[[str | None], str | None]
) -> str:
    """The tree, and the first path that fails as a space-time diagram, if one does."""
    contents = Contents(trees=shown, quote=quote)
    found = violations(tree)
    if not found:
        return page_of(picture_document(title, None, None, contents))
    run = path_run(tree, found[0])
    document = picture_document(title, Computation(run.trace), None, contents)
    document["properties"] = [_property(tree, found[0], run, replay)]
    return page_of(document)


def _property(tree: MacroTree, found: Violation, run: PathRun, replay: str) -> dict[str, Any]:
    """A violation as the page shows a property that is violated; what makes the difference has rings."""
    trace = run.trace
    processes = [trace.event(event).process for event in range(run.shown)]
    return {
        "name": "claim" if found.claim else found.end,
        "language": "macro-steps",
        "formula": found.claim or found.detail,
        "truth": "violated",
        "facts": [line.strip() for line in violation_lines(tree, found, replay)][1:],
        "summary": f"false at breakpoint {found.node}",
        "path": packed(list(range(run.shown))),
        "cut": [processes.count(process.name) for process in trace.processes],
        "moment": run.shown,
        "missing": _missing(tree, found, run),
        "atoms": [],
        "state": [],
        "matches": [[*run.chosen, *run.other]] if run.chosen else [],
        "notes": [],
        "commands": [("Show it again", replay.format(found.node))],
    }


def _missing(tree: MacroTree, found: Violation, run: PathRun) -> dict[str, Any] | None:
    """The order of the two messages, as two events."""
    if not run.chosen or not run.other:
        return None
    return {"first": run.chosen[-1], "second": run.other[-1], "text": difference_words(tree, found)}


def _node(
    tree: MacroTree,
    node: TreeNode,
    claims: list[tuple[str, str]],
    session: MacroSession | None,
    outcome: str | None,
) -> Node:
    """`outcome`: that of whatever comes after a breakpoint that was joined, where it is known."""
    found = {(each["claim"], each["at"]): each["verdict"] for each in node.verdicts}
    verdicts = tuple([WORDS[found.get(claim)] for claim in claims])
    branch = choice_words(tree.arc_to(node).selection) if node.parent is not None else ""
    is_open = any(arc.is_open for arc in node.arcs)
    same = f" (goes on as [{node.joins}])" if node.joins is not None else ""
    return Node(
        str(node.number),
        None if node.parent is None else str(node.parent),
        branch,
        f"[{node.number}] {node_words(node)}{same}",
        verdicts,
        node.number in tree.marks.values(),
        "unexplored" if is_open else "",
        _facts(node, session),
        _node_actions(node) if session is not None else (),
        OUTCOMES[node.holds] if node.is_leaf else outcome if node.joins is not None else None,
    )


def _facts(node: TreeNode, session: MacroSession | None) -> tuple[Fact, ...]:
    facts = [
        (f"{process} next", f"{text} {at.rpartition('/')[2]}".strip()) for process, text, at in node.pending
    ]
    facts += [(f"sent {message}", value) for message, value in node.carried]
    for each in node.verdicts:
        facts += [(each["claim"], text) for text in each.get("waits", ())]
        facts += [(text, WORDS[value]) for text, value in each.get("atoms", ())]
    if session is not None and session.point is not None and session.node == node.number:
        for process, seen in sorted(session.point.state.seen.items()):
            facts += [(f"{process}.{name}", value_text(value)) for name, value in seen.variables.items()]
    return tuple(facts)


def _tree_actions() -> tuple[Action, ...]:
    return (
        Action("depth", "traverse depth first"),
        Action("breadth", "traverse breadth first"),
        Action("random", "one execution at random"),
        Action("towards", "towards a formula", asks="formula"),
        Action("save", "save the tree", asks="file"),
        Action("hold", "hold a process after its operation", asks="process"),
        Action("line", "let it go on by a line", asks="process"),
        Action("until", "let it go on to a line", asks="process and line"),
    )


def _node_actions(node: TreeNode) -> tuple[Action, ...]:
    where = {"node": str(node.number)}
    steps = [
        Action("step", f"step: {choice_words(arc.selection)}", None, {**where, "branch": str(index)})
        for index, arc in enumerate(node.arcs, start=1)
        if not arc.repeated
    ]
    return (Action("goto", "replay to here", None, where), Action("mark", "mark", "name", where), *steps)


class LiveMacroTree:
    """Behind a tree in the live page."""

    def __init__(self, session: MacroSession, title: str) -> None:
        self.session = session
        self.title = title
        self.folder = Path.cwd().resolve()
        self.note = ""
        """What was done last, if that is not seen in the picture."""

    def picture(self) -> Tree:
        found = picture(self.session.tree, self.title, self.session.node, self.session)
        return replace(found, notes=(*found.notes, self.note)) if self.note else found

    def operate(self, action: str, values: Mapping[str, str]) -> None:
        session = self.session
        self.note = ""
        field = next((value for name, value in values.items() if name not in ("node", "branch")), "")
        match action:
            case "depth" | "breadth":
                session.traverse(Plan(action))
            case "random":
                session.traverse(Plan("random", seed=session.tree.executions, most=1))
            case "towards":
                session.traverse(Plan("towards", goal=field))
            case "save":
                path = tree_file(self.folder, field)
                session.tree.save(path)
                self.note = f"saved in {path}"
            case "hold" | "line" | "until":
                self.note = _by_line(session, action, *field.split())
            case "goto":
                session.goto(_number(values, "node"))
            case "mark":
                session.mark(field, _number(values, "node"))
            case "step":
                node = _number(values, "node")
                if session.node != node or session.point is None:
                    session.goto(node)
                session.step(_number(values, "branch"))
            case _:
                raise UsageError(f"no button is called {action}")


def _by_line(session: MacroSession, action: str, process: str = "", line: str = "", *_: str) -> str:
    """Holds a process or lets it go on; where it is then, and its variables."""
    if not process or (action == "until" and not line.isdigit()):
        raise UsageError("which process, and which line?", hint="for instance Buffer, or Buffer 12")
    if action == "hold":
        found: tuple[str, Seen] | None = session.hold(process)
    elif action == "line":
        found = session.line(process)
    else:
        found = session.until(process, int(line))
    if found is None:
        return f"{process} has come to its next operation"
    values = [f"{name} = {value_text(value)}" for name, value in found[1].variables.items()]
    return f"{process} is held before {found[0]}{': ' if values else ''}{', '.join(values)}"


def tree_file(folder: Path, name: str) -> Path:
    """Where a tree of that name is saved; a place elsewhere and a file that is no tree are refused."""
    path = (folder / name.strip()).resolve()
    if not name.strip() or path.suffix != ".json":
        raise UsageError(
            "a tree is saved in a file whose name ends in .json", hint="for instance run.tree.json"
        )
    if not path.is_relative_to(folder):
        raise UsageError(f"a tree is saved in {folder} or below it", hint="give a name without a folder")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}")
    if path.exists() and not _is_tree(path):
        raise UsageError(
            f"{path.name} is there and is no tree: it is not overwritten", hint="give another name"
        )
    return path


def _is_tree(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return f'"{FORMAT}"'.encode() in stream.read(200)


def _number(values: Mapping[str, str], name: str) -> int:
    text = values.get(name, "")
    if not text.isdigit():
        raise UsageError(f"the request has no number {name!r}")
    return int(text)
