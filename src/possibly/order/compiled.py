"""The compiled kernels of slices, `_kernels.c`, and of edges, `_edges.c`, built when a compiler is there."""

from __future__ import annotations

from types import ModuleType

from possibly.compiled import built


def kernels() -> ModuleType | None:
    """The compiled twin of `kernels` and of the packing in `bitmaps`, if it was built."""
    return built("possibly.order._kernels")


def edge_kernel() -> ModuleType | None:
    """The compiled twin of `edges`, if it was built."""
    return built("possibly.order._edges")
