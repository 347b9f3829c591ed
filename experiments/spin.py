"""A property of a recorded run asked of SPIN: exported, compiled and searched, each measured."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from experiments.measure import measured

MEMORY = 512
"""Megabytes that SPIN may use, as in the thesis."""


def is_here() -> bool:
    return shutil.which("spin") is not None and shutil.which("gcc") is not None


def asked(trace: Path, question: list[str], folder: Path, limit: float) -> dict[str, object]:
    """SPIN's verdict, with states, seconds and megabytes; `why` in place of what is not there."""
    model = folder / "run.pml"
    words = ["export", str(trace), "--to", "promela", *question, "-o", str(model)]
    exported = measured([sys.executable, "-m", "possibly", *words], folder, limit)
    if exported.status:
        return {"why": exported.errors.removeprefix("possibly: ").strip().splitlines()[0]}
    made = measured(["spin", "-a", str(model)], folder, limit)
    if made.status != 0 or not (folder / "pan.c").exists():
        return {"why": "SPIN cannot read it: " + _last(made.output + made.errors)}
    flags = ["-O1", "-w", "-DCOLLAPSE", "-DVECTORSZ=65536", f"-DMEMLIM={MEMORY}"]
    compiled = measured(["gcc", *flags, "-o", "pan", "pan.c"], folder, limit)
    if compiled.status != 0 and compiled.seconds >= limit / 2:
        return {"why": f"not compiled within {limit:g} s"}
    if compiled.status != 0:
        return {"why": "not compiled: " + _last(compiled.errors)}
    claims = re.findall(r"^ltl (\w+)", model.read_text(encoding="utf-8"), re.MULTILINE)
    answer: dict[str, object] = {"compile_seconds": round(made.seconds + compiled.seconds, 2)}
    return answer | _searched(claims, folder, limit)


def _searched(claims: list[str], folder: Path, limit: float) -> dict[str, object]:
    """One search a claim; their seconds and states together, until one has an error."""
    seconds, megabytes, states, verdict = 0.0, 0.0, 0, "holds"
    for claim in claims:
        found = measured(["./pan", "-a", "-m2000000", "-w20", "-N", claim], folder, max(1, limit - seconds))
        errors = re.search(r"errors: (\d+)", found.output)
        stored = re.search(r"([\d.e+]+) states, stored", found.output)
        seconds, megabytes = seconds + found.seconds, max(megabytes, found.megabytes)
        if (
            errors is None
            or stored is None
            or "-DMEMLIM" in found.output
            or "max search depth" in found.output
        ):
            return {"why": f"out of time or of {MEMORY} MB", "seconds": round(seconds, 2)}
        states += int(float(stored.group(1)))
        if errors.group(1) != "0":
            verdict = "violated"
            break
    told = {"verdict": verdict, "states": states, "seconds": round(seconds, 3)}
    return {**told, "megabytes": round(megabytes, 1)}


def _last(text: str) -> str:
    """The last line that says something, in short."""
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    return lines[-1].strip()[:100] if lines else ""
