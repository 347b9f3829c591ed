"""Loading by content, and the cache."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import pytest

from possibly.errors import TraceError
from possibly.trace import TraceBuilder, files, load, same_run, write_trace
from possibly.trace.columns.form import write_columns
from possibly.trace.model import Trace


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("POSSIBLY_CACHE", raising=False)
    monkeypatch.setattr(files, "CACHED_FROM", 1)
    return tmp_path / "cache" / "possibly"


def run(label: str = "here") -> Trace:
    builder = TraceBuilder()
    builder.header([("P", {"x": 0})])
    builder.add("P", label=label, set={"x": 1})
    return builder.finish()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "run.jsonl"
    write_trace(run(), found)
    return found


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.columns"])
def test_the_content_decides_not_the_name(tmp_path: Path, name: str) -> None:
    write = write_columns if name.endswith("columns") else write_trace
    write(run(), tmp_path / name)
    other = tmp_path / "other.txt"
    os.rename(tmp_path / name, other)
    assert same_run(load(other), run())


def test_an_open_file_is_read(path: Path) -> None:
    assert same_run(load(io.BytesIO(path.read_bytes())), run())


def test_the_second_time_comes_from_the_cache(cache: Path, path: Path) -> None:
    first, second = load(path), load(path)
    assert isinstance(second.process, memoryview)
    assert not isinstance(first.process, memoryview)
    assert same_run(first, second)
    assert second.file == str(path)
    assert len(list(cache.iterdir())) == 1


def test_a_changed_file_is_read_again(cache: Path, path: Path) -> None:
    load(path)
    write_trace(run("there"), path)
    assert load(path).event(0).label == "there"


def test_small_files_are_not_cached(cache: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CACHED_FROM", path.stat().st_size + 1)
    load(path)
    assert not cache.exists()
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    load(packed)
    assert len(list(cache.iterdir())) == 1


def test_the_cache_can_be_switched_off(cache: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(path, cache=False)
    monkeypatch.setenv("POSSIBLY_CACHE", "off")
    load(path)
    assert not cache.exists()


def test_a_damaged_cache_is_no_harm(cache: Path, path: Path) -> None:
    load(path)
    (entry,) = cache.iterdir()
    entry.write_bytes(entry.read_bytes()[:-9])
    assert same_run(load(path), run())
    assert isinstance(load(path).process, memoryview)


def test_a_cache_that_cannot_be_written_is_no_harm(cache: Path, path: Path) -> None:
    cache.parent.write_text("a file where the folder should be")
    assert same_run(load(path), run())


def test_the_folder_stays_bounded(cache: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(path)
    (old,) = cache.iterdir()
    os.utime(old, (1, 1))
    monkeypatch.setattr(files, "CACHE_LIMIT", old.stat().st_size + 10)
    write_trace(run("there"), path)
    load(path)
    (left,) = cache.iterdir()
    assert left != old


def test_a_file_that_is_not_there(cache: Path, tmp_path: Path) -> None:
    for name in (str(tmp_path / "no.jsonl"), str(tmp_path), "a\0b"):
        with pytest.raises(TraceError, match="cannot read the trace"):
            load(name)
