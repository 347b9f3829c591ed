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
from typing import TYPE_CHECKING

from possibly.errors import UsageError
from possibly.views.cli.formats import Answers
from possibly.views.cli.messages import remark
from possibly.views.cli.progress import terminal_progress

if TYPE_CHECKING:
    from possibly.control.macro.explore import Plan
    from possibly.control.macro.tree import Tree
    from possibly.session.macro import MacroProgram

STRATEGIES = ("depth", "breadth", "random")
SUFFIX = ".tree.json"


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
    group.add_argument("--first", action="store_true", help="stop at the first path that does not hold")
    group.add_argument(
        "--tree",
        metavar="FILE",
        help=f"the tree to write, and with --macro to go on with if it is there (PROGRAM{SUFFIX})",
    )
    group.add_argument(
        "--patience", metavar="SECONDS", type=float, default=20.0, help="for computing between messages (20)"
    )


def run_macro(words: tuple[str, ...], arguments: argparse.Namespace) -> int:
    from possibly.control.macro.tree import Tree
    from possibly.session.macro import checked_program, explore

    program = checked_program(words, arguments.mpi, arguments.patience)
    file = arguments.tree or default_tree(words)
    tree = _continued(arguments.tree, program) if arguments.tree and os.path.exists(arguments.tree) else None
    tree = tree if tree is not None else Tree(program.words, program.ranks)
    progress = terminal_progress()
    try:
        if progress is None:
            _, explorer = explore(program, plan_of(arguments), tree)
        else:
            with progress:
                tell = lambda tree: progress("executions", tree.executions, None)  # noqa: E731
                _, explorer = explore(program, plan_of(arguments), tree, tell)
    finally:
        if tree.nodes:
            tree.save(file)
    for fault in explorer.faults:
        remark(f"counted as false where it could not be evaluated: {fault}")
    return told(tree, words, file, arguments)


def plan_of(arguments: argparse.Namespace) -> Plan:
    from possibly.control.macro.explore import Plan

    return Plan(
        "towards" if arguments.towards else arguments.strategy,
        arguments.seed,
        arguments.towards or "",
        arguments.executions,
        arguments.time,
        arguments.first,
    )


def _continued(path: str, program: MacroProgram) -> Tree:
    from possibly.control.macro.tree import Tree

    tree = Tree.load(path)
    if (tree.program, tree.ranks) != (program.words, program.ranks):
        was = shlex.join(tree.program)
        raise UsageError(f"{path} is the tree of another program: {was}", hint="give another --tree")
    return tree


def default_tree(words: tuple[str, ...]) -> str:
    name = words[1].rpartition(".")[2] if words[0] == "-m" else os.path.basename(words[0].rstrip("/"))
    return f"{name.removesuffix('.py')}{SUFFIX}"


def told(tree: Tree, words: tuple[str, ...], file: str, arguments: argparse.Namespace) -> int:
    from possibly.views.text.macro import document, report

    replay = f"possibly replay {shlex.quote(file).replace('{', '{{').replace('}', '}}')} --breakpoint {{}}"
    answers = Answers(arguments)
    if answers.are_collected:
        from possibly.control.macro.why import violations
        from possibly.views.formats.of_explore import findings_of_tree

        lines = "\n".join(report(tree, replay, arguments.full))
        answers.add(findings_of_tree(shlex.join(words), tree.verdict, violations(tree), lines))
        answers.show()
    elif arguments.json:
        print(json.dumps(document(tree, shlex.join(words), file, replay), ensure_ascii=False))
    else:
        for line in report(tree, replay, arguments.full):
            print(line)
        if arguments.towards:
            print(f"towards {arguments.towards}: {_reached(tree, arguments.towards)}")
    sys.stdout.flush()
    return {False: 1, True: 0, None: 3}[tree.verdict]


def _reached(tree: Tree, goal: str) -> str:
    for node in tree.nodes:
        if any(each["claim"] == goal and each["verdict"] for each in node.verdicts):
            return f"true at breakpoint {node.number}"
    return "not reached"


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
    from possibly.control.macro.tree import Tree
    from possibly.control.macro.why import violations
    from possibly.session.macro import MacroSession, checked_program
    from possibly.views.text.macro_state import breakpoint_document, breakpoint_lines

    tree = Tree.load(path)
    if number is None:
        found = violations(tree)
        number = found[0].node if found else (tree.leaves[0].number if tree.leaves else 0)
    session = MacroSession(checked_program(tree.program, tree.ranks), tree)
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
    return 1 if any(each["verdict"] is False for each in tree.nodes[number].verdicts) else _end(tree, number)


def _end(tree: Tree, number: int) -> int:
    return 1 if tree.nodes[number].end in ("deadlock", "failed", "livelock") else 0
