"""The model for SPIN; with SPIN itself where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from possibly.logic.specification import read_specification
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.session.checking.check import Options, check_trace
from possibly.trace.jsonl import write_trace
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from possibly.views.cli.main import main
from possibly.views.export.promela import render_promela
from tests.generate import random_trace

needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None, reason="spin and gcc are not installed"
)


def test_model_of_a_message() -> None:
    text = render_promela(Computation(trace("P(x=0): send(m>Q){x=1} | Q: recv(m){y=true,z=[1]}")))
    assert "atomic { done[0] == 0 -> p0_x = 1; done[0] = 1 }" in text
    assert "atomic { done[1] == 0 && done[0] >= 1 -> p1_y = 1; p1_z = 2147483647; done[1] = 1 }" in text
    assert "int p0_x = 0;" in text and "int p1_y = -2147483648;" in text
    assert "/* 2147483647 stands for [1] */" in text


def test_names_cannot_break_out_of_a_comment_or_collide() -> None:
    run = trace('"*/ int evil; /*"("a b"=1, "a_b"=2): _')
    text = render_promela(Computation(run))
    assert "*/ int evil" not in text
    assert len(set(re.findall(r"int (p0_\w+) =", text))) == 2


@needs_spin
@pytest.mark.parametrize("seed", range(3))
def test_spin_counts_the_same_cuts(seed: int, tmp_path: Path) -> None:
    """Without reduction, the states of the model are the cuts (and those where processes end)."""
    run = random_trace(Random(seed), events=7)
    (tmp_path / "run.pml").write_text(render_promela(Computation(run)))
    subprocess.run(["spin", "-a", "run.pml"], cwd=tmp_path, check=True, capture_output=True)
    compile_ = ["gcc", "-O1", "-w", "-DNOREDUCE", "-DSAFETY", "-o", "pan", "pan.c"]
    subprocess.run(compile_, cwd=tmp_path, check=True, capture_output=True)
    out = subprocess.run(["./pan", "-E"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "errors: 0" in out
    found = re.search(r"(\d+) states, stored", out)
    assert found is not None
    assert int(found.group(1)) >= Lattice(Computation(run)).count_cuts()


@needs_spin
def test_spin_finds_the_violation(tmp_path: Path) -> None:
    run = trace("P(cs=false): recv(go) b{cs=true} | Q(cs=false): send(go>P){cs=true} c{cs=false}")
    text = render_promela(Computation(run)) + "ltl mutex { [] !(p0_cs == 1 && p1_cs == 1) }\n"
    (tmp_path / "run.pml").write_text(text)
    subprocess.run(["spin", "-a", "run.pml"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run(["gcc", "-O1", "-w", "-o", "pan", "pan.c"], cwd=tmp_path, check=True)
    out = subprocess.run(
        ["./pan", "-a", "-E"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert "errors: 1" in out


def errors_by_spin(run: Trace, formula: str, language: str, folder: Path) -> bool:
    """Whether SPIN finds an error of the exported property."""
    write_trace(run, folder / "run.jsonl")
    words = ["export", str(folder / "run.jsonl"), "--to", "promela", f"--{language}", formula]
    assert main([*words, "-o", str(folder / "run.pml")]) == 0
    subprocess.run(["spin", "-a", "run.pml"], cwd=folder, check=True, capture_output=True)
    subprocess.run(["gcc", "-O0", "-w", "-o", "pan", "pan.c"], cwd=folder, check=True)
    out = subprocess.run(["./pan", "-a"], cwd=folder, check=True, capture_output=True, text=True).stdout
    found = re.search(r"errors: (\d+)", out)
    assert found is not None, out
    return found.group(1) != "0"


RUN = trace(
    "P(x=0): a{x=1} send(m>Q){x=2} meet(j) b{x=0} | Q(x=0): c{x=2} recv(m){x=1} d{x=3} | "
    "R: e{x=1} meet(j){x=2} f{x=0}"
)
ALIKE = [
    ("ctl", "AG(!(P.x > 1 & Q.x > 1))"),
    ("ctl", "AG(!(P.x == 0 & Q.x == 3 & R.x == 1))"),
    ("ctl", "AG(P.x == 1 -> AF(Q.x == 2 | R.x == 0))"),
    ("ctl", "EF(P.x + Q.x == 3 & transit() == 0)"),
    ("ctl", "EF(P.x + R.x == 5)"),
    ("ctl", "EG(!(P.x == 2 & Q.x == 2))"),
    ("ctl", "A[P.x <= Q.x U R.x == 0]"),
    ("ctl", "E[Q.x < 3 U P.x == 2 & R.x == 2]"),
    ("ltl", "G(P.x == 1 -> (Q.x < 3 U R.x == 2)) | F(Q.x > P.x + 2)"),
    ("ltl", "(R.x != 2) W (P.x == 2)"),
]


@needs_spin
@pytest.mark.parametrize(("language", "formula"), ALIKE if "POSSIBLY_CASES" in os.environ else ALIKE[1::3])
def test_spin_agrees_about_the_exported_property(language: str, formula: str, tmp_path: Path) -> None:
    specification = read_specification(f"{language} it = {formula}")
    (verdict,) = check_trace(RUN, specification, Options()).verdicts
    assert verdict.holds is not None
    exists = language == "ctl" and formula.startswith("E")
    assert errors_by_spin(RUN, formula, language, tmp_path) == (verdict.holds == exists)


@needs_spin
@pytest.mark.parametrize("formula", ["i.x == 2 & j.x == 3", "i.x == 3 & j.x == 3"])
def test_spin_agrees_about_pairs_that_are_not_written_out(
    formula: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("possibly.logic.bind.FEW", 0)
    never = f'AG(!(exists i, j in "*" if i != j: {formula}))'
    (verdict,) = check_trace(RUN, read_specification(f"ctl it = {never}"), Options()).verdicts
    assert verdict.holds is ("i.x == 3" in formula)
    assert errors_by_spin(RUN, never, "ctl", tmp_path) is not verdict.holds


@pytest.mark.parametrize(
    ("language", "formula", "words"),
    [
        ("ctl", "AG(EF(P.x == 0))", "no formula of LTL says"),
        ("ctl", "AF(AG(P.x == 0))", "no formula of LTL says"),
        ("ltl", "X(P.x == 0)", "SPIN has no form for"),
    ],
)
def test_what_spin_cannot_be_asked_is_said(
    language: str, formula: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_trace(RUN, tmp_path / "run.jsonl")
    assert main(["export", str(tmp_path / "run.jsonl"), "--to", "promela", f"--{language}", formula]) == 2
    assert words in capsys.readouterr().err
