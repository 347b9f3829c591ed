"""What another order of the recorded run would have shown, although this one did not.

sections    which primitives are locks, who holds which when, and which release ends which acquire
closure     the least part of a run that a reordering must contain, if it is to contain some events
deadlocks   cycles of requests that a reordering reaches
orders      other orders of unsynchronised accesses
races       accesses that a reordering brings together, in windows of long runs
sliced      what is shown unnoticed when a run is divided into slices, in one pass
regular     linear formulas asked of such divisions
walks       linear formulas in all orders at once
path_walks  path expressions in all orders at once

- `facts`: what a search among other orders has to tell apart
- `graphs`: a walk over places that are not stored, and the way to each
- `patterns`: patterns of a deadlock
- `things`: semaphores and queues of a recorded run
- `ways`: the order in which those who wait come to wait, where tasks of an event loop take turns
- `wants`: what a process can wait for, who can give it, and whether it is there after a part of a run
"""
