"""Policies, one a file, behind the port of `control.execution`."""
