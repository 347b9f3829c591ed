"""The tree of collective breakpoints, as far as it has been elaborated; saved to a file and loaded again.

A node is a collective breakpoint, an arc a macro-step ("Integrating temporal assertions into a parallel
debugger", section 2). A node shows each claim's verdict on its path. The tree is false if a leaf is, true if
all of it is explored and every leaf is true, else unknown. A node that is equal to another says so, and has
no arcs of its own: what is drawn as a tree is a graph (see `equal`). Nodes hold no state of the program: a
node is replayed from the choices on the way to it, and its digest tells whether the replay met the same
state.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from possibly.control.macro.choices import Branch, Group, Space, Users
from possibly.control.macro.model import Choice, Selection
from possibly.errors import PossiblyError
from possibly.logic.ltl.claims import Truth

FORMAT = "possibly-tree"
VERSION = 1


BAD_ENDS = ("failed", "deadlock", "livelock")
"""Of a path, whatever the claims say."""


def settled(verdict: dict[str, Any]) -> Truth:
    """What a claim or a property is at a leaf: on all cuts of the path if they were asked for."""
    found: Truth = verdict.get("everywhere", verdict)["verdict"]
    return found


@dataclass(slots=True)
class Arc:
    """A way on from a node: a selection, and where it led if it was taken."""

    selection: Selection
    asleep: frozenset[Choice]
    child: int | None = None
    repeated: bool = False
    """Everything below is seen on other paths, or cannot be: no node is kept for it."""
    is_taken: bool = False
    """An execution is under way there."""

    @property
    def is_open(self) -> bool:
        return self.child is None and not self.repeated and not self.is_taken


@dataclass(slots=True)
class TreeNode:
    """A collective breakpoint on a path."""

    number: int
    parent: int | None
    depth: int
    arcs: list[Arc] = field(default_factory=list)
    done: list[dict[str, Any]] = field(default_factory=list)
    """The operations that completed in the macro-step that led here."""
    matches: list[tuple[str, str]] = field(default_factory=list)
    """The receives that got a message in that macro-step, and the messages."""
    carried: list[tuple[str, str]] = field(default_factory=list)
    """The messages that were sent since the node above, each with its value as a short text."""
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    """One for each claim: `claim`, `verdict` (true, false, null for unknown), `asked`. At a leaf `everywhere`
    says what it is on all cuts of the path, unless only the breakpoints were asked for."""
    properties: list[dict[str, Any]] = field(default_factory=list)
    """At a leaf: what the properties that were asked for are on all cuts of the path."""
    end: str = ""
    """`finished`, `deadlock`, `failed`, `livelock` or `limit` at a leaf, else empty."""
    detail: str = ""
    digest: str = ""
    pending: list[tuple[str, str, str]] = field(default_factory=list)
    joins: int | None = None
    """The breakpoint that this one is equal to: what comes after it is kept there."""
    space: Space | None = None
    users: int = 0
    """How much was known of the users of channels when the arcs were made."""

    @property
    def is_leaf(self) -> bool:
        return bool(self.end)

    @property
    def is_finished(self) -> bool:
        """Whether there is nothing more to take here, unless more ways on become known."""
        all_taken = all(arc.child is not None or arc.repeated for arc in self.arcs)
        return self.is_leaf or self.joins is not None or (bool(self.arcs) and all_taken)

    @property
    def holds(self) -> Truth:
        """Of a leaf: whether all claims are true and the path ended as it should."""
        if self.end in BAD_ENDS:
            return False
        found = [settled(each) for each in (*self.verdicts, *self.properties)]
        if self.end == "limit":
            found.append(None)
        return False if False in found else None if None in found else True


@dataclass(slots=True)
class Tree:
    """Nodes by their number, the root first."""

    program: tuple[str, ...] = ()
    ranks: int | None = None
    unbuffered: bool = False
    """Standard sends of MPI wait for their receives."""
    nodes: list[TreeNode] = field(default_factory=list)
    users: Users = field(default_factory=Users)
    executions: int = 0
    uncontrolled: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    """What its verdict relies on and nobody can see."""
    has_tasks: bool = False
    """Some processes are tasks of an event loop: they stop at operations at which the loop would not let
    others go on, so only messages order what they do."""
    diverged: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    """Digests of the files that the program is made from."""
    versions: str = ""
    asked: list[str] = field(default_factory=list)
    """The options and properties that it was made with."""
    marks: dict[str, int] = field(default_factory=dict)
    """Meta-breakpoints: a name for a node."""
    _unfinished: list[TreeNode] = field(default_factory=list)
    """Of the nodes that were looked at, those that may have arcs that nobody took."""
    _looked: int = 0
    _refreshed: int = 0
    """How much was known of the users of channels when all nodes were looked at for more ways on."""

    def add(self, parent: int | None) -> TreeNode:
        depth = self.nodes[parent].depth + 1 if parent is not None else 0
        node = TreeNode(len(self.nodes), parent, depth)
        self.nodes.append(node)
        return node

    def begin_anew(self) -> None:
        """Forgets what was found, and not how many executions that took."""
        self.nodes.clear()
        self._unfinished.clear()
        self._looked = self._refreshed = 0
        self.users = Users()
        self.diverged.clear()

    def unfold(self, node: TreeNode) -> None:
        """Gives a breakpoint that was joined ways on of its own, for whoever wants to go on from there."""
        if node.joins is not None and node.space is not None:
            node.joins, node.users = None, self.users.count
            node.arcs = arcs_of(node.space.branches(self.users))

    def path(self, number: int) -> list[TreeNode]:
        """The nodes from the root to this one."""
        found: list[TreeNode] = []
        current: int | None = number
        while current is not None:
            found.append(self.nodes[current])
            current = self.nodes[current].parent
        return found[::-1]

    def arc_to(self, node: TreeNode) -> Arc:
        assert node.parent is not None
        return next(arc for arc in self.nodes[node.parent].arcs if arc.child == node.number)

    @property
    def leaves(self) -> list[TreeNode]:
        return [node for node in self.nodes if node.is_leaf]

    def open_arcs(self) -> Iterator[tuple[TreeNode, Arc]]:
        waiting = [*self._unfinished, *self.nodes[self._looked :]]
        self._looked = len(self.nodes)
        self._unfinished = [node for node in waiting if not node.is_finished]
        for node in self._unfinished:
            for arc in node.arcs:
                if arc.is_open:
                    yield node, arc

    def refresh(self) -> None:
        """More is known about who uses which channel: nodes may have more ways on than it seemed."""
        if self.users.count == self._refreshed:
            return
        self._refreshed, self._looked, self._unfinished = self.users.count, 0, []
        for node in self.nodes:
            if node.space is not None and node.joins is None and node.users < self.users.count:
                node.users = self.users.count
                known = {arc.selection for arc in node.arcs}
                node.arcs += [
                    Arc(branch.selection, branch.asleep)
                    for branch in node.space.branches(self.users)
                    if branch.selection not in known
                ]

    def deviations(self, number: int) -> int:
        """How often the path to a node leaves the first branch."""
        path = self.path(number)
        return sum(above.arcs[0].child != node.number for above, node in pairwise(path))

    @property
    def estimate(self) -> int:
        """How many paths there are in all, as far as can be told now.

        Each arc of a node is taken to lead to as many ("Estimating Search Tree Size", Kilby and others, AAAI
        2006): what is explored is then a share of the whole.
        """
        share, shares = 0.0, {0: 1.0}
        for node in self.nodes:
            each = shares.pop(node.number, 0.0) / max(len(node.arcs), 1)
            share += each * sum(arc.repeated for arc in node.arcs) if node.arcs else each
            shares.update({arc.child: each for arc in node.arcs if arc.child is not None})
        return max(round(self.paths / share), self.paths) if share else self.paths

    @property
    def paths(self) -> int:
        """How many ways there are from the root to a leaf, those through equal breakpoints with them."""
        counts: dict[int, int] = {}
        pending = [0] if self.nodes else []
        while pending:
            node = self.nodes[pending[-1]]
            following = self._following(node)
            missing = [each for each in following if each not in counts]
            if missing:
                pending += missing
            else:
                counts[pending.pop()] = int(node.is_leaf) + sum(counts[each] for each in following)
        return counts.get(0, 0)

    def _following(self, node: TreeNode) -> list[int]:
        if node.joins is not None:
            return [node.joins]
        return [arc.child for arc in node.arcs if arc.child is not None]

    @property
    def is_complete(self) -> bool:
        """Every branch was taken, to its end, and nothing was out of our control."""
        goes_on = all(node.is_leaf or node.arcs or node.joins is not None for node in self.nodes)
        ends = goes_on and all(node.end != "limit" for node in self.nodes)
        return bool(self.nodes) and ends and not any(self.open_arcs()) and not self.diverged

    @property
    def verdict(self) -> Truth:
        found = [leaf.holds for leaf in self.leaves]
        if False in found:
            return False
        return True if self.is_complete and not self.uncontrolled and None not in found else None

    @property
    def undecided(self) -> list[str]:
        """Why a claim or a property is open on some path."""
        found: dict[str, None] = {}
        for leaf in self.leaves:
            if leaf.end == "limit":
                found[f"breakpoint {leaf.number}: {leaf.detail}"] = None
            for each in (*leaf.verdicts, *leaf.properties):
                if settled(each) is None:
                    what = each.get("claim") or each["name"]
                    found[f"{what}: {each.get('everywhere', each).get('why') or 'undecided'}"] = None
        return list(found)

    # ---- plain data -----------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """For files, and for whoever draws it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "program": list(self.program),
            "ranks": self.ranks,
            "unbuffered": self.unbuffered,
            "verdict": self.verdict,
            "complete": self.is_complete,
            "executions": self.executions,
            "uncontrolled": self.uncontrolled,
            "assumed": self.assumed,
            "has_tasks": self.has_tasks,
            "diverged": self.diverged,
            "sources": self.sources,
            "versions": self.versions,
            "asked": self.asked,
            "marks": self.marks,
            "users": {
                "senders": {c: sorted(ps) for c, ps in sorted(self.users.senders.items())},
                "receivers": {c: sorted(ps) for c, ps in sorted(self.users.receivers.items())},
            },
            "nodes": [_node_document(node) for node in self.nodes],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """All or nothing: a half-written file never stands under the name."""
        target = Path(path)
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            draft.write_text(json.dumps(self.document(), indent=1) + "\n", encoding="utf-8")
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Tree:
        try:
            text = Path(path).read_text(encoding="utf-8")
            return from_document(json.loads(text))
        except json.JSONDecodeError as error:
            message = "this is no tree of macro-steps"
            raise PossiblyError(message, file=str(path), line=error.lineno, column=error.colno) from None
        except UnicodeDecodeError:
            raise PossiblyError("this is no tree of macro-steps", file=str(path)) from None
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise PossiblyError(f"this is no tree of macro-steps: {error}", file=str(path)) from None


