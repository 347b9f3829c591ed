"""Synchronisation of the program's own making: `sync` rules order what is recorded."""

from __future__ import annotations

from pathlib import Path

from tests.probes.programs import run

PROGRAM = """
import threading
class Semaphore:
    def __init__(self):
        self.units = 0
    def V(self):
        self.units += 1
    def P(self):
        while not self.units:
            pass
        self.units -= 1
ready, other = Semaphore(), Semaphore()
def produce():
    pass  #: made
    ready.V()
    pass  #: later
    other.V()
def consume():
    ready.P()
    pass  #: used
first = threading.Thread(target=produce)
second = threading.Thread(target=consume)
second.start()
first.start()
first.join()
second.join()
"""
RULE = "sync semaphore(S): V(S).enter; P(S).exit"


def test_without_a_rule_the_flag_orders_nothing(tmp_path: Path) -> None:
    found = run(tmp_path, PROGRAM)
    assert found.concurrent("made", "used")


def test_a_rule_orders_the_calls_that_carry_the_same_object(tmp_path: Path) -> None:
    found = run(tmp_path, PROGRAM, spec=RULE)
    assert found.before("made", "used")
    assert found.concurrent("later", "used")


def test_a_rule_that_names_the_other_end_orders_nothing_here(tmp_path: Path) -> None:
    found = run(tmp_path, PROGRAM, spec="sync wrong(S): P(S).exit; V(S).enter")
    assert found.concurrent("made", "used")


def test_calls_of_a_rule_carry_their_arguments(tmp_path: Path) -> None:
    found = run(tmp_path, PROGRAM, spec=RULE)
    trace = found.trace
    calls = [
        (trace.event(e).kind, trace.text(trace.function, e), trace.extra[e]["args"])
        for e in range(len(trace))
        if "args" in trace.extra.get(e, ())
    ]
    assert ("enter", "V", ["ready"]) in calls
    assert ("exit", "P", ["ready"]) in calls
    assert ("enter", "V", ["other"]) in calls


def test_arguments_are_values_names_of_objects_and_names_of_primitives(tmp_path: Path) -> None:
    source = """
    import threading
    lock = threading.Lock()
    class Parcel: pass
    parcel = Parcel()
    class Post:
        def carry(self, what, how, *rest, fast=True):
            pass
    Post().carry(parcel, lock, [1, "two"], None)
    """
    found = run(tmp_path, source, spec="watch seen = carry(A, B, C, D)")
    (entered,) = [e for e in found.trace.extra if found.trace.event(e).kind == "enter"]
    assert found.trace.extra[entered]["args"] == ["parcel", "lock", [1, "two"], None]
