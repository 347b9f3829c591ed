"""Orders that can go on for ever: a state of the run that comes again, and what never happens on the way.

- `states`: which cuts of a run have the same global state
- `infinite`: linear formulas on infinite words, as guesses that are checked position by position
- `search`: the lasso that breaks a formula, and which loops are fair
"""
