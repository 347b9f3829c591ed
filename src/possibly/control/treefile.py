"""An execution tree in a file: saved whole or not at all, and resumed where it was.

The form: a line `possibly tree 1`, a line of JSON (what the tree is about, counters, the tables of tasks and
footprints), and the nodes in depth-first order, compressed: for each the number of its task, of its
footprint, its state and its number of children, 32 bits each, little-endian. Sleepers are not stored, they
follow from the rest. Leaves that were being executed are to be executed again.

What a tree is about is the caller's: whatever must be the same for the same executions (program, arguments,
settings). A tree about something else is refused. `more` is the caller's too, and given back as it was. A
tree that is being changed is not saved: a file that lacks branches would make a search look complete.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterator
from typing import Any

from possibly.control.execution import Access, Task
from possibly.control.tree import COUNTERS, ExecutionTree, Node, State
from possibly.errors import PossiblyError
from possibly.trace.streams import opened, replacing

FIRST_LINE = b"possibly tree 1\n"
DAMAGES = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError)
"""What goes wrong in a file that somebody else has changed."""
LARGEST = 1 << 30
"""Bytes of all nodes."""
_WORDS = 4

Footprint = tuple[Access, ...]


def save_tree(
    tree: ExecutionTree, path: str, about: dict[str, Any], more: dict[str, Any] | None = None
) -> bool:
    """Whether it was saved: not, if the tree is in the middle of a change."""
    if tree.is_changing:
        return False
    tasks: dict[Task, int] = {}
    footprints: dict[Footprint, int] = {}
    words = array("I")
    for node in _depth_first(tree.root):
        state = State.TODO if node.state == State.RUNNING else node.state
        words.append(tasks.setdefault(node.task, len(tasks)))
        words.append(footprints.setdefault(node.footprint, len(footprints)))
        words.append(state)
        words.append(len(node.children))
    if sys.byteorder == "big":
        words.byteswap()
    head = {
        "about": about,
        "more": more or {},
        "counters": {name: getattr(tree, name) for name in COUNTERS},
        "tasks": list(tasks),
        "footprints": [[[a.thing, a.writes] for a in footprint] for footprint in footprints],
    }
    with replacing(path) as stream:
        stream.write(FIRST_LINE + json.dumps(head).encode() + b"\n" + zlib.compress(words.tobytes(), 6))
    return True


def _depth_first(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


def load_tree(path: str, about: dict[str, Any]) -> tuple[ExecutionTree, dict[str, Any]]:
    """The tree, ready to be gone on with, and what was saved with it."""
    with opened(path) as source:
        data = b"".join(source.pieces())
    if not data.startswith(FIRST_LINE):
        raise PossiblyError("not an execution tree", file=path, hint="one is written by possibly explore")
    try:
        text, _, packed = data[len(FIRST_LINE) :].partition(b"\n")
        head = json.loads(text)
        words = array("I", _unpacked(packed))
        if head["about"] != json.loads(json.dumps(about)):
            raise _other(path, head["about"], about)
        if sys.byteorder == "big":
            words.byteswap()
        return _grown(head, words), dict(head["more"])
    except (*DAMAGES, zlib.error):
        raise damaged(path) from None


def damaged(path: str) -> PossiblyError:
    return PossiblyError("a damaged execution tree", file=path, hint="remove the file to begin anew")


def _unpacked(packed: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    found = unpacking.decompress(packed, LARGEST)
    if not unpacking.eof:
        raise ValueError("it has no end, or is larger than any that we write")
    return found


def _other(path: str, there: dict[str, Any], here: dict[str, Any]) -> PossiblyError:
    differing = sorted(key for key in {*there, *here} if there.get(key) != here.get(key))
    return PossiblyError(
        f"an execution tree of another search: other {', '.join(differing)}",
        file=path,
        hint="remove the file to begin anew",
    )


def _grown(head: dict[str, Any], words: array[int]) -> ExecutionTree:
    tasks: list[Task] = head["tasks"]
    footprints = [tuple(Access(thing, writes) for thing, writes in row) for row in head["footprints"]]
    tree = ExecutionTree()
    tree.root.state, tree.root.todo, tree.root.open = State(words[2]), 0, 0
    for name in COUNTERS:
        setattr(tree, name, int(head["counters"][name]))
    waiting: list[tuple[Node, int]] = [(tree.root, words[3])]
    leaves = [tree.root] if not words[3] and words[2] == State.TODO else []
    for at in range(_WORDS, len(words), _WORDS):
        while not waiting[-1][1]:
            waiting.pop()
        parent, more = waiting.pop()
        waiting.append((parent, more - 1))
        node = parent.add(tasks[words[at]], footprints[words[at + 1]])
        node.state = State(words[at + 2])
        if words[at + 3]:
            waiting.append((node, words[at + 3]))
        elif node.state == State.TODO:
            leaves.append(node)
    tree.resume(leaves)
    return tree
