"""What a test is asked: its marker, the command line, the ini file and `[tool.possibly]`, in one value.

The command line goes first, since whoever types an option means it now; then the marker, the ini file, and
the project's table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import pytest

from possibly.errors import UsageError
from possibly.views.cli.files import project_file

FAIL, WARN = "fail", "warn"
SAMPLING = ("random", "pct")
"""Schedulers that cover nothing for certain: who asks for one asks for a sample."""


@dataclass(frozen=True, slots=True)
class TestOptions:
    """How to explore one test."""

    __test__ = False

    seconds: float | None = None
    executions: int | None = None
    jobs: int = 1
    seed: int = 0
    scheduler: str = "dpor"
    preemptions: int = 2
    early_timeouts: bool = False
    slack: float = 1.0
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    split: bool = False
    faults: tuple[str, ...] = ()
    at_most: int = 1
    open: str = ""
    """What a verdict that is open does: it fails the test or warns; empty: what suits the scheduler."""

    @property
    def open_is_failure(self) -> bool:
        return (self.open or (WARN if self.scheduler in SAMPLING else FAIL)) == FAIL


ROWS: tuple[tuple[str, str, Any, str], ...] = (
    ("time", "seconds", float, "stop the search of a test after that many seconds"),
    ("executions", "executions", int, "stop the search of a test after so many executions"),
    ("jobs", "jobs", int, "run so many executions at a time (1)"),
    ("seed", "seed", int, "for random, pct and the tests' own random numbers (0)"),
    ("scheduler", "scheduler", str, "dpor (default), bounded, random or pct"),
    ("include", "include", str, "packages that are watched whatever they are, by commas"),
    ("exclude", "exclude", str, "packages that are not watched, by commas"),
    ("trust", "trust", str, "packages of which each call is one step, by commas"),
    ("within", "within", str, "modules and packages of which alone the order counts, by commas"),
    ("open", "open", str, "what an open verdict is: fail (default) or warn"),
)
"""Option and ini key without their prefix, field, type, help."""


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("possibly", "possibly: tests under every schedule")
    for name, _, kind, about in ROWS:
        group.addoption(f"--possibly-{name}", type=kind, default=None, metavar=name.upper(), help=about)
        parser.addini(f"possibly_{name}", about, default="")
    group.addoption("--possibly-replay", metavar="FILE", help="run the schedule of this file alone")
    group.addoption(
        "--possibly-keep", metavar="DIR", help="keep schedule, trace and page of each failure in this folder"
    )
    parser.addini("possibly_keep", "folder for schedule, trace and page of each failure", default="")


def options_of(config: pytest.Config, marker: Mapping[str, Any]) -> TestOptions:
    """All that was said, the nearest first."""
    found: dict[str, Any] = _from_project()
    for name, field, kind, _ in ROWS:
        text = config.getini(f"possibly_{name}")
        if text:
            found[field] = _converted(f"possibly_{name}", kind, text)
    found |= _from_marker(marker)
    for name, field, _, _ in ROWS:
        given = config.getoption(f"--possibly-{name}")
        if given is not None:
            found[field] = given
    return made(found)


def made(values: Mapping[str, Any]) -> TestOptions:
    """The options, with what was said checked."""
    found = dict(values)
    for name in ("include", "exclude", "trust", "within", "faults"):
        packages = found.get(name, ())
        found[name] = tuple(packages.split(",")) if isinstance(packages, str) else tuple(packages)
    options = TestOptions(**found)
    if options.open not in ("", FAIL, WARN):
        raise UsageError(
            f"an open verdict is a failure or a warning, not {options.open!r}", hint="fail, warn"
        )
    return options


def _from_marker(marker: Mapping[str, Any]) -> dict[str, Any]:
    known = {field.name for field in fields(TestOptions)}
    given = {"seconds" if name == "time" else name: value for name, value in marker.items()}
    for name in given:
        if name not in known:
            raise UsageError(f"explore has no option {name!r}", hint=f"there are {', '.join(sorted(known))}")
    return given


def _from_project() -> dict[str, Any]:
    """Of `[tool.possibly]` what concerns a test."""
    file = project_file()
    if file is None:
        return {}
    from possibly.views.cli.settings import settings_in

    settings = settings_in(*file)
    values = settings.values if settings is not None else {}
    return {field: values[name] for name, field, _, _ in ROWS if name in values}


def _converted(name: str, kind: Any, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"{name} cannot be {text!r}") from None
