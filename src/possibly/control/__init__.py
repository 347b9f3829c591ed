"""Runs of a live program under our own scheduler: executions, schedulers, the tree of what was explored."""
