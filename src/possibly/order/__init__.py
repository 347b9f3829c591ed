"""The order of a run: which event had to come before which, and so every state it could have been in.

`computation` yields happened-before, `lattice` the cuts and how one follows from another, `state` what
variables and channels hold at a cut, `vocabulary` which names a formula about this run may use, `refined`
what times and atomic regions make of the run.
"""
