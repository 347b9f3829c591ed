"""The task logic on state action nets: a formula is negated, its tree built, and slices looked for that fail.

`check`     the way through the five steps, and which engine does the last one
`tree`      negation, transformation, formula tree
`local`     the truth of local state formulas, a table for each task
`cuts`      the cuts of the nodes over any algebra of sets of slices
`terms`     the algebra of unions of conjunctions, without the lattice; `ranked` what to ask it first
`fibers`    formulas about a few tasks at a time, without the lattice; `cells` the run projected to them
`parts`     what such a formula says of single tasks; `passing` pairs of tasks under which it cannot fail
`slices`    the algebra of one bit a slice; `window` which slices can matter
`between`   `until` and `before` where goals and bad slices are local; `minimal` where they are not
`turns`     the algebra of the slices that whole turns of event loops lead to
`failure`   what fails at a slice, as data
"""
