"""The temporal debugger: a system is stepped through by formulas, and the steps are kept on a stack."""

from __future__ import annotations
