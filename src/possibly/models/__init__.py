"""Systems written as model files, in a subset of Python's syntax: flow graphs, states, successors.

A model file is read (`reader`), its functions become flow graphs (`build`, `flow`) over expressions
(`expressions`), and a `Model` yields packed states and their successors. Nothing of a model file is ever
executed as Python: its syntax tree is checked, and closures are made from it.
"""

from __future__ import annotations
