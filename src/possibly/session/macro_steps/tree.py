"""Macro-steps as every view runs them: explore a program, replay to a breakpoint, step by hand.

Here belong the one sequence of steps behind `possibly explore --macro`, `possibly replay TREE`, the commands
of a debugging session and the buttons of the page. A `MacroSession` has a tree, a place in it and, while it
stands there, the program itself, stopped at that collective breakpoint.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from possibly.control.macro.explore import Explorer, Plan
from possibly.control.macro.model import Seen
from possibly.control.macro.program.controller import PATIENCE, Controller
from possibly.control.macro.run import Breakpoint, DivergedError, Run
from possibly.control.macro.tree import Arc, Tree, TreeNode
from possibly.errors import ControlError, PossiblyError, UsageError
from possibly.session.macro_steps.paths import PathJudge
from possibly.session.macro_steps.sources import note_sources, versions
from possibly.trace.place import place_in


@dataclass(frozen=True, slots=True)
class MacroProgram:
    """What is executed again and again."""

    words: tuple[str, ...]
    ranks: int | None = None
    patience: float = PATIENCE
    unbuffered: bool = False
    """Standard sends of MPI wait for their receives."""

    def start(self, shows: bool = False) -> Controller:
        return Controller(self.words, self.ranks, self.patience, shows, self.unbuffered)


def program_of(tree: Tree) -> MacroProgram:
    """The program that a tree is of."""
    return checked_program(tree.program, tree.ranks, unbuffered=tree.unbuffered)


def checked_program(
    words: Sequence[str], ranks: int | None, patience: float = PATIENCE, unbuffered: bool = False
) -> MacroProgram:
    if not words:
        raise UsageError("no program to run", hint="possibly explore --macro PROGRAM [ARGUMENTS]")
    if words[0] != "-m" and not os.path.exists(words[0]):
        raise PossiblyError("no such file", file=words[0])
    if ranks is not None and ranks < 1:
        raise UsageError("a program has at least one rank")
    return MacroProgram(tuple(words), ranks, patience, unbuffered)


def explore(
    program: MacroProgram,
    plan: Plan,
    tree: Tree | None = None,
    tell: Callable[[Tree], None] | None = None,
    judge: PathJudge | None = None,
) -> tuple[Tree, Explorer]:
    """The tree of the program, as far as the plan goes; a tree that is given is gone on with."""
    tree = tree if tree is not None else Tree(program.words, program.ranks)
    judge = judge if judge is not None else PathJudge()
    if judge.wants_paths:
        plan = replace(plan, joins=False)
    explorer = Explorer(program.start, tree, plan, tell, judge)
    tree.versions = versions()
    try:
        explorer.explore()
    except ControlError as error:
        if program.ranks is not None:
            raise
        tree.uncontrolled.append(error.message)
        return tree, explorer
    finally:
        note_sources(tree, explorer.files)
    check_names(explorer)
    if all(leaf.end == "finished" for leaf in tree.leaves):
        judge.check_names()
    return tree, explorer


def check_names(explorer: Explorer) -> None:
    """A name that had no value at any breakpoint is a mistake in the claim, unless a path broke off."""
    never = sorted(explorer.missing - explorer.valued)
    if never and all(leaf.end == "finished" for leaf in explorer.tree.leaves):
        known = sorted(_variables(explorer))
        near = get_close_matches(never[0], known, n=1)
        hint = f"did you mean {near[0]}?" if near else "names are PROCESS.VARIABLE"
        raise PossiblyError(f"a claim speaks of {never[0]}, which never has a value", hint=hint)


def _variables(explorer: Explorer) -> set[str]:
    run = explorer.last
    if run is None:
        return set()
    seen = run._waiting.items()
    return {f"{process}.{name}" for process, each in seen for name in (*each.variables, *each.globals)}


class MacroSession:
    """A place in the tree, with the program stopped there."""

    def __init__(self, program: MacroProgram, tree: Tree | None = None, plan: Plan | None = None) -> None:
        self.program = program
        self.tree = tree if tree is not None else Tree(program.words, program.ranks)
        self.shows = False
        self._holding: set[str] = set()
        self._judge = PathJudge()
        self.explorer = Explorer(self._start, self.tree, plan, judge=self._judge)
        self.run: Run | None = None
        self.point: Breakpoint | None = None
        self.node = 0

    def _start(self) -> Controller:
        return self.program.start(self.shows)

    # ---- going ----------------------------------------------------------------------------------

    def goto(self, number: int) -> Breakpoint:
        """Replays to a node: the program is started anew and makes the same choices."""
        if self.tree.nodes and not 0 <= number < len(self.tree.nodes):
            raise UsageError(
                f"there is no breakpoint {number}", hint=f"they are 0 to {len(self.tree.nodes) - 1}"
            )
        self.close()
        try:
            self.run, self.point = self.explorer.open(number)
        except DivergedError as error:
            raise PossiblyError(f"the replay went another way: {error}") from None
        self.node = number
        return self.point

    def here(self) -> Breakpoint:
        if self.point is None:
            return self.goto(self.node)
        return self.point

    def branches(self) -> list[Arc]:
        """The macro-steps that are possible from here."""
        self.here()
        self.tree.unfold(self.tree.nodes[self.node])
        return self.tree.nodes[self.node].arcs

    def step(self, branch: int | None = None) -> Breakpoint:
        """One macro-step; where there is a choice, the branch must be named."""
        arcs = self.branches()
        if not arcs:
            raise UsageError("the path ends here", hint="go to another breakpoint")
        if branch is None:
            if len(arcs) > 1:
                raise UsageError("there is a choice here", hint=f"step 1 to step {len(arcs)}")
            branch = 1
        if not 1 <= branch <= len(arcs):
            raise UsageError(f"there is no branch {branch}", hint=f"they are 1 to {len(arcs)}")
        assert self.run is not None
        self.release()
        arc = arcs[branch - 1]
        node, self.point = self.explorer.advance(self.run, self.tree.nodes[self.node], arc)
        if arc.repeated:
            here, self.point = self.node, None
            self.close()
            raise UsageError(f"what comes there is seen on other branches of breakpoint {here}")
        self.node = node.number
        self.tree.refresh()
        return self.point

    def traverse(self, plan: Plan) -> Tree:
        """Lets the system elaborate the tree; the place stays."""
        self.close()
        explorer = Explorer(self._start, self.tree, plan, judge=self._judge)
        explorer.explore()
        if explorer.found is not None:
            self.node = explorer.found
        return self.tree

    def mark(self, name: str, number: int | None = None) -> None:
        """A meta-breakpoint: a name for a node, to replay to later."""
        self.tree.marks[name] = self.node if number is None else number

    # ---- looking --------------------------------------------------------------------------------

    def seen(self, process: str | None = None) -> dict[str, Seen]:
        """Where each process is, and its variables."""
        found = dict(self.here().state.seen)
        if process is None:
            return found
        if process not in found:
            near = get_close_matches(process, found, n=1)
            hint = f"did you mean {near[0]}?" if near else f"processes are {', '.join(sorted(found))}"
            raise UsageError(f"there is no process {process} here", hint=hint)
        return {process: found[process]}

    def hold(self, process: str) -> tuple[str, Seen]:
        """Stops a process directly after its operation of this macro-step, to go on by line."""
        self.seen(process)
        parent = self.tree.nodes[self.node].parent
        if parent is None or process not in [each["process"] for each in self.tree.nodes[self.node].done]:
            raise UsageError(f"{process} did no operation in this macro-step")
        arc = self.tree.arc_to(self.tree.nodes[self.node])
        node = self.node
        self.goto(parent)
        system = self.system
        system.holding.add(process)
        assert self.run is not None
        self.run.step(arc.selection, arc.asleep)
        system.holding.discard(process)
        self.node = node
        if process not in system.held:
            raise PossiblyError(f"{process} could not be held")
        return system.held[process]

    def line(self, process: str) -> tuple[str, Seen] | None:
        """A held process executes one line; None: it has come to its next operation."""
        if process not in self.system.held:
            raise UsageError(f"{process} is not held", hint=f"hold {process}")
        return self.system.line(process)

    def until(self, process: str, line: int) -> tuple[str, Seen] | None:
        """An ordinary breakpoint: a held process goes on to that line, or to its next operation."""
        while (found := self.line(process)) is not None:
            if place_in(found[0]).line == line:
                return found
        return None

    def release(self) -> None:
        """Held processes make the session stand at its node again, by a replay."""
        if self.run is not None and self.system.held:
            self.goto(self.node)

    @property
    def system(self) -> Controller:
        assert self.run is not None
        found = self.run.system
        assert isinstance(found, Controller)
        return found

    def close(self) -> None:
        if self.run is not None:
            self.run.system.close()
        self.run = self.point = None


def node_words(node: TreeNode) -> str:
    """A breakpoint in one line: who did what to come here."""
    parts = []
    for each in node.done:
        got = f" <- {', '.join(each['messages'])}" if each["messages"] else ""
        parts.append(f"{each['process']} {each['text']}{got}")
    if node.end:
        parts.append(f"{node.end}{f': {node.detail}' if node.detail else ''}")
    return "; ".join(parts) or "start"


def claims_of(tree: Tree) -> list[tuple[str, str]]:
    """The claims of all paths, each with its place, in the order in which they were made."""
    found: dict[tuple[str, str], None] = {}
    for node in tree.nodes:
        for each in node.verdicts:
            found[each["claim"], each["at"]] = None
    return list(found)


def properties_of(tree: Tree) -> list[dict[str, Any]]:
    """The properties that were asked for: name, language, formula."""
    for leaf in tree.leaves:
        if leaf.properties:
            return [{key: each[key] for key in ("name", "language", "formula")} for each in leaf.properties]
    return []


def summary(tree: Tree) -> dict[str, Any]:
    """Counts for every view."""
    return {
        "breakpoints": len(tree.nodes),
        "leaves": len(tree.leaves),
        "joined": sum(node.joins is not None for node in tree.nodes),
        "paths": tree.paths,
        "executions": tree.executions,
        "open": sum(1 for _ in tree.open_arcs()),
        "estimate": tree.estimate,
        "complete": tree.is_complete,
        "verdict": tree.verdict,
    }
