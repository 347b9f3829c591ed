"""What the answer of a search means for its test. Only a search that decided something lets it pass."""

from __future__ import annotations

import shlex
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from possibly import hashing
from possibly.views.testing import inside
from possibly.views.text.answers import reason_text

if TYPE_CHECKING:
    from possibly.session.exploring.exploration import Exploration
    from possibly.session.why.failure import Failure


class OpenVerdict(UserWarning):
    """Not every schedule of a test is covered, and nothing was found."""


def excuse(failure: Failure) -> None:
    """Ends the test if what looks like a failure says that it was skipped, or expected to fail."""
    kind, text = str(failure.details.get("type", "")), failure.message.partition(": ")[2]
    if kind == inside.SKIPPED:
        pytest.skip(text)
    if kind == inside.EXPECTED:
        pytest.xfail(text)


def judge_open(found: Exploration, open_is_failure: bool) -> None:
    """The test of a search that found nothing passes if everything is covered."""
    if found.holds is not None:
        return
    told = [reason_text(what, reason) for what, reason in found.open.items()]
    reasons = "; ".join(told) or "the search did not come to its end"
    done = f"{found.executions:,} execution{'' if found.executions == 1 else 's'}"
    text = f"undecided: nothing found in {done}, but not every schedule is covered: {reasons}"
    if open_is_failure:
        remedy = 'a larger limit decides it; explore(open="warn") or --possibly-open warn makes it a warning'
        pytest.fail(f"{text}\n{remedy}", pytrace=False)
    warnings.warn(text, OpenVerdict, stacklevel=2)


def again(item: Any, file: object) -> str:
    """The command that shows a failure again."""
    command = shlex.join(["pytest", item.nodeid, "--possibly-replay", str(file)])
    return command if hashing.known is None else f"{hashing.GIVEN}={hashing.known} {command}"
