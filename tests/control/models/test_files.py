"""Files by their paths: making one is seen by whoever looks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

SOURCE = """\
import os, tempfile, threading
folder = tempfile.mkdtemp()
path = os.path.join(folder, "made")
first = []
def make(number):
    if {looks}:
        open(path, "w").close()
        first.append(number)
threads = [threading.Thread(target=make, args=(each,)) for each in range(2)]
for each in threads: each.start()
for each in threads: each.join()
assert len(first) == 1
"""


@pytest.mark.parametrize("looks", ["not os.path.exists(path)", "not os.listdir(folder)"])
def test_who_looks_before_making_a_file_may_be_too_late(looks: str, tmp_path: Path) -> None:
    assert explored(tmp_path, SOURCE.format(looks=looks), Options(minimise=0)).holds is False