def _node_document(node: TreeNode) -> dict[str, Any]:
    space = node.space
    return {
        "number": node.number,
        "parent": node.parent,
        "depth": node.depth,
        "end": node.end,
        "detail": node.detail,
        "digest": node.digest,
        "done": node.done,
        "matches": node.matches,
        "carried": node.carried,
        "verdicts": node.verdicts,
        "properties": node.properties,
        "pending": node.pending,
        "joins": node.joins,
        "users": node.users,
        "space": None
        if space is None
        else {
            "groups": [[list(g.choices), sorted(g.channels), g.grows] for g in space.groups],
            "ended": sorted(space.ended),
            "asleep": sorted(space.asleep),
            "conflicts": sorted(space.conflicts),
        },
        "arcs": [
            {
                "label": ", ".join(map(str, arc.selection)),
                "choices": list(arc.selection),
                "asleep": sorted(arc.asleep),
                "child": arc.child,
                "repeated": arc.repeated,
            }
            for arc in node.arcs
        ],
    }


def from_document(given: dict[str, Any]) -> Tree:
    if given["format"] != FORMAT:
        raise ValueError(f"its format is {given['format']!r}")
    if given["version"] > VERSION:
        raise ValueError(f"version {given['version']} is from the future")
    tree = Tree(tuple(given["program"]), given["ranks"], executions=given["executions"])
    tree.unbuffered = bool(given.get("unbuffered"))
    tree.uncontrolled, tree.diverged = list(given["uncontrolled"]), list(given["diverged"])
    tree.assumed = list(given.get("assumed", ()))
    tree.has_tasks = bool(given.get("has_tasks"))
    tree.sources, tree.asked = dict(given.get("sources", {})), list(given.get("asked", ()))
    tree.versions = given.get("versions", "")
    tree.marks = dict(given["marks"])
    for channel, processes in given["users"]["senders"].items():
        for process in processes:
            tree.users.sends(process, channel)
    for channel, processes in given["users"]["receivers"].items():
        for process in processes:
            tree.users.receives(process, channel)
    tree.nodes = [_node_of(each) for each in given["nodes"]]
    for number, node in enumerate(tree.nodes):
        children = [arc.child for arc in node.arcs if arc.child is not None]
        if node.joins is not None and not 0 <= node.joins < len(tree.nodes):
            raise ValueError("a node joins one that is not there")
        if node.number != number or any(not number < child < len(tree.nodes) for child in children):
            raise ValueError("its nodes are not numbered in order")
    return tree


