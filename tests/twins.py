"""Doing without compiled kernels for a while, so that a test can compare the twins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from possibly.control import tree
from possibly.order.compiled import kernels

needs_kernels = pytest.mark.skipif(kernels() is None, reason="no C compiler was there at installation")
is_native = not tree.__file__.endswith(".py")
"""Whether the modules that are compiled as they are (`setup.py`) are so here."""
needs_plain = pytest.mark.skipif(is_native, reason="a native class has no subclass in Python")
"""For what `tests/control/test_native.py` runs in plain Python."""


@contextmanager
def plain() -> Iterator[None]:
    """Inside, everything that has a compiled twin runs in Python."""
    names = (
        "possibly.trace.index.kernels",
        "possibly.trace.jsonl.kernels",
        "possibly.order.bitmaps.kernels",
        "possibly.order.kernels.kernels",
        "possibly.order.edges.edge_kernel",
        "possibly.order.components.kernels",
        "possibly.detection.slices.together.kernels",
        "possibly.detection.observed.kernels",
        "possibly.detection.online.monitor.kernels",
        "possibly.order.growing.computation.kernels",
    )
    patches = [patch(name, lambda: None) for name in names]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()
