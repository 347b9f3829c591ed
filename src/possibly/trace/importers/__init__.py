"""Foreign formats that become traces, one a file. `importer(name)` imports only the one asked for.

- `clocks`: records with vector clocks
- `jaeger`: jaeger's JSON: traces as its user interface and its API give them
- `lines`: logs with an event a line
- `otf2`: archives of OTF2, as Score-P and other tools write them of runs under MPI (needs the package
  `otf2`)
- `otlp`: OTLP JSON: spans of OpenTelemetry, as its exporters and its collector write them to files
- `otlp_protobuf`: OTLP in protobuf
- `otlp_tracks`: spans become tracks of events
- `scalars`: what importers of text share
- `shiviz`: shiViz logs: text that a regular expression takes apart, with vector clocks that say the order
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from possibly.errors import UsageError

IMPORTERS = {
    "shiviz": ("possibly.trace.importers.shiviz", "import_shiviz"),
    "otlp": ("possibly.trace.importers.otlp", "import_otlp"),
    "jaeger": ("possibly.trace.importers.jaeger", "import_jaeger"),
    "lines": ("possibly.trace.importers.lines", "import_lines"),
    "otf2": ("possibly.trace.importers.otf2", "import_otf2"),
}
"""Name on the command line, module, function. Each yields a list of (name of the execution, Trace)."""


def importer(name: str) -> Callable[..., Any]:
    """The function that reads this format."""
    if name not in IMPORTERS:
        raise UsageError(f'no importer for "{name}"', hint=f"there are: {', '.join(sorted(IMPORTERS))}")
    module, function = IMPORTERS[name]
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
