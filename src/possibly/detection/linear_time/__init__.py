"""Linear formulas that other engines answer, since they say the same in branching time.

- `as_branching`: linear formulas that say the same in branching time
- `sliced`: the polynomial engine for ltl
- `via_branching`: linear formulas answered in branching time, by whichever engine knows the predicates
"""
