"""Suggested properties: what they say is true, and what is true in one order only is told apart."""

from __future__ import annotations

from random import Random

import pytest

from possibly.logic.specification import read_specification
from possibly.session.checking.check import Options, check_trace
from possibly.session.checking.suggest import groups, suggestions
from possibly.trace import TraceBuilder
from tests.generate import random_trace
from tests.views.samples import mutex_trace


def test_what_holds_and_what_only_happened() -> None:
    found = {each.line: each.everywhere for each in suggestions(mutex_trace(), 20, 20)}
    assert found['pattern mutex("P*".cs)'] is False
    assert found["pattern no_lost_message()"] is True
    assert found["pattern exactly_once(P1.cs)"] is True
    assert found["pattern absence(P1.cs & P2.cs)"] is False


@pytest.mark.parametrize("seed", range(6))
def test_every_suggestion_is_true(seed: int) -> None:
    trace = random_trace(Random(seed), events=6)
    for each in suggestions(trace, 20, 10):
        report = check_trace(trace, read_specification(each.line), Options(engine="auto"))
        assert report.verdicts[0].holds is each.everywhere
        assert report.verdicts[0].observed or each.everywhere


def test_groups() -> None:
    names = ["main", "worker-1", "worker-2", "rank0", "rank1", "ranker", "solo3"]
    assert groups(names) == {'"worker-*"': ["worker-1", "worker-2"]}


def test_functions_of_processes_without_a_common_name() -> None:
    builder = TraceBuilder("run.jsonl")
    builder.header([("there", {}), ("back", {})], {})
    for name in ("there", "back"):
        builder.add(name, kind="enter", fn="move")
        builder.add(name, kind="exit", fn="move")
        builder.add(name)
    lines = {each.line: each.everywhere for each in suggestions(builder.finish(), 20, 20)}
    assert lines == {'pattern mutex(inside("*", move))': False}
