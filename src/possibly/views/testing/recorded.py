"""A test that runs once, is recorded, and is then checked in every order that its events could have had.

    @pytest.mark.record(races=True, ctl="AG(!(inside(first, update) & inside(second, update)))")
    def test_update(): ...

`spec` names a specification file beside the test; `watch` and `calls` name variables and functions to record;
`ctl`, `ltl`, `tl`, `expect` and `never` are a formula or a list of them. Something must be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from possibly.errors import PossiblyError, UsageError
from possibly.logic.languages import LANGUAGES
from possibly.logic.specification import Property, Specification, property_from_text, read_specification
from possibly.records import replace
from possibly.session.checking.check import Options, check_trace
from possibly.session.checking.races import races_of
from possibly.session.record import Recorder
from possibly.trace import load
from possibly.verdict.model import Truth
from possibly.views.formats.of_races import findings_of_races
from possibly.views.testing.artefacts import folder_of, name_of
from possibly.views.text.report import Layout, verdict_lines

KNOWN = {"spec", "calls", "races", "order", *LANGUAGES}


def run_recorded(item: Any, marker: pytest.Mark, runtest: Callable[[], None]) -> None:
    """Instead of the test's call."""
    try:
        specification = _specification(item, marker.kwargs)
        path, given = folder_of(item.config) / f"{name_of(item)}.jsonl", marker.kwargs
        watch, calls = tuple(given.get("watch", ())), tuple(given.get("calls", ()))
        with Recorder(path, watch, calls, specification, bool(given.get("races"))):
            runtest()
        _check(path, specification, given)
    except PossiblyError as error:
        pytest.fail(f"possibly: {error}", pytrace=False)


def _specification(item: Any, given: Mapping[str, Any]) -> Specification:
    for name in given:
        if name not in KNOWN:
            raise UsageError(f"record has no option {name!r}", hint=f"there are {', '.join(sorted(KNOWN))}")
    spec, found = given.get("spec"), Specification()
    if spec is not None:
        file = item.path.parent / spec
        found = read_specification(file.read_text(encoding="utf-8"), str(file))
    languages = [name for name in LANGUAGES if name != "watch"]
    formulas = [each for name in languages for each in _formulas(name, given.get(name, ()))]
    if not found.properties and not formulas and not given.get("races"):
        raise UsageError("record is asked nothing", hint="give spec, races=True or a formula such as ctl=")
    return replace(found, properties=(*found.properties, *formulas))


def _formulas(language: str, given: str | Sequence[str]) -> list[Property]:
    texts = [given] if isinstance(given, str) else list(given)
    return [property_from_text(language, text, f"{language}{n}") for n, text in enumerate(texts, 1)]


def _check(path: Path, specification: Specification, given: Mapping[str, Any]) -> None:
    trace = load(path)
    lines: list[str] = []
    if given.get("races"):
        report = races_of(trace)
        found = findings_of_races(str(path), trace, report.races).findings
        lines += [each.message for each in found if each.is_bad]
        lines += [f"there may be more races: {report.reason}"] if report.reason else []
    if specification.properties:
        checked = check_trace(trace, specification, Options(order=given.get("order", "causal")))
        for verdict in checked.verdicts:
            if verdict.truth in (Truth.VIOLATED, Truth.UNKNOWN):
                lines += verdict_lines(verdict, Layout())
    if lines:
        pytest.fail("\n".join([*lines, f"the run: {path}"]), pytrace=False)
