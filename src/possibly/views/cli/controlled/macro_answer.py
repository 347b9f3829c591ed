"""The answer of `possibly explore --macro`: of its trees, and of the search step by step where there is one.

Exit status: 1 if a claim is false on some path or a path fails, 3 if something is left or was outside
control, 0 if every claim is true on every path.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from possibly.control.macro.tree import Tree
from possibly.control.macro.why import violations
from possibly.logic.ltl.claims import Truth
from possibly.session.macro_steps.between import Between, reasons, verdict
from possibly.views.cli.formats import Answers
from possibly.views.cli.properties import has_properties
from possibly.views.text.macro import document, limits, report, summary_line
from possibly.views.text.words import plain

FAILURE = ("kind", "message", "schedule", "steps", "decides")
"""What a document says of a failure."""
WORDS = {True: "holds", False: "violated", None: "unknown"}


class MacroAnswer:
    """Of one program: its tree, for MPI also that without buffering."""

    def __init__(
        self,
        trees: dict[str, Tree],
        between: Between | None,
        words: tuple[str, ...],
        arguments: argparse.Namespace,
    ) -> None:
        self.trees = trees
        self.between = between
        self.name = shlex.join(words)
        self.arguments = arguments
        asks = has_properties(arguments)
        self.verdicts = [verdict(tree, between, asks) for tree in trees.values()]

    @property
    def verdict(self) -> Truth:
        return False if False in self.verdicts else None if None in self.verdicts else True

    def told(self) -> int:
        """Tells it in the form that was asked for; the exit status."""
        answers = Answers(self.arguments)
        if answers.are_collected:
            self._collect(answers)
            answers.show()
        elif self.arguments.json:
            print(json.dumps(self._document(), ensure_ascii=False))
        else:
            for line in self._lines():
                print(line)
        sys.stdout.flush()
        return {False: 1, True: 0, None: 3}[self.verdict]

    # ---- text -----------------------------------------------------------------------------------

    def _lines(self) -> Iterator[str]:
        for number, (file, tree) in enumerate(self.trees.items()):
            if number:
                yield "\nif MPI buffers no message:"
            if self.between is None:
                yield from report(tree, _replay(file), self.arguments.full)
            if self.arguments.towards:
                yield f"towards {self.arguments.towards}: {_reached(tree, self.arguments.towards)}"
        if self.between is not None:
            yield from self._lines_of_both(self.between)

    def _lines_of_both(self, between: Between) -> Iterator[str]:
        from possibly.views.text.exploration import report as exploration_report

        (tree,) = self.trees.values()
        yield f"{WORDS[self.verdict].upper()}  step by step, as macro-steps do not control all that it does"
        yield from limits(tree)
        if tree.nodes:
            yield f"macro-steps: {summary_line(tree)}"
        if self.verdict is None:
            yield from (plain(f"open: {what} ({remedy})") for what, remedy in reasons(tree, between))
        yield from map(
            plain, exploration_report(between.found, self.name, between.replay, self.arguments.full)
        )

    # ---- documents ------------------------------------------------------------------------------

    def _document(self) -> dict[str, Any]:
        found = [document(tree, self.name, file, _replay(file)) for file, tree in self.trees.items()]
        told = {**found[0], "verdict": WORDS[self.verdict]}
        if len(found) > 1:
            failure = {key: found[1][key] for key in FAILURE if key in found[1]}
            told |= {**failure, "open": found[0]["open"] + found[1]["open"], "unbuffered": found[1]}
        return told if self.between is None else self._with_between(told, self.between)

    def _with_between(self, told: dict[str, Any], between: Between) -> dict[str, Any]:
        from possibly.views.text.exploration import document as exploration_document

        (tree,) = self.trees.values()
        inner = exploration_document(between.found, self.name, between.replay)
        for key in FAILURE:
            told.pop(key, None)
        if between.fails:
            told |= {key: inner[key] for key in FAILURE}
        decided = {"verdict": WORDS[self.verdict]} if self.verdict is True else {}
        open_by = [] if self.verdict is not None else [*told["open"], *_reasons(tree, between)]
        return {
            **told,
            "complete": between.found.complete,
            "open": open_by,
            "assumed": list(dict.fromkeys([*told["assumed"], *inner["assumed"]])),
            "violations": [],
            "properties": [{**each, **decided} for each in told["properties"]],
            "between": inner,
        }

    def _collect(self, answers: Answers) -> None:
        from possibly.views.formats.of_explore import findings_of_exploration, findings_of_tree
        from possibly.views.text.exploration import document as exploration_document

        if self.between is not None:
            inner = exploration_document(self.between.found, self.name, self.between.replay)
            inner = {**inner, "verdict": WORDS[self.verdict]}
            answers.add(findings_of_exploration(inner, "\n".join(self._lines())))
            return
        for file, tree in self.trees.items():
            lines = "\n".join(report(tree, _replay(file), self.arguments.full))
            answers.add(findings_of_tree(self.name, tree.verdict, violations(tree), lines))


def _reasons(tree: Tree, between: Between) -> Iterator[dict[str, str]]:
    for what, remedy in reasons(tree, between):
        yield {"what": what, "where": "", "remedy": remedy}


def _replay(file: str) -> str:
    return f"possibly replay {shlex.quote(file).replace('{', '{{').replace('}', '}}')} --breakpoint {{}}"


def _reached(tree: Tree, goal: str) -> str:
    for node in tree.nodes:
        if any(each["claim"] == goal and each["verdict"] for each in node.verdicts):
            return f"true at breakpoint {node.number}"
    return "not reached"
