"""Macro-steps as every view runs them.

- `answer`: the answer of macro-steps about a program
- `between`: what macro-steps do not control, decided step by step
- `checker`: a checker outside, asked about each path
- `diagram`: a path of the tree as a run, for a space-time diagram
- `paths`: claims and properties on all cuts of each path of macro-steps
- `sources`: what a tree of macro-steps was made from
- `tree`: macro-steps as every view runs them
"""
