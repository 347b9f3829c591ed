"""The code of one module with all that it is to tell: sites, and marks for labels that stand alone."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from importlib.abc import InspectLoader
from types import CodeType

from possibly.probes.instructions.insert import Wanted
from possibly.probes.watching.insert import watched
from possibly.probes.watching.labels import Labels, Marking, labels_of
from possibly.probes.watching.telling import SiteMaker
from possibly.probes.watching.watch import Watch
from possibly.records import dataclass


@dataclass(frozen=True, slots=True)
class Places:
    """Who makes the sites of one file."""

    site: SiteMaker
    mark: Callable[[int, str], int]
    """(line, label) -> the site of a label that stands alone."""


def with_sites(
    code: CodeType,
    file: str,
    module: str,
    watch: Watch,
    places: Places,
    sharing: Callable[[], Wanted | None] = lambda: None,
) -> CodeType:
    """The code of a module, which may be the very same if there is nothing to tell."""
    source = "".join(linecache.getlines(file))
    found = _labels(source)
    tree = _parsed(source, file) if found else None
    labels = Labels(found, tree)
    made = watched(code, watch, module, places.site, labels, sharing())
    if tree is None:
        return made
    marking = Marking(labels, tree, places.mark)
    marking.generic_visit(tree)
    if not marking.has_marked:
        return made
    marked: CodeType = InspectLoader.source_to_code(ast.fix_missing_locations(tree), file)
    return watched(marked, watch, module, places.site, labels, sharing())


def _labels(source: str) -> dict[int, str]:
    try:
        return labels_of(source)
    except (SyntaxError, ValueError):  # a cell with commands of the notebook
        return {}


def _parsed(source: str, file: str) -> ast.Module | None:
    try:
        return ast.parse(source, file)
    except (SyntaxError, ValueError):
        return None
