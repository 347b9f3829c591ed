"""Answers by a constraint solver (OR-Tools' CP-SAT).

- `components`: events that a slice ties together, in an order in which they can be executed
- `engine`: EF and AG of any predicate, by a constraint solver
- `model`: cuts of a slice and predicates on them, as clauses and linear constraints
- `nearest`: the nearest cut that satisfies constraints
- `search`: clauses and linear constraints handed to OR-Tools' CP-SAT.
- `sums`: relational atoms as sums over events
- `tables`: atoms that are neither slices nor sums, as tables over the values that they read
"""
