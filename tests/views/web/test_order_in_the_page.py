"""What the page computes itself, compared with the definitions on generated runs.

Columns, closures, enabled events and values at a cut are computed in the page from the sparse edges. Here the
bundled script answers for thousands of cuts of random runs, and the order of the project is asked the same.
"""

from __future__ import annotations

import json
import os
from random import Random
from typing import Any

import pytest

from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.state import RunningState
from possibly.trace.model import Trace
from possibly.trace.notation import trace as noted
from possibly.views.export.svg import columns
from possibly.views.text.words import value_text
from possibly.views.web.columns import script_text
from tests.generate import random_trace
from tests.views.web.conftest import Shown
from tests.views.web.pages import document_of, page_of_run

RUNS = 40 * int(os.environ.get("POSSIBLY_CASES", "1"))

ASK = """(texts) => texts.map((text) => {
  const source = JSON.parse(text);
  const run = new possibly.Run(source.trace);
  const cuts = new possibly.Cuts(run);
  const counts = [[]];
  for (const length of cuts.final) {
    const before = counts.splice(0);
    for (const cut of before) for (let count = 0; count <= length; count++) counts.push([...cut, count]);
  }
  const every = Math.ceil(counts.length / 600);
  const some = counts.filter((_, at) => at % every === 0);
  const events = [...Array(run.count).keys()];
  const consistent = some.filter((cut) => cuts.isConsistent(cut));
  const moves = (cut, step) => cut.map((_, process) => {
    const found = cuts[step](cut, process);
    return Array.isArray(found) ? found : null;
  });
  return {
    columns: [...possibly.layoutOf(run, false).column],
    folded: [...possibly.layoutOf(run, true).column],
    cuts: some,
    closures: some.map((cut) => cuts.closure(cut)),
    consistent,
    advances: consistent.map((cut) => moves(cut, "advance")),
    retreats: consistent.map((cut) => moves(cut, "retreat")),
    lowered: consistent.map((cut) => cut.map((count, p) => cuts.lowered(cut, p, Math.max(0, count - 1)))),
    values: consistent.map((cut) =>
      cuts.timelines.map((line) => [line.owner, line.name, cuts.valuesAt(line, cut)])),
    before: events.map((e) => events.filter((f) => cuts.happenedBefore(e, f))),
    names: events.map((e) => [run.name(e), run.find(run.name(e))]),
  };
})"""


@pytest.fixture
def asked(shown: Shown, tmp_path: Any) -> Any:
    path = tmp_path / "page.html"
    path.write_text(page_of_run(noted("p: a")), encoding="utf-8")
    shown.open(path.as_uri())

    def ask(traces: list[tuple[Trace, str]]) -> list[dict[str, Any]]:
        texts = [script_text(document_of(trace, order)) for trace, order in traces]
        found: list[dict[str, Any]] = shown.page.evaluate(ASK, texts)
        return found

    return ask


@pytest.mark.parametrize("seed", range(3))
def test_the_page_and_the_definitions_agree(asked: Any, seed: int) -> None:
    random = Random(seed)
    runs = [
        (random_trace(random, random.randint(2, 9)), random.choice(["causal", "sync"])) for _ in range(RUNS)
    ]
    for (trace, order), answer in zip(runs, asked(runs), strict=True):
        compare(Computation(trace, order), answer)


