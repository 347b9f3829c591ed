"""Runs of a live program under our own scheduler: executions, schedulers, the tree of what was explored."""

from __future__ import annotations

from possibly.compiled import natives_if_wanted

natives_if_wanted(__path__[0])
