"""Foreign formats that become traces, one a file. `importer(name)` imports only the one asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from possibly.errors import UsageError

IMPORTERS = {
    "shiviz": ("possibly.trace.importers.shiviz", "import_shiviz"),
    "otlp": ("possibly.trace.importers.otlp", "import_otlp"),
    "jaeger": ("possibly.trace.importers.jaeger", "import_jaeger"),
}
"""Name on the command line, module, function. Each yields a list of (name of the execution, Trace)."""


def importer(name: str) -> Callable[..., Any]:
    """The function that reads this format."""
    if name not in IMPORTERS:
        raise UsageError(f'no importer for "{name}"', hint=f"there are: {', '.join(sorted(IMPORTERS))}")
    module, function = IMPORTERS[name]
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
