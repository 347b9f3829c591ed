"""Interpreters that are ready before an execution begins.

- `template`: the interpreter that is forked for each execution
- `rank`: what `mpiexec` starts for a rank that is forked
"""
