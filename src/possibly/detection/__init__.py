"""Answers: one engine a file, and `choose`, the table that picks.

`exhaustive` is the plain engine for ctl, `linear` for ltl, both over cuts visited one by one; `sweep` holds
the whole lattice in packed rows. Every other engine is tested against the plain ones.
"""
