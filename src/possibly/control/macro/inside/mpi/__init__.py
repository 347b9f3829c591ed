"""`mpi4py` under a controller.

- `messages`: `mpi4py` under a controller
- `requests`: requests of `mpi4py` under a controller
- `rooted`: collectives with a root, by messages of their own
- `under_way`: sends that MPI has not done yet
"""
