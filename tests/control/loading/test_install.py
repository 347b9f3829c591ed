"""Models are put in place without a detour through what else looks for modules."""

from __future__ import annotations

import subprocess
import sys

ASKED = """
import sys
asked = []
class Finder:
    def find_spec(self, name, path=None, target=None):
        asked.append(name)
import asyncio, socket, subprocess
from possibly.control.loading.install import install_all
from possibly.probes.patching import Patches
sys.meta_path.insert(0, Finder())
install_all(Patches())
assert "possibly.control.world.network" in sys.modules
print([name for name in asked if name.startswith("possibly.")])
"""


def test_other_finders_are_not_asked_for_models() -> None:
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
