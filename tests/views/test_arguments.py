"""A plain command line says the same to `argparse`; and whatever is not plain is left to it."""

from __future__ import annotations

import os
from importlib import import_module
from random import Random

import pytest

from possibly.views.cli.arguments import Plain, plainly
from possibly.views.cli.main import PLAIN, parser

CASES = 400 * int(os.environ.get("POSSIBLY_CASES", "1"))

WORDS = {
    "check": (
        "run.jsonl", "b.jsonl", "-", "--", "-h", "--json", "--explain", "--full", "--json=1", "--ctl",
        "--ltl", "EF(P1.x == 1)", "-x == 1", "-1", "--ctl=-x == 1", "--ctl=", "--spec", "--spec=a.spec",
        "a.spec", "--only", "safe", "--order", "sync", "causal", "random", "--max-cuts", "12", "none",
        "--max-cuts=none", "--timeout", "nan", "inf", "0.5", "--engine", "slice", "--color", "never",
        "--color=often", "--html", "--js", "--write-order", "", "--max-cuts=-3", "--max-cuts=1.5", "-q",
    ),
    "slice": (
        "run.jsonl", "P1.x > 1", "-", "--", "-h", "--json", "--class", "stable", "often", "--class=co-linear",
        "--order", "sync", "--dot", "a.dot", "--svg", "--svg=a.svg", "--png", "-P1.x", "--help", "",
    ),
    "serializable": (
        "a.edn", "-", "-h", "--json", "--level", "snapshot", "--level=strict", "often", "--timeout", "1", "",
    ),
    "linearizable": (
        "a.log", "b.edn", "-", "--", "-h", "--json", "--model", "kv", "--model=mine.py", "--initial", "-1",
        "--initial=-1", "--max-states", "7", "--max-states=none", "--timeout", "nan", "1", "--help", "",
    ),
}  # fmt: skip


def of_argparse(command: str, words: list[str]) -> dict[str, object] | None:
    """What `argparse` makes of the words; None if it ends the program over them."""
    try:
        found = vars(parser([command]).parse_args([command, *words]))
    except SystemExit:
        return None
    return {name: value for name, value in found.items() if name != "run"}


def plain(command: str, words: list[str]) -> dict[str, object] | None:
    found = plainly(import_module(f"possibly.views.cli.recorded.{command}").add_arguments, words)
    return None if found is None else vars(found)


@pytest.mark.parametrize("command", PLAIN)
def test_both_read_the_same(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    random, answered = Random(command), 0
    for _ in range(CASES):
        words = [random.choice(WORDS[command]) for _ in range(random.randint(0, 6))]
        found = plain(command, words)
        if found is not None:
            answered += 1
            assert found == of_argparse(command, words), words
    assert answered > CASES // 50
    capsys.readouterr()


@pytest.mark.parametrize(
    "words",
    [
        ["run.jsonl", "--ctl", "EF(P1.x == 1)"],
        ["a.jsonl", "b.jsonl", "--spec", "a.spec", "--json"],
        ["--spec=a.spec", "a.jsonl", "--max-cuts", "none", "--timeout", "2", "--color=always"],
        ["-", "--ltl", "G p", "--ltl", "F q", "--order", "sync", "--only", "a", "--only", "b"],
    ],
)
def test_usual_lines_are_plain(words: list[str]) -> None:
    found = plain("check", words)
    assert found is not None
    assert found == of_argparse("check", words)


def test_lists_of_one_line_are_not_those_of_the_next() -> None:
    for _ in range(2):
        found = plain("check", ["t", "--ctl", "p"])
        assert found is not None and found["ctl"] == ["p"]


@pytest.mark.parametrize(
    ("flags", "how"),
    [
        (("-o", "--output"), {}),
        (("-v",), {"action": "store_true"}),
        (("--many",), {"nargs": 2}),
        (("rest",), {"nargs": "..."}),
        (("maybe",), {"nargs": "?"}),
        (("--level",), {"action": "count"}),
        (("--need",), {"required": True}),
    ],
)
def test_an_unknown_kind_of_declaration_is_left_to_argparse(
    flags: tuple[str, ...], how: dict[str, object]
) -> None:
    def declared(to: Plain) -> None:
        to.add_argument_group("some").add_argument(*flags, **how)

    assert plainly(declared, []) is None
