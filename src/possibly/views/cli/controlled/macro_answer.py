"""The answer of `possibly explore --macro`, in the form that was asked for.

Exit status: 1 if a claim is false on some path or a path fails, 3 if something is left or was outside
control, 0 if every claim is true on every path.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from typing import Any

from possibly.control.macro.tree import Tree
from possibly.session.macro_steps.answer import FailingPath, MacroAnswer, answer_of
from possibly.session.macro_steps.between import Between
from possibly.views.cli.formats import told
from possibly.views.formats.findings import Findings
from possibly.views.formats.of_macro import findings_of_macro_answer
from possibly.views.text.answers import answer_document, reason_text
from possibly.views.text.exploration import document as exploration_document
from possibly.views.text.exploration import report as exploration_report
from possibly.views.text.exploration import shown_failure
from possibly.views.text.macro import limits, report, shown_path, summary_line, tree_document
from possibly.views.text.words import plain


def tell(answer: MacroAnswer, words: tuple[str, ...], arguments: argparse.Namespace) -> int:
    """Tells it; the exit status."""
    name = shlex.join(words)

    def findings(details: str) -> Iterator[Findings]:
        yield findings_of_macro_answer(answer, name, details)

    return told(
        arguments,
        answer.truth,
        lambda: _lines(answer, name, arguments),
        lambda: _document(answer, name),
        findings,
    )


# ---- text ---------------------------------------------------------------------------------------


def _lines(answer: MacroAnswer, name: str, arguments: argparse.Namespace) -> Iterator[str]:
    for number, (file, tree) in enumerate(answer.trees.items()):
        if number:
            yield "\nif MPI buffers no message:"
        if answer.between is None:
            yield from report(tree, _replay(file), arguments.full)
        if arguments.towards:
            yield f"towards {arguments.towards}: {_reached(tree, arguments.towards)}"
    if answer.between is not None:
        yield from _lines_of_both(answer, answer.between, name, arguments.full)


def _lines_of_both(answer: MacroAnswer, between: Between, name: str, full: bool) -> Iterator[str]:
    (tree,) = answer.trees.values()
    word = answer.truth.value.upper()
    yield f"{word}  step by step, as macro-steps do not control all that it does"
    yield from limits(tree)
    if tree.nodes:
        yield f"macro-steps: {summary_line(tree)}"
    said = {*tree.uncontrolled, *tree.diverged, *tree.undecided}
    for what, reason in answer.open.items():
        if what not in said:
            yield plain(f"open: {reason_text(what, reason)}")
    yield from map(plain, exploration_report(between.found, name, between.replay, full))


# ---- documents ----------------------------------------------------------------------------------


def _document(answer: MacroAnswer, name: str) -> dict[str, Any]:
    (file, tree), *others = answer.trees.items()
    found = {
        **answer_document(answer, name),
        **_shown(answer),
        **tree_document(tree, file, _replay(file)),
    }
    for beside, other in others:
        found["unbuffered"] = _document(answer_of({beside: other}, None), name)
    if answer.between is None:
        return found
    decided = {"verdict": answer.truth.value} if answer.holds else {}
    inner = exploration_document(answer.between.found, name, answer.between.replay)
    properties = [{**each, **decided} for each in found["properties"]]
    return {**found, "violations": [], "properties": properties, "between": inner}


def _shown(answer: MacroAnswer) -> dict[str, Any]:
    match answer.failure:
        case None:
            return {}
        case FailingPath():
            return shown_path(answer.failure)
    return shown_failure(answer.failure)


def _replay(file: str) -> str:
    return f"possibly replay {shlex.quote(file).replace('{', '{{').replace('}', '}}')} --breakpoint {{}}"


def _reached(tree: Tree, goal: str) -> str:
    for node in tree.nodes:
        if any(each["claim"] == goal and each["verdict"] for each in node.verdicts):
            return f"true at breakpoint {node.number}"
    return "not reached"
