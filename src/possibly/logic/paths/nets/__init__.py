"""Petri nets of path expressions, and expressions of Petri nets.

`net`         expressions as nets
`from_nets`   one-safe nets as expressions
`from_runs`   nets with finitely many runs as expressions
`files`       nets in files
"""
