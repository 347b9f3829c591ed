"""`possibly explore --macro` and the replay of its trees: the part of the command line for macro-steps.

`add_macro_arguments` adds the options; `run_macro` is called when --macro is given; `replay_tree` when the
file to replay is a tree. Exit status: 1 if a claim is false on some path or a path fails, 3 if something is
left or was outside control, 0 if every claim is true on every path.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING

from possibly.errors import UsageError
from possibly.views.cli.messages import remark
from possibly.views.cli.progress import terminal_progress
from possibly.views.cli.properties import has_properties, specification_of

if TYPE_CHECKING:
    from possibly.control.macro.explore import Plan
    from possibly.control.macro.tree import Tree
    from possibly.logic.specification import Specification
    from possibly.session.macro_steps.between import Between
    from possibly.session.macro_steps.paths import PathJudge
    from possibly.session.macro_steps.tree import MacroProgram

StepByStep = Callable[[tuple[str, ...], argparse.Namespace], "tuple[Between, dict[str, object]]"]
STRATEGIES = ("depth", "breadth", "random")
SUFFIX = ".tree.json"
BUFFERED = "MPI has room for every message (the other way: --unbuffered)"


def add_macro_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("macro-steps, for programs that pass messages")
    group.add_argument(
        "--macro",
        action="store_true",
        help="step from one collective breakpoint to the next; only receives with several senders branch",
    )
    group.add_argument("--mpi", metavar="N", type=int, help="start the program as N ranks under mpiexec")
    group.add_argument("--strategy", choices=STRATEGIES, default="depth", help="which branch is next (depth)")
    group.add_argument("--towards", metavar="FORMULA", help="go where the formula is true, and stop there")
    group.add_argument(
        "--deviations", metavar="N", type=int, help="only paths that leave the first branch N times at most"
    )
    group.add_argument("--first", action="store_true", help="stop at the first path that does not hold")
    group.add_argument(
        "--tree",
        metavar="FILE",
        help=f"the tree to write, and with --macro to go on with if it is there (PROGRAM{SUFFIX})",
    )
    group.add_argument(
        "--at-breakpoints",
        action="store_true",
        help="judge claims at collective breakpoints only, not on all cuts of each path",
    )
    group.add_argument(
        "--checker",
        metavar="ADDRESS",
        help="ask a checker outside about each path: HOST:PORT or a local socket",
    )
    group.add_argument(
        "--unbuffered", action="store_true", help="standard sends of MPI wait for their receives"
    )
    group.add_argument("--buffered", action="store_true", help="they do not (without either: both are tried)")
    group.add_argument(
        "--patience",
        metavar="SECONDS",
        type=float,
        default=20.0,
        help="of a processor, for computing between messages (20)",
    )


UNDERSTOOD = frozenset({
    "module", "program", "arguments", "macro", "mpi", "strategy", "towards", "first", "tree", "patience",
    "at_breakpoints", "unbuffered", "buffered", "executions", "time", "seed", "json", "format", "full",
    "spec", "ctl", "ltl", "tl", "expect", "never", "only", "steps", "html", "jobs", "deviations",
    "checker", "join",
})  # fmt: skip
"""The options that mean something with --macro; any other that is given is refused."""
ONLY_MACRO = (
    "strategy", "towards", "deviations", "first", "patience", "at_breakpoints", "unbuffered", "buffered",
    "checker",
)  # fmt: skip
INSTEAD = {
    "scheduler": "--strategy depth, breadth or random",
    "resume": "--tree FILE, which is gone on with if it is there",
    "output": "--tree FILE",
    "preemptions": "--deviations N",
}
"""What serves the same end."""


def refuse_what_has_no_meaning(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """An option is obeyed or refused, never passed over."""
    by_macro = arguments.macro or arguments.mpi is not None
    for action in parser._actions:
        name = action.dest
        if getattr(arguments, name, action.default) == action.default or not action.option_strings:
            continue
        option = max(action.option_strings, key=len)
        if by_macro and name not in UNDERSTOOD:
            instead = INSTEAD.get(name)
            hint = f"use {instead}" if instead else "explore without --macro, or leave the option out"
            raise UsageError(f"{option} has no meaning with --macro", hint=hint)
        if not by_macro and name in ONLY_MACRO:
            raise UsageError(f"{option} is for macro-steps", hint="give --macro too")


def run_macro(words: tuple[str, ...], arguments: argparse.Namespace, step_by_step: StepByStep) -> int:
    """`step_by_step` explores what macro-steps do not control."""
    from possibly.session.macro_steps.answer import answer_of
    from possibly.session.macro_steps.between import decides, is_wanted
    from possibly.session.macro_steps.checker import Checker
    from possibly.session.macro_steps.paths import PathJudge, checked_properties
    from possibly.session.macro_steps.tree import checked_program
    from possibly.views.cli.controlled.macro_answer import tell

    if arguments.only and not has_properties(arguments):
        raise UsageError("--only names a property, and none is given", hint="give --spec FILE too")
    specification = specification_of(arguments) if has_properties(arguments) else None
    checked_properties(specification)
    if arguments.buffered and arguments.unbuffered:
        raise UsageError("a send is buffered or not", hint="give neither, to look at both")
    begun = time.monotonic()
    program = checked_program(words, arguments.mpi, arguments.patience, arguments.unbuffered)
    file = arguments.tree or default_tree(words)
    with ExitStack() as leaving:
        checker = (
            leaving.enter_context(closing(Checker(arguments.checker, words))) if arguments.checker else None
        )
        judge = PathJudge(specification, not arguments.at_breakpoints, checker)
        trees = _trees(program, file, arguments, judge)
    wants_more = is_wanted(trees[file]) and not arguments.towards
    between, initial = step_by_step(words, arguments) if wants_more else (None, {})
    if between is not None and not decides(trees[file], between):
        between = None
    if arguments.html is not None:
        _write_page(trees, between, initial, words, arguments)
    answer = answer_of(trees, between, has_properties(arguments) or checker is not None)
    answer.seconds = time.monotonic() - begun
    return tell(answer, words, arguments)


def _trees(
    program: MacroProgram, file: str, arguments: argparse.Namespace, judge: PathJudge
) -> dict[str, Tree]:
    """By their files: the usual one, and that without buffering if it may be another."""
    trees = {file: _explored(program, file, arguments, judge)}
    if _differs_unbuffered(trees[file], arguments):
        beside = f"{file.removesuffix(SUFFIX)}.unbuffered{SUFFIX}"
        trees[beside] = _explored(replace(program, unbuffered=True), beside, arguments, judge)
    return trees


def _write_page(
    trees: dict[str, Tree],
    between: Between | None,
    initial: dict[str, object],
    words: tuple[str, ...],
    arguments: argparse.Namespace,
) -> None:
    from possibly.views.cli.drawing.pages import write_failure_page
    from possibly.views.cli.drawing.pictures import tree_of, write_tree_page

    failing = next((file for file, tree in trees.items() if tree.verdict is False), None)
    if failing is not None and (between is None or between.found.failure is None):
        write_tree_page(failing, arguments.html, shlex.join(words), list(trees))
        return
    shown = [tree_of(file) for file, tree in trees.items() if tree.nodes]
    failure = between.found.failure if between is not None else None
    replay = between.replay if between is not None else None
    write_failure_page(failure, arguments.html, shlex.join(words), replay, initial, shown)


def _differs_unbuffered(tree: Tree, arguments: argparse.Namespace) -> bool:
    """Whether it is worth looking what comes of sends that wait for their receives."""
    if arguments.mpi is None or arguments.unbuffered or arguments.buffered or tree.verdict is False:
        return False
    words = {each["text"].partition("(")[0].lower() for node in tree.nodes for each in node.done}
    return bool(words & {"send", "rsend"})


def _explored(
    program: MacroProgram,
    file: str,
    arguments: argparse.Namespace,
    judge: PathJudge,
) -> Tree:
    from possibly.control.macro.tree import Tree
    from possibly.session.macro_steps.tree import explore

    asked = _asked(arguments, judge.specification if has_properties(arguments) else None)
    tree = Tree(program.words, program.ranks, program.unbuffered, asked=asked)
    if arguments.tree and os.path.exists(file):
        tree = _continued(file, program, asked)
    if program.ranks is not None and arguments.buffered and BUFFERED not in tree.assumed:
        tree.assumed.append(BUFFERED)
    progress = terminal_progress()
    try:
        if progress is None:
            _, explorer = explore(program, plan_of(arguments), tree, judge=judge)
        else:
            with progress:
                tell = lambda tree: progress("paths", tree.paths, tree.estimate)  # noqa: E731
                _, explorer = explore(program, plan_of(arguments), tree, tell, judge)
    finally:
        if tree.nodes:
            tree.save(file)
    for fault in explorer.faults:
        remark(f"counted as false where it could not be evaluated: {fault}")
    return tree


def plan_of(arguments: argparse.Namespace) -> Plan:
    from possibly.control.macro.explore import Plan
    from possibly.control.macro.run import MOST_STEPS

    return Plan(
        "towards" if arguments.towards else arguments.strategy,
        arguments.seed,
        arguments.towards or "",
        arguments.executions,
        arguments.time,
        arguments.steps if arguments.steps is not None else MOST_STEPS,
        arguments.first,
        arguments.deviations,
        arguments.jobs,
        remembers=arguments.join != "none",
        joins=arguments.join != "none",
    )


def _asked(arguments: argparse.Namespace, specification: Specification | None) -> list[str]:
    """What decides what a leaf of the tree says, beside the program."""
    found = ["at breakpoints"] if arguments.at_breakpoints else []
    found += [f"checker {arguments.checker}"] if arguments.checker else []
    return found + ([repr(specification)] if specification is not None else [])


def _continued(path: str, program: MacroProgram, asked: list[str]) -> Tree:
    from possibly.control.macro.tree import Tree
    from possibly.session.macro_steps.sources import check_sources

    tree = Tree.load(path)
    is_same = (tree.program, tree.ranks, tree.unbuffered) == (
        program.words,
        program.ranks,
        program.unbuffered,
    )
    if not is_same:
        was = shlex.join(tree.program)
        raise UsageError(f"{path} is the tree of another program: {was}", hint="give another --tree")
    check_sources(tree, path, asked)
    return tree


def default_tree(words: tuple[str, ...]) -> str:
    name = words[1].rpartition(".")[2] if words[0] == "-m" else os.path.basename(words[0].rstrip("/"))
    return f"{name.removesuffix('.py')}{SUFFIX}"


# ---- replay -------------------------------------------------------------------------------------


def is_tree(path: str) -> bool:
    """Whether a file to replay is a tree of macro-steps, by its first bytes."""
    if path.endswith(SUFFIX):
        return True
    try:
        with open(path, "rb") as opened:
            return b'"possibly-tree"' in opened.read(200)
    except OSError:
        return False


def replay_tree(path: str, number: int | None, as_json: bool = False) -> int:
    """Runs the program to a breakpoint of its tree, shows it, and tells whether it is as it was."""
    from possibly.control.macro.tree import Tree, settled
    from possibly.control.macro.why import violations
    from possibly.session.macro_steps.tree import MacroSession, program_of
    from possibly.views.text.macro_state import breakpoint_document, breakpoint_lines

    tree = Tree.load(path)
    if number is None:
        found = violations(tree)
        number = found[0].node if found else (tree.leaves[0].number if tree.leaves else 0)
    session = MacroSession(program_of(tree), tree)
    known = len(tree.diverged)
    try:
        point = session.goto(number)
        output = session.system.output()
    finally:
        session.close()
    same = len(tree.diverged) == known
    if as_json:
        print(json.dumps({**breakpoint_document(tree, number, point), "same": same, "output": output}))
    else:
        for line in breakpoint_lines(tree, number, point):
            print(line)
        if output:
            print("the program printed:")
            for line in output.splitlines():
                print(f"    {line}")
        print("the same state as before" if same else "NOT the state that was met before")
    sys.stdout.flush()
    if not same:
        return 3
    node = tree.nodes[number]
    is_false = any(settled(each) is False for each in (*node.verdicts, *node.properties))
    return 1 if is_false else _end(tree, number)


def _end(tree: Tree, number: int) -> int:
    return 1 if tree.nodes[number].end in ("deadlock", "failed", "livelock") else 0
