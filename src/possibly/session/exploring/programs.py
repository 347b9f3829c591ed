"""Programs to be explored, as views ask for them: a file or a module, or a function of this process.

Views know the names here and nothing of the processes that executions run in.
"""

from __future__ import annotations

from possibly.control.forking.function import function_program, name_values
from possibly.control.forking.zygote import ControlledProgram, script

__all__ = ["ControlledProgram", "function_program", "name_values", "script"]
