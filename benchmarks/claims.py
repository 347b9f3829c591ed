"""`make bench`: claims, in rounds a second; what a claim costs when nobody listens; twelve responses at once.

If `reelay` is there it monitors the past form of the same claim beside us, a state at a time.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from random import Random
from typing import Any

from benchmarks.run import rate, row, timed
from possibly.logic.ltl.claims import ClaimMonitor
from possibly.logic.parser import parse
from possibly.probes.claiming import claim

CLAIMS = (
    "G(kept) & G(!empty -> F empty)",
    "G(request -> F answer)",
    "G(answer -> O request) & G(kept)",
    "G(open -> (busy S start)) & F(stop | G kept)",
)


def word(monitor: ClaimMonitor, rounds: int) -> list[int]:
    """Rounds that decide nothing: `kept`, `request`, `start`, `busy` always hold."""
    names = [atom.parts[0] for atom in monitor.atoms]  # type: ignore[attr-defined]
    always = sum(1 << i for i, name in enumerate(names) if name in ("kept", "request", "start", "busy"))
    random = Random(1)
    return [random.getrandbits(len(names)) | always for _ in range(rounds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    rounds = 200_000 if parser.parse_args().quick else 2_000_000
    print(f"claims, {rounds:,} rounds")
    for text in CLAIMS:
        monitor = ClaimMonitor(parse(text, "ltl"))
        values = word(monitor, rounds)
        spent, state = timed(lambda monitor=monitor, values=values: monitor.run(values))  # type: ignore[misc]
        assert monitor.verdicts[state] is None, text
        row(text, rate(rounds, spent, "rounds"))
    _beside_reelay(rounds // 10)
    _twelve()
    _unheard(rounds)


def _beside_reelay(rounds: int) -> None:
    if find_spec("reelay") is None:
        row("reelay", "not installed")
        return
    from reelay import discrete_timed_monitor  # type: ignore[import-untyped, import-not-found, unused-ignore]

    theirs: Any = discrete_timed_monitor(
        pattern="historically({answer} -> once{request})", semantics="boolean"
    )
    ours = ClaimMonitor(parse("G(answer -> O request)", "ltl"))
    values = word(ours, rounds)
    states = [{"answer": bool(value & 1), "request": bool(value & 2)} for value in values]

    def feed() -> None:
        for state in states:
            theirs.update(state)

    theirs_spent, _ = timed(feed)

    def feed_ours() -> None:
        number = 0
        for state in states:
            number = ours.step(number, state["answer"] | state["request"] << 1)

    fed_spent, _ = timed(feed_ours)
    ours_spent, _ = timed(lambda: ours.run(values))
    row("reelay, historically(answer -> once request)", rate(rounds, theirs_spent, "rounds"))
    ratio = f"{theirs_spent / fed_spent:.0f} x reelay"
    row("the same as a claim, from the same dictionaries", rate(rounds, fed_spent, "rounds"), ratio)
    row("the same as a claim, from valuations", rate(rounds, ours_spent, "rounds"))


def _twelve() -> None:
    text = " & ".join(f"G(p{i} -> F q{i})" for i in range(12))
    random = Random(2)
    values = [random.getrandbits(24) for _ in range(10_000)]
    spent, monitor = timed(lambda: ClaimMonitor(parse(text, "ltl")))
    row("twelve responses conjoined: the automaton", f"{spent:.3f} s")
    spent, _ = timed(lambda: monitor.run(values))
    row("10,000 rounds of 24 random atoms, lazily", rate(len(values), spent, "rounds"))


def _unheard(calls: int) -> None:
    def claims() -> None:
        for _ in range(calls):
            claim("G(kept)")

    def nothing() -> None:
        for _ in range(calls):
            pass

    spent, _ = timed(claims)
    empty, _ = timed(nothing)
    row("a claim that nobody hears", f"{(spent - empty) / calls * 1e9:.0f} ns")


if __name__ == "__main__":
    main()
