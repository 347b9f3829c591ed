"""A command that controls a program has a known order of sets, and a schedule brings back its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from possibly import hashing
from possibly.trace.schedule import read_schedule

LOST = """\
import os, threading
shown = os.environ.get("PYTHONHASHSEED"), os.environ.get("POSSIBLY_HASHSEED")
assert shown == ({shown!r}, None), shown
total, first = 0, next(iter({{"alice", "bob", "carol", "dave", "erin"}}))
def add():
    global total
    before = total
    total = before + 1
threads = [threading.Thread(target=add) for _ in range(2)]
for each in threads: each.start()
for each in threads: each.join()
assert total == 2 or first != "bob", "lost"
"""


def command(home: Path, seed: str | None, *words: str, door: tuple[str, ...] = ("-m", "possibly")) -> str:
    """What the command prints, with its status behind it."""
    environment = {key: value for key, value in os.environ.items() if key != hashing.GIVEN}
    environment |= {hashing.GIVEN: seed} if seed is not None else {}
    done = subprocess.run(
        [sys.executable, *door, *words],
        cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return f"{done.stdout}{done.stderr}status {done.returncode}"


def first_with(seed: int) -> str:
    show = "print(next(iter({'alice', 'bob', 'carol', 'dave', 'erin'})))"
    environment = {**os.environ, hashing.GIVEN: str(seed)}
    return subprocess.run(
        [sys.executable, "-c", show], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def seed_with(is_bob: bool) -> str:
    return next(str(seed) for seed in range(1, 100) if (first_with(seed) == "bob") == is_bob)


def test_a_schedule_is_replayed_with_its_order_of_sets(tmp_path: Path) -> None:
    failing = seed_with(True)
    (tmp_path / "lost.py").write_text(LOST.format(shown=failing))
    assert command(tmp_path, failing, "explore", "lost.py").endswith("status 1")
    assert read_schedule(str(tmp_path / "lost.schedule")).header["hash_seed"] == int(failing)
    (tmp_path / "lost.py").write_text(LOST.format(shown=None).replace("assert shown ==", "shown =="))
    for seed in (None, "random", seed_with(False)):
        said = command(tmp_path, seed, "replay", "lost.schedule")
        assert "followed, event for event" in said and said.endswith("status 1"), said
    passing = seed_with(False)
    said = command(tmp_path, passing, "explore", "lost.py")
    assert f"gone through in the order that PYTHONHASHSEED={passing} gives" in said
    assert said.endswith("status 0")


def test_without_a_seed_the_answer_is_the_same_each_time(tmp_path: Path) -> None:
    (tmp_path / "order.py").write_text("assert list({'a', 'b', 'c', 'd', 'e'}) == []\n")
    said = {command(tmp_path, None, "explore", "order.py") for _ in range(3)}
    assert len(said) == 1


@pytest.mark.parametrize("seed", [None, "7", "random"])
def test_a_program_sees_the_environment_that_it_was_given(tmp_path: Path, seed: str | None) -> None:
    (tmp_path / "lost.py").write_text(LOST.format(shown=seed).replace('"bob"', '"nobody"'))
    said = command(tmp_path, seed, "explore", "lost.py")
    assert said.endswith("status 0"), said


def test_whoever_uses_the_command_as_a_function_is_not_started_again(tmp_path: Path) -> None:
    (tmp_path / "fine.py").write_text("pass\n")
    source = "print('once', flush=True); from possibly.views.cli.main import main; raise SystemExit(main())"
    said = command(tmp_path, None, "explore", "fine.py", door=("-c", source))
    assert said.count("once") == 1 and said.endswith("status 0"), said


def test_a_seed_that_is_none_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lost.py").write_text(LOST.format(shown=None).replace('first != "bob"', "False"))
    assert command(tmp_path, None, "explore", "lost.py").endswith("status 1")
    path = tmp_path / "lost.schedule"
    for wrong in ('"x"', "-1", "true", "1e99", str(hashing.LARGEST + 1), "null"):
        path.write_text(path.read_text().replace("hash_seed: 0", f"hash_seed: {wrong}"))
        assert command(tmp_path, None, "replay", "lost.schedule").endswith("status 1")
        path.write_text(path.read_text().replace(f"hash_seed: {wrong}", "hash_seed: 0"))
