"""The temporal debugger: live programs, automata beside other translators, a large model beside SPIN.

`python -m benchmarks.stepping`. Peers that are not installed are left out and said so: `flloat` and
`ltlf2dfa` come with the extra `bench`, the second needs the program `mona`; `spin` and `gcc` are programs
too. A peer that takes longer than `PATIENCE` seconds is ended. Times beside SPIN are those of the processor,
since machines are noisy. `--quick` takes sizes a tenth as large.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from random import Random
from time import perf_counter, process_time

from benchmarks.run import row, timed
from possibly.control.forking import zygote
from possibly.control.temporal.compiled import kernel
from possibly.control.temporal.model_system import ModelSystem
from possibly.control.temporal.options import Options
from possibly.control.temporal.product import Product
from possibly.control.temporal.search import BreadthFirst
from possibly.control.temporal.stack import TemporalStack
from possibly.control.temporal.steps import automaton_of
from possibly.logic.ltl.automaton import ReducedAutomaton, accepts
from possibly.logic.ltl.tableau import Tableau, TableauTooLargeError
from possibly.logic.parser import parse
from possibly.models.reader import read_model
from possibly.session.debugging.live import LiveSystem
from possibly.session.debugging.temporal import Opening, opened
from possibly.session.exploring.exploration import Options as Exploring
from possibly.session.exploring.explore import explore
from tests.logic.ltl.minimal import TooManyStatesError, minimal_automaton

PATIENCE = 20.0
LETTERS = 1000
"""Length of the word that a lazy automaton reads."""


# ---- automata -----------------------------------------------------------------------------------


def responses(count: int) -> str:
    return " & ".join(f"G(p{i} -> F q{i})" for i in range(count))


def eventualities(count: int) -> str:
    return " & ".join(f"F p{i}" for i in range(count))


def automata(what: str, text: str) -> None:
    print(what)
    formula = parse(text, "ltl")

    def read() -> int:
        automaton = ReducedAutomaton(formula)
        random, bits = Random(1), len(automaton.atoms)
        accepts(automaton, [random.getrandbits(bits) for _ in range(LETTERS)])
        return len(automaton.states)

    seconds, size = timed(read)
    row(f"lazy, read over {LETTERS:,} letters", f"{size:,} states", f"{seconds * 1e3:.0f} ms")
    _built("tableau, all nodes", lambda: Tableau(formula).complete(), "nodes")
    _built("minimal deterministic", lambda: len(minimal_automaton(formula)), "states")
    for peer, script in PEERS.items():
        _peer(peer, script, text)


def _built(what: str, work: object, noun: str) -> None:
    try:
        seconds, size = timed(work)  # type: ignore[arg-type]
        row(what, f"{size:,} {noun}", f"{seconds * 1e3:.0f} ms")
    except (TableauTooLargeError, TooManyStatesError):
        row(what, "too large")


PEERS = {
    "flloat": "from flloat.parser.ltlf import LTLfParser\n"
    "automaton = LTLfParser()(formula).to_automaton()\nprint(len(automaton.states))",
    "ltlf2dfa": "from ltlf2dfa.parser.ltlf import LTLfParser\n"
    "text = LTLfParser()(formula).to_dfa()\nimport re\n"
    "print(len(set(re.findall(r'^ (\\d+) ->', text, re.M))))",
}


def _peer(peer: str, script: str, text: str) -> None:
    try:
        name = f"{peer} {version(peer)}"
    except PackageNotFoundError:
        row(peer, "not installed")
        return
    if peer == "ltlf2dfa" and shutil.which("mona") is None:
        row(name, "mona is not installed")
        return
    head = f"formula = {text!r}\nfrom time import perf_counter\nbegun = perf_counter()\n"
    code = f"{head}{script}\nprint(perf_counter() - begun)"
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        row(name, "gave up", f"after {PATIENCE:.0f} s")
        return
    found = done.stdout.split()
    if done.returncode or len(found) < 2:
        row(name, "failed")
    else:
        row(name, f"{int(found[-2]):,} states", f"{float(found[-1]) * 1e3:.0f} ms")


# ---- a large model ------------------------------------------------------------------------------


def counters(processes: int) -> str:
    """Ten places a process: before the first statement, and nine values after it."""
    body = "    while True:\n        x[i] = (x[i] + 1) % 9\n"
    return f"x = [0] * {processes}\n\n@process({processes})\ndef P(i):\n{body}"


def promela(processes: int) -> str:
    step = "x[{i}] = (x[{i}] + 1) % 9"
    bodies = [
        f"active proctype P{i}() {{ {step.format(i=i)}; do :: {step.format(i=i)} od }}"
        for i in range(processes)
    ]
    return "\n".join([f"byte x[{processes}];", *bodies, ""])


def large(processes: int) -> None:
    print(f"a model of {10**processes:,} reachable states, stepped to the last: F x[0] == 10, no step")
    stack = TemporalStack(ModelSystem(read_model(counters(processes), "counters.py")))
    begun = process_time()
    answer = stack.step("F x[0] == 10")
    seconds = process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    how = "compiled" if kernel() is not None else "plain Python, no compiler was there"
    row(f"possibly, {how}", f"{answer.visited / seconds:,.0f} states/s", f"{seconds:.1f} s")
    row(
        "memory of the whole process",
        f"{peak:,.0f} MB",
        f"{peak * 1048576 / answer.visited:.0f} bytes a state",
    )
    plain(processes - 2)
    spin(processes, seconds, peak)


def plain(processes: int) -> None:
    """The twin in Python, on a model that it finishes in reasonable time."""
    system = ModelSystem(read_model(counters(processes), "counters.py"))
    formula = TemporalStack(system).bound("F x[0] == 10")
    search = BreadthFirst(Product(system, automaton_of(formula, Options()), system.model.initial), Options())
    seconds, _ = timed(lambda: list(search.paths()))
    row(
        f"the plain twin, {search.visited:,} states",
        f"{search.visited / seconds:,.0f} states/s",
        f"{seconds:.1f} s",
    )


def spin(processes: int, seconds: float, peak: float) -> None:
    if shutil.which("spin") is None or shutil.which("gcc") is None:
        row("spin", "not installed")
        return
    name = subprocess.run(["spin", "-V"], capture_output=True, text=True, check=True).stdout.split(" -- ")[0]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.pml").write_text(promela(processes), encoding="utf-8")
        subprocess.run(["spin", "-a", "model.pml"], cwd=folder, check=True, capture_output=True)
        for order, options in (("depth first", ["-DSAFETY"]), ("breadth first", ["-DSAFETY", "-DBFS"])):
            _spin(f"{name}, {order}", options, folder, 10**processes, seconds, peak)


def _spin(name: str, options: list[str], folder: str, depth: int, seconds: float, peak: float) -> None:
    """SPIN without its reduction, which a search for any state predicate cannot use."""
    settings = ["-O2", "-DNOREDUCE", "-DMEMLIM=8000", *options, "-o", "pan", "pan.c"]
    begun = perf_counter()
    subprocess.run(["gcc", *settings], cwd=folder, check=True, capture_output=True)
    compiling = perf_counter() - begun
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    stack = [] if "-DBFS" in options else [f"-m{depth}"]
    command = ["./pan", *stack, "-w24"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    found = re.search(r"([\d.e+]+) states, stored", done.stdout)
    used = re.search(r"([\d.]+)\s+total actual memory", done.stdout)
    if found is None or used is None:
        row(name, "said nothing")
        return
    states, memory = int(float(found.group(1))), float(used.group(1))
    row(f"{name}, {states:,} states", f"{states / spent:,.0f} states/s", f"{spent / seconds:.1f} x our time")
    row("its memory", f"{memory:,.0f} MB", f"{memory / peak:.1f} x ours; {compiling:.1f} s to compile")


# ---- live programs ------------------------------------------------------------------------------

COUNTING = """\
import threading