def _node_of(given: dict[str, Any]) -> TreeNode:
    node = TreeNode(given["number"], given["parent"], given["depth"])
    node.end, node.detail, node.digest = given["end"], given["detail"], given["digest"]
    node.done, node.verdicts = given["done"], given["verdicts"]
    node.properties = given.get("properties", [])
    node.pending = [(p, text, at) for p, text, at in given["pending"]]
    node.matches = [(receive, message) for receive, message in given["matches"]]
    node.carried = [(message, value) for message, value in given.get("carried", ())]
    node.users, node.joins = given["users"], given.get("joins")
    space = given["space"]
    if space is not None:
        groups = [
            Group(tuple([Choice(*c) for c in choices]), frozenset(channels), grows)
            for choices, channels, grows in space["groups"]
        ]
        conflicts = frozenset((Choice(*one), Choice(*two)) for one, two in space["conflicts"])
        node.space = Space(tuple(groups), frozenset(space["ended"]), _choices(space["asleep"]), conflicts)
    for arc in given["arcs"]:
        selection = tuple([Choice(*choice) for choice in arc["choices"]])
        node.arcs.append(Arc(selection, _choices(arc["asleep"]), arc["child"], arc["repeated"]))
    return node


def _choices(given: list[list[str]]) -> frozenset[Choice]:
    return frozenset(Choice(*each) for each in given)


def arcs_of(branches: list[Branch], impossible: frozenset[Selection] = frozenset()) -> list[Arc]:
    return [
        Arc(branch.selection, branch.asleep, repeated=branch.selection in impossible) for branch in branches
    ]
