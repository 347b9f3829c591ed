"""Sums over processes, compared with a constant.

- `bounds`: what values a sum can take in a box of cuts, ignoring the order between processes
- `flow`: the cut of a slice where a sum is least, by maximum flow
- `relational`: relational predicates
"""
