"""Native modules: what is compiled of controlled execution, against the Python that it is compiled from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.twins import is_native

ROOT = Path(__file__).parents[2]
SAME = ["tests/control/schedulers", "tests/control/test_tree.py", "tests/control/test_causality.py"]
PROGRAM = """
import threading
class Account: balance = 0
account, seen, lock, told = Account(), [], threading.Lock(), threading.Event()
def pays(much):
    with lock:
        account.balance += much
    seen.append(much)
    if len(seen) == 2: told.set()
def looks():
    told.wait()
    for each in seen: assert each
threads = [threading.Thread(target=pays, args=(much,)) for much in (1, 2)]
threads.append(threading.Thread(target=looks))
for each in threads: each.start()
for each in threads: each.join()
assert account.balance == 3
"""
TELL = """
import hashlib, sys
from possibly.control.runtime import kernel
from possibly.control.forking.zygote import script
from possibly.session.exploring.explore import explore
from possibly.session.exploring.exploration import Options
told = []
with script((sys.argv[1],)) as program:
    found = explore(program, Options(seen=lambda execution, wrong, _: told.append(repr((execution, wrong)))))
print(found.holds, len(told), hashlib.sha256("".join(told).encode()).hexdigest(), kernel.__file__)
"""

needs_native = pytest.mark.skipif(not is_native, reason="there are no native modules here")


def run(kernels: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, *words],
        env={**environment, "POSSIBLY_KERNELS": kernels, "PYTHONHASHSEED": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@needs_native
def test_every_execution_is_the_same_in_plain_python(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    native, plain = (run(kernels, "-c", TELL, str(path)).stdout.split() for kernels in ("on", "off"))
    assert native[:-1] == plain[:-1] and native[0] == "True" and int(native[1]) > 10
    assert plain[-1].endswith("kernel.py") and not native[-1].endswith(".py")


@needs_native
@pytest.mark.large
def test_the_search_keeps_its_laws_in_plain_python() -> None:
    done = run("off", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *SAME)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "skipped" not in done.stdout.splitlines()[-1]
