"""The tree of macro-steps for the page: as a picture, and live with buttons.

`picture` fills the page's neutral tree; `LiveMacroTree` stands behind it in the live page, where a
breakpoint can be replayed to, marked and stepped on from, and the tree traversed further.
"""

from __future__ import annotations

from collections.abc import Mapping

from possibly.control.macro.explore import Plan
from possibly.control.macro.tree import Tree as MacroTree
from possibly.control.macro.tree import TreeNode
from possibly.control.macro.why import violations
from possibly.errors import UsageError
from possibly.session.macro import MacroSession, claims_of, node_words, summary
from possibly.views.text.macro import choice_words, difference_words
from possibly.views.text.words import value_text
from possibly.views.web.models import Action, Fact, Node, Tree

WORDS = {True: "true", False: "false", None: "unknown"}


def picture(
    tree: MacroTree, title: str, current: int | None = None, session: MacroSession | None = None
) -> Tree:
    claims = claims_of(tree)
    nodes = tuple([_node(tree, node, claims, session) for node in tree.nodes])
    counts = summary(tree)
    notes = [f"{counts['executions']} executions, {counts['leaves']} paths, open branches: {counts['open']}"]
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


def _node(
    tree: MacroTree, node: TreeNode, claims: list[tuple[str, str]], session: MacroSession | None
) -> Node:
    found = {(each["claim"], each["at"]): each["verdict"] for each in node.verdicts}
    verdicts = tuple([WORDS[found.get(claim)] for claim in claims])
    branch = choice_words(tree.arc_to(node).selection) if node.parent is not None else ""
    is_open = any(arc.is_open for arc in node.arcs)
    return Node(
        str(node.number),
        None if node.parent is None else str(node.parent),
        branch,
        node_words(node),
        verdicts,
        node.number in tree.marks.values(),
        "unexplored" if is_open else "",
        _facts(node, session),
        _node_actions(node) if session is not None else (),
    )


def _facts(node: TreeNode, session: MacroSession | None) -> tuple[Fact, ...]:
    facts = [(f"{process} next", f"{text} {at}".strip()) for process, text, at in node.pending]
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

    def picture(self) -> Tree:
        return picture(self.session.tree, self.title, self.session.node, self.session)

    def operate(self, action: str, values: Mapping[str, str]) -> None:
        session = self.session
        field = next((value for name, value in values.items() if name not in ("node", "branch")), "")
        match action:
            case "depth" | "breadth":
                session.traverse(Plan(action))
            case "random":
                session.traverse(Plan("random", seed=session.tree.executions, most=1))
            case "towards":
                session.traverse(Plan("towards", goal=field))
            case "save":
                session.tree.save(field)
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


def _number(values: Mapping[str, str], name: str) -> int:
    text = values.get(name, "")
    if not text.isdigit():
        raise UsageError(f"the request has no number {name!r}")
    return int(text)
