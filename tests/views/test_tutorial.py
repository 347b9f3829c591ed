"""The tutorial, followed literally: its programs are those of the examples, and its test is green and red."""

from __future__ import annotations

import re
from pathlib import Path

from tests.views.testing.project import ran

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
BUGGY = ROOT / "examples/bugs/lost-update/buggy.py"
FIXED = ROOT / "examples/bugs/lost-update/fixed.py"


def test_the_programs_are_those_of_the_examples() -> None:
    program, correction, _ = PYTHON
    assert program in BUGGY.read_text(encoding="utf-8")
    assert correction in FIXED.read_text(encoding="utf-8")


def test_the_test_is_green_and_without_the_lock_red(tmp_path: Path) -> None:
    *_, test = PYTHON
    (tmp_path / "test_green.py").write_text(test, encoding="utf-8")
    (tmp_path / "test_red.py").write_text(test.replace("with self.guard:", "if True:"), encoding="utf-8")
    assert ran(tmp_path, "test_green.py").outcome("test_two_tellers") == "passed"
    red = ran(tmp_path, "test_red.py")
    assert red.outcome("test_two_tellers") == "failure"
    assert "again: pytest test_red.py::test_two_tellers --possibly-replay" in red.told("test_two_tellers")
