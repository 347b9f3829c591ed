"""Prints what the project needs, with what some of its extras need: `python tools/needed.py test`.

One installs that while possibly itself is being compiled.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

with (Path(__file__).parents[1] / "pyproject.toml").open("rb") as file:
    project = tomllib.load(file)["project"]
extras = [need for extra in sys.argv[1:] for need in project["optional-dependencies"][extra]]
print(*project["dependencies"], *extras, sep="\n")
