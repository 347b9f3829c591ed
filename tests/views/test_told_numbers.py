"""The numbers in the documents are those of the code: a limit that changes there changes here."""

from __future__ import annotations

import re
from math import comb

import pytest

from possibly.control import minimise, tree
from possibly.control.forking import patience
from possibly.control.joining import both
from possibly.control.macro import matching
from possibly.control.macro import run as macro_run
from possibly.control.runtime import contents, kernel
from possibly.control.schedulers import dpor, rotation
from possibly.control.temporal import options as temporal
from possibly.control.why import pairs
from possibly.control.world import faults, wires
from possibly.control.world.processes import queues as pipes
from possibly.control.world.processes.pooling import pools
from possibly.detection import witness
from possibly.detection.online import terms as online_terms
from possibly.detection.paths import occurrences
from possibly.detection.prediction import walks
from possibly.detection.slices import by_test, by_values, closure, declared, sliced
from possibly.detection.solver import engine as solver
from possibly.detection.solver import sums as solver_sums
from possibly.detection.solver import tables
from possibly.detection.sums import relational
from possibly.detection.tasks import check as tasks
from possibly.detection.tasks import fibers, terms
from possibly.logic import bind
from possibly.logic.paths import machine
from possibly.logic.paths import parser as paths_parser
from possibly.models import slots
from possibly.recorder import log, snapshot
from possibly.recorder import watch as watched
from possibly.session.checking import coverage, keyed, predictive, races
from possibly.session.checking import paths as path_checks
from possibly.session.exploring import exploration, search
from possibly.session.macro_steps import between
from possibly.session.watching import intake, listening, spans, watch
from possibly.session.watching.streams import following, outbox
from possibly.trace import files
from possibly.views.cli import main, properties
from possibly.views.cli.controlled import watch as watch_command
from possibly.views.cli.recorded import linearizable, many
from possibly.views.export import as_test, net
from possibly.views.web import debugging, lattices
from tests.views.console import ROOT

WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 7: "seventh", 8: "eight", 20: "twenty"}
ALTERNATIVES = next(n for n in range(2, 100) if comb(n + 1, 2) > online_terms.MOST_ALTERNATIVES)
MINUTE = {0.1: "tenth of a second", 30.0: "half a minute", 60.0: "a minute", 120.0: "two minutes"}
TOLD = [
    ("manual", f"so many cuts ({properties.MOST_CUTS:,} unless told"),
    ("manual", f"more than {many.MANY} traces"),
    ("manual", f"status {main.INTERRUPTED}"),
    ("manual", f"at most {closure.FEW_CUTS:,} cuts, if its comparisons"),
    ("manual", f"tell at most {by_values.MOST_COMBINATIONS} combinations"),
    ("manual", f"up to {by_test.MOST_STAIRS:,} events divided by the number of processes squared"),
    ("manual", f"up to {pairs.MOST} are tried"),
    ("manual", f"{as_test.SEARCHED:,} executions are searched"),
    ("manual", f"({watch_command.KEEP:,} unless told"),
    ("manual", f"key by key, up to {keyed.MOST:,}"),
    ("manual", f"at most {declared.FEW_CUTS} cuts; a wrong one is an error"),
    ("manual", f"({witness.EFFORT:,} cuts looked at; for slices, {sliced.SMALL:,} events times processes)"),
    ("exploring", f"of which there are more than {contents.WIDEST}, are read as a whole"),
    (
        "exploring",
        f"{WORDS[search.LONGER]} times as many steps as all before (and more than {search.ORDERING:,})",
    ),
    ("exploring", f"up to {WORDS[rotation.MOST]} tasks take turns"),
    ("exploring", f"no processor time for {patience.STILL:.0f} seconds"),
    ("exploring", f"used {MINUTE[patience.BUSY * patience.STILL]} of it without coming to an end"),
    ("exploring", f"that ends after {MINUTE[search.SIMPLIFYING]}"),
    ("exploring", f"data of up to {WORDS[wires.EVERYWHERE]} bytes is cut anywhere"),
    ("exploring", f"what is sent takes {MINUTE[faults.OUTAGE]}"),
    ("exploring", f"({pipes.ROOM >> 10} KiB; {pipes.ROOM_OF_SOCKETS >> 10} KiB for a `Pipe` of both"),
    ("exploring", f"how many workers it has gets {WORDS[pools.FEW]}"),
    ("exploring", f"After {search.SAMPLED} executions, each time twice as many"),
    ("exploring", f"The first {WORDS[search.CAREFUL]} executions are each planned by all before"),
    ("exploring", f"after {tree.HUNT}, which look for a failure"),
    ("exploring", f"longer than a {MINUTE[search.ALONE]}"),
    ("exploring", {100: "take a hundred steps"}[kernel.OVERTIME]),
    ("schedules", f"From the {WORDS[dpor.NEAR + 1]} on, every second execution"),
    ("schedules", {100: "made a hundred executions and is not through"}[both.ALONE]),
    ("schedules", f"where {minimise.STATES:,} states suffice"),
    ("schedules", f"up to {exploration.Options().minimise} executions with fewer preemptions"),
    ("recording", f"called more than {watched.MOST_CALLS:,} times"),
    ("recording", f"of more than {snapshot.LONGEST:,} items"),
    ("recording", f"more than {WORDS[snapshot.DEEPEST]} levels deep"),
    ("recording", f"flushed every {MINUTE[log.PERIOD]}"),
    ("paths", f"has at most {paths_parser.MAX_EVENTS} events"),
    ("paths", f"The first {path_checks.MOST_MATCHES:,} occurrences"),
    (
        "paths",
        f"than {machine.MOST_READINGS:,} readings, or more than {machine.MOST_SLOTS:,} events to remember",
    ),
    ("paths", f"more than {occurrences.MOST_OPEN:,} sets are under way"),
    ("tasks", f"as long as {terms.MOST_TERMS:,} terms suffice"),
    ("tasks", f"about up to {WORDS[fibers.MOST_TASKS]} task variables"),
    ("tasks", {1_000_000: "at most a million slices"}[tasks.COUNTED]),
    ("tasks", f"more than {net.MOST_ACTIONS} actions and graphs of more than {net.MOST_SLICES} slices"),
    ("sums-and-solver", f"Up to {by_values.MOST_COMBINATIONS} of them are expanded"),
    ("sums-and-solver", f"more than {tables.MOST_COMBINATIONS:,} combinations"),
    ("sums-and-solver", f"more than {solver.MOST_EVENTS:,} events"),
    ("sums-and-solver", f"on runs of more than {relational.EXACT:,} steps"),
    ("sums-and-solver", f"was not found in {relational.PATIENCE:.0f} seconds; `solver`"),
    ("sums-and-solver", f"it was not found in {solver.PATIENCE:.0f} seconds."),
    ("sums-and-solver", f"Sums beyond 2 ** {solver_sums.LARGEST.bit_length() - 1}"),
    ("slicing", f"at most {closure.FEW_CUTS:,} cuts"),
    ("prediction", f"of more than {races.LONG:,} events are looked at in windows of {races.WINDOW:,}"),
    ("prediction", f"of up to {predictive.MOST_ORDERS} orders"),
    ("prediction", f"exact up to {walks.MOST_NODES:,} cuts with values"),
    ("prediction", f"divided into two, then into {WORDS[predictive.MOST_SLICES]} slices"),
    ("online", f"up to {outbox.MOST >> 30} GiB"),
    ("online", {1.0: "saves what it knows every second"}[following.EVERY]),
    ("online", f"{spans.MOST_SPANS:,} spans are taken"),
    ("online", f"more than {watch.ENTRIES:,} entries"),
    ("online", f"a line of {intake.LONGEST_LINE >> 20} MiB, a header of {intake.LONGEST_HEADER >> 10} KiB"),
    ("online", f"within {listening.SILENCE:.0f} seconds, {listening.MOST_CONNECTIONS} connections at once"),
    ("online", f"{online_terms.MOST_ALTERNATIVES} alternatives in disjunctive form"),
    ("online", f"all pairs goes up to {ALTERNATIVES} processes"),
    ("large-runs", f"of {files.CACHED_FROM >> 20} MiB or more"),
    ("large-runs", f"Of more than {WORDS[bind.FEW]} processes"),
    ("large-runs", f"Of more than {WORDS[coverage.MOST_AT_ONCE]} atoms"),
    ("picture", f"runs of at most {lattices.MOST_CUTS} cuts"),
    ("picture", f"longer than {WORDS[int(debugging.PATIENCE)]} seconds"),
    ("histories", f"({linearizable.MOST_STATES:,} unless told"),
    ("cluster", f"({many.PAGES} of them, in a folder beside it)"),
    ("cluster", f"The first {tree.HUNT} executions"),
    ("macro-steps", f"more than {macro_run.MOST_STEPS:,} macro-steps"),
    ("macro-steps", f"ends after {between.MOST_EXECUTIONS:,} executions"),
    ("macro-steps", f"nothing is found {WORDS[matching.MOST_POLLS]} times in a row at most"),
    ("debugger", f"(up to {temporal.DEEPEST} states unless bounded)"),
    ("debugger", f"may take {1 << slots.UNBOUNDED_BITS:,} values"),
]


@pytest.mark.parametrize(("document", "told"), TOLD, ids=lambda text: text[:60])
def test_the_number_is_that_of_the_code(document: str, told: str) -> None:
    text = (ROOT / "docs" / f"{document}.md").read_text(encoding="utf-8")
    assert told in re.sub(r"\s+", " ", text)