def compare(computation: Computation, answer: dict[str, Any]) -> None:
    trace = computation.trace
    assert answer["columns"] == list(dict(sorted(columns(computation, range(len(trace))).items())).values())
    closures = [list(computation.closure(dict(enumerate(cut)))) for cut in answer["cuts"]]
    assert answer["closures"] == closures
    assert answer["consistent"] == [cut for cut in answer["cuts"] if computation.is_consistent(cut)]
    for cut, after, before, lowered, values in zip(
        answer["consistent"],
        answer["advances"],
        answer["retreats"],
        answer["lowered"],
        answer["values"],
        strict=True,
    ):
        assert after == [_advanced(computation, cut, p) for p in range(len(cut))]
        assert before == [_taken_back(computation, cut, p) for p in range(len(cut))]
        assert lowered == [_lowered(computation, cut, p) for p in range(len(cut))]
        if computation.order == "causal":
            assert dict(_named(trace, values)) == _state(computation, cut)
        else:
            assert _last_writes(computation, cut) == {
                name: set(found) for (owner, name), found in _named(trace, values) if owner is None
            }
    events = range(len(trace))
    assert answer["before"] == [[f for f in events if computation.happened_before(e, f)] for e in events]
    assert answer["names"] == [[trace.name(event), event] for event in events]


def _advanced(computation: Computation, cut: list[int], process: int) -> list[int] | None:
    """The cut after the enabled step that takes this process further, if there is one."""
    found = [after for step, after in computation.successors(cut) if after[process] > cut[process]]
    return list(found[0]) if found else None


def _taken_back(computation: Computation, cut: list[int], process: int) -> list[int] | None:
    """The cut from which a step of this process leads here."""
    if not cut[process]:
        return None
    step = computation.step(computation.at(process, cut[process]))
    before = list(cut)
    for event in computation.events(step):
        before[trace_process(computation, event)] -= 1
    if not computation.is_consistent(before):
        return None
    return before if (step, tuple(cut)) in computation.successors(before) else None


def trace_process(computation: Computation, event: int) -> int:
    return computation.trace.process[event]


def _lowered(computation: Computation, cut: list[int], process: int) -> list[int]:
    """The greatest cut inside this one with an event of the process less, by looking at all of them."""
    lattice = Lattice(computation)
    inside = [
        found
        for found in map(lattice.unpack, lattice.depth_first())
        if found[process] <= max(0, cut[process] - 1) and all(map(int.__le__, found, cut))
    ]
    return [max(column) for column in zip(*inside, strict=True)]


def _named(trace: Trace, values: list[Any]) -> Any:
    for owner, name, found in values:
        process = None if owner is None else trace.processes[owner].name
        if found:
            yield (process, name), found


def _state(computation: Computation, cut: list[int]) -> dict[tuple[str | None, str], list[str]]:
    state = RunningState(computation)
    for step in computation.steps:
        process, position = computation.place(step)
        if position <= cut[process]:
            state.execute(step)
    return {name: [value_text(value)] for name, value in state.values.items()}


def _last_writes(computation: Computation, cut: list[int]) -> dict[str, set[str]]:
    """In sync order: the values that no other write in the cut is sure to have followed."""
    trace = computation.trace
    found = {name: {value_text(value)} for name, value in trace.shared.items()}
    for name in {name for event in range(len(trace)) for name, _ in trace.writes(event)}:
        inside = [
            e for e in range(len(trace)) if name in dict(trace.writes(e)) and _is_in(computation, e, cut)
        ]
        last = [e for e in inside if not any(computation.happened_before(e, other) for other in inside)]
        if last:
            found[name] = {value_text(dict(trace.writes(event))[name]) for event in last}
    return found


def _is_in(computation: Computation, event: int, cut: list[int]) -> bool:
    process, position = computation.place(event)
    return position <= cut[process]


def test_folding_keeps_the_order(asked: Any) -> None:
    """Events of one column are either folded together or not ordered; an order never leads to the left."""
    random = Random(7)
    runs = [(random_trace(random, 40), "causal") for _ in range(10)]
    for (trace, order), answer in zip(runs, asked_columns(asked, runs), strict=True):
        computation = Computation(trace, order)
        for event in range(len(trace)):
            for other in computation.predecessors(event):
                assert answer[other] <= answer[event]


def asked_columns(asked: Any, runs: list[tuple[Trace, str]]) -> list[list[int]]:
    return [json.loads(json.dumps(answer["folded"])) for answer in asked(runs)]
