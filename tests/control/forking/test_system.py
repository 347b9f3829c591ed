"""What is asked of the system leaves nothing behind that seems to be the program's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import threading
n = 0
def work():
    global n
    n += 1
threads = [threading.Thread(target=work) for _ in range(2)]
for each in threads: each.start()
for each in threads: each.join()
"""
IMPORTED = """\
import sys
from possibly.control.forking.zygote import script
from possibly.control.schedulers.course import Course
with script((sys.argv[1],)) as program:
    program.execute(Course(()))
    print(program.extra["modules"])
"""


def test_an_execution_imports_nothing_by_itself(tmp_path: Path) -> None:
    """Else every program would be prepared a second time, with the modules that it seems to need."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-c", IMPORTED, str(path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
