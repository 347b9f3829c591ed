"""The languages of properties: the one table that says which there are, and what each speaks of."""

from __future__ import annotations

FORMULAS = ("ctl", "ltl")
"""Temporal formulas over the cuts of a run."""
PATHS = ("expect", "never", "watch")
"""Path expressions: the events of a run, as they may follow each other."""
ORDERED = (*FORMULAS, "tl")
"""What they say is decided by the orders of one run, so that one of these shows a violation."""
LANGUAGES = (*ORDERED, *PATHS)
