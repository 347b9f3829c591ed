"""The task logic.

- `bind`: names in a task logic formula, compared with what a run has
- `formulas`: the task logic as trees
- `modules`: for which task formulas the parts of a net can be judged apart
- `parser`: text of a task logic formula to its tree
"""
