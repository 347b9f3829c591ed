"""Quoting source lines at places that a trace names: never anything but a small Python file below."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.views.text import source
from possibly.views.text.source import Sources


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "deep").mkdir(parents=True)
    (folder / "bank.py").write_text("def pay():\n    balance = 1\n\n")
    (folder / "deep" / "er.py").write_text("deep = True\n")
    (folder / "secret.txt").write_text("password\n")
    (folder / "folder.py").mkdir()
    (folder / "bytes.py").write_bytes(b"\xff\xfe\n")
    (tmp_path / "outside.py").write_text("outside = True\n")
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    return folder


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("bank.py:1", "def pay():"),
        ("bank.py:2", "balance = 1"),
        ("deep/er.py:1", "deep = True"),
        ("./bank.py:1", "def pay():"),
    ],
)
def test_lines_below_the_folder_are_quoted(project: Path, place: str, line: str) -> None:
    assert Sources((str(project),)).quote(place) == line


@pytest.mark.parametrize(
    "place",
    [
        None, "", "bank.py", "bank.py:", "bank.py:0", "bank.py:3", "bank.py:4", "bank.py:-1", "bank.py:²",
        "bank.py:99999999999", "missing.py:1", "secret.txt:1", "folder.py:1", "bytes.py:1", "link.py:1",
        "../outside.py:1", "a\0b.py:1", "x" * 5000 + ".py:1",
    ],
)  # fmt: skip
def test_everything_else_is_not(project: Path, place: str | None) -> None:
    assert Sources((str(project),)).quote(place) is None


def test_absolute_places_are_not_followed(project: Path) -> None:
    assert Sources((str(project),)).quote(f"{project}/bank.py:1") is None


def test_the_first_folder_that_has_the_file_counts(project: Path) -> None:
    (project / "deep" / "bank.py").write_text("other = 1\n")
    assert Sources((str(project / "deep"), str(project))).quote("bank.py:1") == "other = 1"
    assert Sources((str(project / "deep"), str(project))).quote("bank.py:2") is None
    assert Sources((str(project / "missing"), str(project))).quote("bank.py:2") == "balance = 1"


def test_large_files_are_left_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LARGEST_FILE", 10)
    assert Sources((str(project),)).quote("bank.py:1") is None
