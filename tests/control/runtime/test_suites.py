"""The interpreter's own tests, executed under control beside another task, go as they go without.

Each is copied, so that it counts as the program's own: every instruction of it tells what it touches. One
that takes a second is tried here, the others in the soak.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from tests.control.runtime.running import Stay

PROGRAM = """
import importlib, io, threading, unittest, warnings
warnings.simplefilter("ignore")
stop = threading.Event()
other = threading.Thread(target=stop.wait)
other.start()
module = importlib.import_module("copied_{name}")
found = unittest.defaultTestLoader.loadTestsFromModule(module)
result = unittest.TextTestRunner(io.StringIO(), verbosity=0).run(found)
stop.set()
other.join()
bad = sorted(each.id() for each, _ in result.failures + result.errors)
print("ran", result.testsRun, [each for each in bad if "TestTracing" not in each])
"""
"""What a trace function sees differs: there are instructions of ours."""
STEPS = 10**7
QUICK = ["test_super"]
THOROUGH = """
test_unpack test_property test_scope test_patma test_funcattrs test_class test_iter test_with test_set
test_list
test_descr test_enum test_sort test_dictviews test_defaultdict test_userdict test_operator test_isinstance
test_types test_except_star test_augassign test_named_expressions test_listcomps test_decorators
test_keywordonlyarg test_compare test_slice test_raise test_index test_hash test_richcmp test_tuple
""".split()
NAMES = QUICK + (THOROUGH if int(os.environ.get("POSSIBLY_CASES", "1")) > 1 else [])


@pytest.mark.parametrize("name", NAMES)
def test_it_goes_as_without_control(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = find_spec(f"test.{name}") if find_spec("test") is not None else None
    if spec is None or spec.origin is None:
        pytest.skip("this interpreter came without its tests")
    copied = Path(spec.origin).read_text(encoding="utf-8")
    (tmp_path / f"copied_{name}.py").write_text(copied, encoding="utf-8")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(name=name))
    monkeypatch.chdir(tmp_path)
    plain = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    with script((str(path),), limit=STEPS) as program:
        execution = program.execute(Stay())
    assert _said(execution.output.decode()) == _said(plain)


def _said(output: str) -> str:
    return next((line for line in output.splitlines() if line.startswith("ran ")), output)
