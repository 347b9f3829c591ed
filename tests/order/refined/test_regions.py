"""Atomic regions: the cuts that remain are those that contain of each region all events or none."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from possibly.errors import TraceError
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.refined.regions import Region, regions_of, with_regions
from possibly.trace import load
from possibly.trace.model import Trace
from possibly.trace.notation import trace as trace_of
from possibly.views.cli.main import main
from tests.generate import random_trace
from tests.sampling import sampled

BANK = Path(__file__).parents[3] / "examples" / "bank" / "run.jsonl"


def random_regions(chance: random.Random, trace: Trace) -> list[Region]:
    """Some stretches, without joint events and with one message at most."""
    found: list[Region] = []
    for events in trace.events_of:
        at = 0
        while at < len(events):
            region = events[at : at + chance.randint(1, 3)]
            at += len(region)
            messages = sum(trace.message is not None and trace.message[event] >= 0 for event in region)
            joint = any(trace.meet is not None and trace.meet[event] >= 0 for event in region)
            if len(region) > 1 and messages < 2 and not joint:
                found.append(list(region))
    return found


def whole_cuts(trace: Trace, regions: list[Region]) -> set[tuple[int, ...]]:
    """By definition, each as the number of events and regions of each process."""
    kept = set()
    lattice = Lattice(Computation(trace))
    for cut in map(lattice.unpack, lattice.depth_first()):
        shares = [
            sum(trace.position[event] <= cut[trace.process[event]] for event in region) for region in regions
        ]
        if all(share in (0, len(region)) for share, region in zip(shares, regions, strict=True)):
            fewer = list(cut)
            for share, region in zip(shares, regions, strict=True):
                fewer[trace.process[region[0]]] -= max(share - 1, 0)
            kept.add(tuple(fewer))
    return kept


def test_the_cuts_are_those_that_cut_no_region() -> None:
    refused = done = 0
    for case in range(sampled(300)):
        chance = random.Random(case)
        trace = random_trace(chance)
        regions = random_regions(chance, trace)
        try:
            found = Lattice(Computation(with_regions(trace, regions)))
        except TraceError as error:
            assert "a region is no single event" in str(error)
            refused += 1
            continue
        done += bool(regions)
        assert set(map(found.unpack, found.depth_first())) == whole_cuts(trace, regions), case
    assert done > 20 and refused


def test_what_leads_out_and_in_again_is_named() -> None:
    trace = trace_of("p: a send(m) recv(n) b | q: recv(m) send(n)")
    with pytest.raises(TraceError, match="no single event: a before q:1 before q:2 before a"):
        with_regions(trace, [trace.events_of[0]])
    several = trace_of("p: a send(m) send(n) b | q: recv(m) recv(n)")
    with pytest.raises(TraceError, match="the region that begins with a at .* has more than one message"):
        with_regions(several, [several.events_of[0]])
    split = trace_of("p: a send(m) | q: recv(m) c")
    assert len(with_regions(split, [split.events_of[0], split.events_of[1]])) == 2


def test_the_calls_of_a_function_are_found_in_a_recorded_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = load(BANK)
    assert len(list(regions_of(trace, "move"))) == 2
    both = "AG(!(inside(there, move) & inside(back, move)))"
    assert main(["check", str(BANK), "--ctl", both]) == 1
    out = tmp_path / "regions.jsonl"
    assert main(["export", str(BANK), "--to", "jsonl", "--atomic", "move", "-o", str(out)]) == 0
    assert len(load(out)) < len(trace)
    assert sum("id" in json.loads(line) for line in out.read_text().splitlines()) > 0
    capsys.readouterr()
    assert main(["export", str(BANK), "--to", "jsonl", "--atomic", "nothing"]) == 2
    assert "no lock and no function is called nothing" in capsys.readouterr().err
