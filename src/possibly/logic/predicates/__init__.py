"""State predicates: their classes, and the functions they become.

- `classes`: the classes of state predicates, read off their syntax
- `closures`: bound predicates, node by node, as closures over positions in a sequence of values
- `functions`: state predicates as fast functions of the values they read
- `relation`: relational atoms
- `values`: what the operators and functions of values do
"""
