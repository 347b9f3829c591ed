"""`possibly run --confirm`: what the recorded run lets expect is tried on the live program.

Each property that some order violates, and each deadlock, is a prediction; the program is driven there under
control. Told is what really happened: a prediction that no schedule fulfils is said to be infeasible.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from possibly.records import replace
from possibly.views.cli.controlled.confirm import CONTROL, driven
from possibly.views.cli.controlled.explore import default_output
from possibly.views.cli.files import loaded
from possibly.views.cli.properties import options_of
from possibly.views.text.report import noticed_text

if TYPE_CHECKING:
    from possibly.logic.specification import Specification
    from possibly.session.checking.check import Options as Checking
    from possibly.session.exploring.confirm import Prediction


def statuses(
    arguments: argparse.Namespace, specification: Specification | None, trace: str, words: tuple[str, ...]
) -> list[int]:
    """The exit status of each prediction."""
    found: list[int] = []
    if specification is not None:
        found += _properties(arguments, specification, trace, words)
    if arguments.deadlocks:
        from possibly.views.cli.controlled.confirm_deadlocks import confirm_deadlocks

        found.append(confirm_deadlocks(_driving(arguments, default_output(words), trace), words))
    return found


def _properties(
    arguments: argparse.Namespace, specification: Specification, path: str, words: tuple[str, ...]
) -> Iterator[int]:
    from possibly.session.exploring.confirm import predicted

    checking = _checking(arguments)
    trace = loaded(path, None)
    for each in specification.properties:
        one = replace(specification, properties=(each,))
        prediction = predicted(trace, one, checking)
        if prediction.verdict.holds is not False:
            yield _undisturbed(prediction, arguments)
            continue
        stem, suffix = os.path.splitext(default_output(words))
        output = f"{stem}-{each.name}{suffix}" if len(specification.properties) > 1 else stem + suffix
        yield driven(prediction, one, checking, words, _driving(arguments, output, path))


def _checking(arguments: argparse.Namespace) -> Checking:
    """As asked for; in every order of unsynchronised accesses unless another one is asked for."""
    options = options_of(arguments, explain=False)
    return replace(options, order="predictive") if options.order == "causal" else options


def _driving(arguments: argparse.Namespace, output: str, trace: str) -> argparse.Namespace:
    """The arguments of `possibly confirm`."""
    return argparse.Namespace(**{**vars(arguments), **CONTROL, "output": output, "trace": trace})


def _undisturbed(prediction: Prediction, arguments: argparse.Namespace) -> int:
    verdict = prediction.verdict
    word = "holds" if verdict.holds else "unknown"
    if arguments.json:
        told = {"property": verdict.name, "confirmation": "not predicted", "verdict": word}
        noticed = {"noticed": list(verdict.noticed)} if verdict.noticed else {}
        print(json.dumps({**told, "reason": verdict.reason, **noticed}), flush=True)
    else:
        because = f": {verdict.reason}" if verdict.reason else ""
        print(f"{word.upper()}  {verdict.name}: no order of the run violates it" if verdict.holds
              else f"{word.upper()}  {verdict.name}{because}", flush=True)  # fmt: skip
        if verdict.noticed:
            print(f"  {noticed_text(verdict.noticed)}", flush=True)
    return 0 if verdict.holds else 3
