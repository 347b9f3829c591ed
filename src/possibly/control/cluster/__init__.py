"""Executions on other machines, by Dask distributed (`possibly[cluster]`).

The explorer stays where the user is. What a cluster runs is one execution: a schedule prefix with its sleep
set, which is a plan as a `Zygote` takes it too. So no class of schedules is executed twice, and the work of a
worker that dies is given to another one by Dask.

- `client`: the user's side of a cluster
- `helper`: what runs on a worker of a cluster
- `branch`: A branch of the execution tree that is explored by a worker of a cluster
"""
