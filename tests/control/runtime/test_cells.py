"""Variables of enclosing functions: each call has its own, and what threads share is seen to be shared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

APART = """
import threading
def work():
    kept = None
    def change():
        nonlocal kept
        kept = (kept or 0) + 1
        return kept
    change()
    assert change() == 2
for _ in range(3):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for each in threads: each.start()
    for each in threads: each.join()
"""
SHARED = """
import threading
def main():
    {before}
    def one():
        nonlocal kept
        {one}
    def two():
        nonlocal kept
        {two}
    threads = [threading.Thread(target=each) for each in (one, two)]
    for each in threads: each.start()
    for each in threads: each.join()
    assert {holds}, kept
    kept = 0
main()
"""


def test_calls_one_after_another_share_nothing(tmp_path: Path) -> None:
    found = explored(tmp_path, APART)
    assert found.complete and found.executions == 1


@pytest.mark.parametrize(
    ("before", "one", "two", "holds"),
    [
        pytest.param("kept = 0", "kept += 1", "kept += 1", "kept == 2", id="a count"),
        pytest.param("pass", "kept = 1", "kept = 2", "kept == 2", id="no value before"),
        pytest.param(
            "kept = 0", "del kept; kept = 1", "kept = 2", "kept == 1", id="a value that is taken away"
        ),
        pytest.param(
            "pass",
            "kept = 1",
            "try: kept\n        except NameError: kept = 2",
            "kept == 1",
            id="asked for before it has one",
        ),
    ],
)
def test_what_threads_share_is_seen(before: str, one: str, two: str, holds: str, tmp_path: Path) -> None:
    source = SHARED.format(before=before, one=one, two=two, holds=holds)
    failure = explored(tmp_path, source).failure
    assert failure is not None and failure.details["kind"] == "assertion"
