"""The options that say what to check."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pytest

from possibly.errors import FormulaError, PossiblyError, UsageError
from possibly.views.cli.properties import (
    add_limit_arguments,
    add_property_arguments,
    command_again,
    options_of,
    specification_of,
)
from tests.views.samples import VIOLATED


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_property_arguments(parser)
    add_limit_arguments(parser)
    return parser.parse_args(words)


def names(*words: str) -> list[str]:
    return [each.name for each in specification_of(parsed(*words)).properties]


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "a.spec"
    path.write_text("let p = P1.x > 0\nctl ctl1 = EF p\nltl drains = F p\n")
    return str(path)


def test_formulas_of_the_command_line_are_numbered() -> None:
    assert names("--ltl", "F P1.x", "--ctl", "EF P1.x", "--ctl", "AG P1.x") == ["ctl1", "ctl2", "ltl1"]


def test_they_join_those_of_the_file_under_free_names(spec: str) -> None:
    assert names("--spec", spec, "--ctl", "AG p") == ["ctl1", "drains", "ctl2"]
    assert len(specification_of(parsed("--spec", spec, "--ctl", "AG p")).lets) == 1


def test_only_the_named_properties_are_kept(spec: str) -> None:
    assert names("--spec", spec, "--only", "drains") == ["drains"]
    with pytest.raises(UsageError, match="no property is called 'x': there are ctl1, drains"):
        names("--spec", spec, "--only", "x")


def test_no_property_is_an_error_that_says_how_to_give_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to check: give a property: --spec FILE, --ctl FORMULA"):
        names()
    (tmp_path / "empty.spec").write_text("# nothing\n")
    with pytest.raises(UsageError, match=r"empty\.spec: no property in this file"):
        names("--spec", str(tmp_path / "empty.spec"))


def test_bad_formulas_and_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FormulaError):
        names("--ctl", "AG(")
    with pytest.raises(PossiblyError, match=r"missing\.spec: No such file"):
        names("--spec", str(tmp_path / "missing.spec"))


@pytest.mark.parametrize(
    "words",
    [("--max-cuts", "-1"), ("--max-cuts", "x"), ("--timeout", "nan"), ("--timeout", "-1"), ("--order", "x")],
)
def test_limits_are_checked(words: tuple[str, str]) -> None:
    with pytest.raises(argparse.ArgumentError):
        parsed(*words)


def test_limits_become_options() -> None:
    options = options_of(parsed("--order", "sync", "--max-cuts", "5", "--timeout", "1.5"), explain=False)
    assert (options.order, options.max_cuts, options.timeout, options.explain) == ("sync", 5, 1.5, False)
    usual = options_of(parsed(), explain=True)
    assert (usual.order, usual.max_cuts, usual.timeout, usual.engine) == ("causal", 10_000_000, None, "auto")
    assert options_of(parsed("--max-cuts", "none"), explain=True).max_cuts is None
    assert options_of(parsed("--timeout", "inf"), explain=True).timeout is None


@pytest.mark.parametrize(
    "words",
    [
        ["--spec", "a b.spec"],
        ["--ctl", "AG(!(P1.x & P2.x))", "--ltl", "F $x"],
        [
            "--ctl=-1 < P1.x",
            "--order",
            "sync",
            "--max-cuts",
            "none",
            "--timeout",
            "2",
            "--engine",
            "exhaustive",
        ],
        ["--spec", "a.spec", "--max-cuts", "7"],
    ],
)
def test_the_command_that_shows_it_again_says_the_same(words: list[str]) -> None:
    command = shlex.split(command_again(parsed(*words), "run 1.jsonl", VIOLATED, several=True))
    assert command[:3] == ["possibly", "check", "run 1.jsonl"]
    again, before = vars(parsed(*command[3:])), vars(parsed(*words))
    assert again == before | {"only": ["mutex"]}


def test_a_single_property_needs_no_name() -> None:
    assert (
        command_again(parsed("--ctl", "EF p"), "t", VIOLATED, several=False)
        == "possibly check t --ctl 'EF p'"
    )