n = 0


def count():
    global n
    for _ in range({rounds}):
        n += 1


threads = [threading.Thread(target=count, name=f"t{{k}}") for k in range({threads})]
for each in threads:
    each.start()
for each in threads:
    each.join()
"""


def live(threads: int, rounds: int, formula: str) -> None:
    """A step through a live program, beside `explore` of the same program."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counting.py"
        path.write_text(COUNTING.format(threads=threads, rounds=rounds), encoding="utf-8")
        debugger = opened(Opening(str(path), path.read_text(encoding="utf-8")))
        before, system = perf_counter(), debugger.system
        assert isinstance(system, LiveSystem)
        executions = system.executions
        outcome = debugger.stack.step(formula).outcome.value
        took = perf_counter() - before
        row(
            f"{threads} threads, {formula}: {outcome}",
            f"{took:.2f} s, {system.executions - executions} executions",
        )
        system.close()
        if outcome == "none":
            before = perf_counter()
            with zygote.script((str(path),)) as program:
                found = explore(program, Exploring(join="all"))
            row(
                "  explore of the same program",
                f"{perf_counter() - before:.2f} s, {found.executions} executions",
            )


WAREHOUSE = Path(__file__).parent / "large" / "warehouse.py"
"""300 lines, six threads."""


def commands() -> None:
    """Steps through a larger program, each a command of its own; CPU is that of all its processes."""
    print(f"a program of {len(WAREHOUSE.read_text().splitlines())} lines and six threads")
    formulas = ("F shipped == 1", "F ledger.balance == -1", 'F done("shipper")', "F shipped == 5")
    for formula in formulas:
        said = _commanded(f"debug, {formula}", ["debug", str(WAREHOUSE), "--command", f"step {formula}"])
        assert ("no step" in said) == (formula == formulas[-1]), said
    _commanded("explore", ["explore", str(WAREHOUSE)])


def _commanded(name: str, words: list[str]) -> str:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "possibly", *words], capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    row(name, f"{spent:.2f} s of CPU")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="sizes a tenth as large")
    quick = parser.parse_args().quick
    if not quick:
        commands()
    live(6, 2, "F n == 9")
    live(2 if quick else 3, 2, "F n == 100")
    large(5 if quick else 7)
    automata("a response, G(p -> F q)", responses(1))
    automata("three conjoined responses", responses(3))
    automata("seven conjoined eventualities, F p", eventualities(7))
    if not quick:
        automata("twelve conjoined responses", responses(12))


if __name__ == "__main__":
    main()
