"""A path of the tree as a run: what a space-time diagram draws.

Each operation that is done is an event, at the macro-step in which it was; a message goes from the event that
sent it to the one that received it. Where two messages make the difference between this path and one that is
right, what sent and received them is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from possibly.control.macro.model import Choice
from possibly.control.macro.tree import Tree, TreeNode
from possibly.control.macro.why import Violation
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

NOTHING = Choice("nothing", "")


class PathRun(NamedTuple):
    """A path as a run, with the events that matter."""

    trace: Trace
    shown: int
    """So many events lead to where it is violated."""
    chosen: tuple[int, ...]
    """The send and the receive of the message that was got; empty if no two messages make the difference."""
    other: tuple[int, ...]
    """Those of the message that had to be got instead, as far as they are on the path."""


def path_run(tree: Tree, found: Violation) -> PathRun:
    """The path on which something is violated, up to its end."""
    run = _Run(tree.path(found.leaf)[1:])
    trace = run.run()
    difference = found.difference
    chosen, other = (difference.chosen, difference.other) if difference is not None else (NOTHING, NOTHING)
    events = [tuple(run.events_of.get(each.message, ())) if each.message else () for each in (chosen, other)]
    return PathRun(trace, run.events_at[found.node], *events)


class _Run:
    def __init__(self, path: list[TreeNode]) -> None:
        self.path = path
        self.builder = TraceBuilder()
        self.events_of: dict[str, list[int]] = {}
        """Of each message: its send, then its receive."""
        self.events_at: dict[int, int] = {}
        """Of each breakpoint: how many events lead to it."""
        self._count = 0
        self.carried = {name: value for node in path for name, value in node.carried}
        self.received = {
            name: done["process"] for node in path for done in node.done for name in done["messages"]
        }
        self.sent: set[str] = set()

    def run(self) -> Trace:
        names = dict.fromkeys(done["process"] for node in self.path for done in node.done)
        names.update(dict.fromkeys(process for node in self.path for process, _, _ in node.pending))
        self.builder.header([(name, {}) for name in names])
        for node in self.path:
            for done in sorted(node.done, key=lambda each: bool(each["messages"])):  # sends come first
                self._add(done)
            self.events_at[node.number] = self._count
        return self.builder.finish()

    def _add(self, done: dict[str, Any]) -> None:
        process, at = done["process"], {"at": done["at"]} if done["at"] else {}
        messages = [self._receive(name) for name in done["messages"] if name in self.sent]
        messages += [self._send(name, process) for name in done.get("sends", ())]
        for message in messages or [{"label": done["text"]}]:
            event = self.builder.add_fields({"p": process, **at, **message})
            self.events_of.setdefault(message.get("msg", ""), []).append(event)
            self._count = event + 1

    def _send(self, name: str, process: str) -> dict[str, Any]:
        self.sent.add(name)
        to = self.received.get(name)
        where = {"to": to} if to is not None else {}
        return {"kind": "send", "msg": name, "label": self._label(name), **where}

    def _receive(self, name: str) -> dict[str, Any]:
        return {"kind": "receive", "msg": name, "label": self._label(name)}

    def _label(self, name: str) -> str:
        return f"{name} = {self.carried[name]}" if name in self.carried else name
