"""Checkpoints: what was saved comes back, of the same monitor alone, and nothing else is made."""

from __future__ import annotations

import os
import pickle
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from possibly.errors import PossiblyError
from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options
from possibly.session.watching.streams.checkpoint import Checkpoint
from possibly.session.watching.watch import WatchedRun
from tests.detection.online.arrivals import lines_of
from tests.generate import random_formula, random_trace

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


def test_every_kind_of_property_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    """Two runs of the same lines, one of which is saved and loaded in the middle."""
    operators, seen = ["EF", "AF", "EG", "AG", "EX", "AX", "EU", "AU", "&", "|"], Counter[str]()
    for seed in range(60 * MANY):
        random = Random(seed)
        trace = random_trace(random, events=random.randint(2, 12))
        texts = [random_formula(random, trace, operators, random.randint(1, 2)).text for _ in range(3)]
        found = [property_from_text("ctl", text, f"p{number}") for number, text in enumerate(texts)]
        spec = Specification(properties=tuple(found))
        one, other = (WatchedRun(spec, Options(), keep=0) for _ in range(2))
        for run in (one, other):
            inits = [{"name": process.name, "init": dict(process.init)} for process in trace.processes]
            run.header({"processes": inits, "shared": dict(trace.shared)})
            run.begin()
        lines = lines_of(trace, random)
        random.shuffle(lines)
        middle = random.randrange(len(lines))
        for number, line in enumerate(lines):
            if number == middle:
                checkpoint = Checkpoint(str(tmp_path), seed)
                checkpoint.save(other.state())
                other = WatchedRun(spec, Options(), keep=0)
                other.restore(checkpoint.load())
            one.arrive(line)
            other.arrive(line)
            assert other.moments() == one.moments(), seed
        assert [each.truth for each in other.report(is_whole=True).verdicts] == [
            each.truth for each in one.report(is_whole=True).verdicts
        ]
        seen.update("final" if is_final else "not" for is_final, _ in one.moments().values())
    assert min(seen["final"], seen["not"]) > 20 * MANY, seen


def test_another_monitor_is_refused(tmp_path: Path) -> None:
    Checkpoint(str(tmp_path), "AG(x)").save(1)
    assert Checkpoint(str(tmp_path), "AG(x)").load() == 1
    with pytest.raises(PossiblyError, match="other properties"):
        Checkpoint(str(tmp_path), "AG(y)").load()
    assert Checkpoint(str(tmp_path / "new"), "AG(y)").load() is None


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("true",)


@pytest.mark.parametrize("data", [pickle.dumps(("", Evil())), b"", b"nonsense", pickle.dumps(3)])
def test_nothing_is_executed(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "checkpoint").write_bytes(data)
    with pytest.raises(PossiblyError, match="cannot be read"):
        Checkpoint(str(tmp_path)).load()


def test_only_its_user_may_read_it(tmp_path: Path) -> None:
    Checkpoint(str(tmp_path / "state")).save([1, 2])
    assert (tmp_path / "state" / "checkpoint").stat().st_mode & 0o777 == 0o600
    assert not list((tmp_path / "state").glob("*.new"))
