"""`possibly patterns [NAME]`: the ready specifications, each with a sentence, a picture and its formula."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from possibly.errors import UsageError
from possibly.logic.patterns.table import BY_NAME, PATTERNS, SCOPES, Pattern, once

NAME = "patterns"
SUMMARY = "list the ready specifications: pattern response(p, s), pattern mutex(...)"
DESCRIPTION = "Lists the patterns that a specification file may name: pattern response(p, s)."
EXAMPLES = """\
examples:
  possibly patterns
  possibly patterns response
  possibly check run.jsonl --spec bank.spec     with the line: pattern response(P1.request, P2.reply)
"""
FORMS = ("", " before r", " after q", " between q and r", " after q until r")
LETTERS = {name: name for name in "p s t q r n sent received".split()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="one pattern, with the formula of each scope")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    if arguments.name is not None and arguments.name not in BY_NAME:
        raise UsageError(f"there is no pattern {arguments.name!r}", hint=f"there are {', '.join(BY_NAME)}")
    found = PATTERNS if arguments.name is None else (BY_NAME[arguments.name],)
    if arguments.json:
        print(json.dumps({"patterns": [_document(pattern) for pattern in found]}))
        return 0
    for line in _lines(found, with_scopes=arguments.name is not None):
        print(line)
    return 0


def formulas(pattern: Pattern) -> dict[str, str]:
    """The formula for each scope that the pattern has, in its own letters."""
    pairs = zip(SCOPES, pattern.templates, strict=False)
    return {scope: _formula(pattern, template) for scope, template in pairs}


def _formula(pattern: Pattern, template: str) -> str:
    import re

    group = {"group": '"group*"', "i": "i", "j": "j"}
    if pattern.is_of_a_group:
        group |= {"first": "p(i)", "second": "p(j)"}
    at_most = 'forall i, j, ... in "group*", n + 1 of them, all different: AG(!(p(i) & p(j) & ...))'
    values = {"first": "first", "second": "second", **LETTERS, **group}
    text = template.format(**values, once=once("p"), times=f"{once('p', 2)} for n = 2", at_most=at_most)
    return re.sub(r"(?<!\w)\(([\w.]+)\)", r"\1", text)


def _lines(patterns: tuple[Pattern, ...], with_scopes: bool) -> Iterator[str]:
    for number, pattern in enumerate(patterns):
        if number:
            yield ""
        yield f"{pattern.name}({', '.join(pattern.parameters)}): {pattern.sentence}"
        yield f"    {pattern.picture}"
        for form, text in zip(FORMS, formulas(pattern).values(), strict=False):
            if form and not with_scopes:
                yield "    with scopes: before r, after q, between q and r, after q until r"
                break
            yield f"    {pattern.language}{form}: {text}"
        yield f"    pattern {pattern.example}"


def _document(pattern: Pattern) -> dict[str, Any]:
    return {
        "name": pattern.name,
        "parameters": list(pattern.parameters),
        "sentence": pattern.sentence,
        "picture": pattern.picture,
        "language": pattern.language,
        "formulas": formulas(pattern),
        "example": pattern.example,
    }
