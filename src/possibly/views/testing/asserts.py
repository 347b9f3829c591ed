"""The rewriting of assertions, for code that is rewritten for control.

`assert a == b` in a test tells both values, since pytest rewrites the test's module when it is imported. For
an execution the code is made again from its source, so the assertions are rewritten again too, first.
"""

from __future__ import annotations

import ast
import sys

import pytest

from possibly.control.runtime.function import Rewrite

MARK = "@pytest_ar"
"""A name that a module has if pytest has rewritten it."""


def rewriter(config: pytest.Config) -> Rewrite:
    """Rewrites the assertions of a module's tree as pytest did."""

    def rewrite(tree: ast.Module, file: str, module: str) -> None:
        if MARK not in vars(sys.modules.get(module, object)):
            return
        from _pytest.assertion.rewrite import rewrite_asserts

        with open(file, "rb") as source:
            rewrite_asserts(tree, source.read(), file, config)

    return rewrite
