"""Answers from the lattice itself: every cut that matters is visited.

- `compiled`: sets of cuts as rows of bits, in C: the compiled twin of `rowsets.PlainRows`
- `exhaustive`: the plain engine
- `laws`: the operators over paths as one law each, for every engine that visits cuts
- `linear`: the plain engine for ltl
- `rowsets`: sets of cuts as rows of bits, in plain Python
- `sweep`: the explicit engine
- `turns`: answers on runs that tell of turns of tasks, which event loops do not interrupt
- `whole`: the cuts that whole turns lead to
"""
